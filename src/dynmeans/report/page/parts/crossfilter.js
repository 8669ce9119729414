// Histograms of columns: dragging over one filters the picture, the timeline and the lists.

const [HIST_WIDTH, HIST_HEIGHT] = [180, 52];
const N_HISTOGRAMS = 8; // shown at once

class Crossfilter {
  constructor(store, view, looks) {
    Object.assign(this, { store, view, looks, shown: [] });
    this.part = byId("filter-part");
    this.place = byId("histograms");
    this.ask = oncePerFrame(() => this.draw());
    this.askAgain = oncePerFrame(() => this.build());
    byId("filter-clear").addEventListener("click", () => this.clear());
    byId("color-by").addEventListener("change", (event) => view.set({ colorBy: event.target.value }));
    this.part.addEventListener("toggle", this.askAgain);
    view.onChange((changed) => {
      if (changed.has("rows") || changed.has("trial")) this.askAgain();
      else if (changed.has("filter")) this.ask();
      if (changed.has("colorBy")) byId("color-by").value = view.colorBy;
    });
    store.onAppend(this.askAgain);
    this.offerColors();
    this.askAgain();
  }

  offerColors() {
    const { rows } = this.view;
    const options = rows.filterable.map(({ name }) => make("option", { value: name }, name));
    byId("color-by").replaceChildren(make("option", { value: "" }, "cluster"), ...options);
    byId("color-by").value = this.view.colorBy;
    this.part.hidden = rows.filterable.length === 0 || this.store.nRows === 0;
  }

  build() {
    this.offerColors();
    if (!this.part.open || this.part.hidden) return;
    const columns = this.view.rows.filterable.slice(0, N_HISTOGRAMS);
    this.shown = columns.map((column) => (column.kind === "category" ? new ValueList(this.view.rows, column) : new Histogram(this.view.rows, column)));
    this.place.replaceChildren(...this.shown.map(({ element }) => element));
    this.draw();
  }

  draw() {
    const { rows } = this.view;
    for (const part of this.shown) part.draw();
    byId("filter-now").textContent = rows.countText(rows.isActive ? rows.nPassing : null);
    byId("filter-clear").hidden = !rows.isActive;
  }

  clear() {
    for (const part of this.shown) part.forget();
    byId("lives-find").value = "";
    this.view.set({ search: "" });
    this.view.rows.clear();
    byId("found").textContent = "";
  }
}

// Numbers and hours: bars of all rows, and of those that pass the other filters; dragging keeps a range.
class Histogram {
  constructor(rows, column) {
    Object.assign(this, { rows, column, range: null });
    this.bins = rows.binsOf(column);
    this.all = makeSvg("path", { class: "hist-all" });
    this.passing = makeSvg("path", { class: "hist-passing" });
    this.brush = makeSvg("rect", { class: "hist-brush", y: 0, height: HIST_HEIGHT, width: 0 });
    this.svg = makeSvg("svg", { viewBox: `0 0 ${HIST_WIDTH} ${HIST_HEIGHT}`, preserveAspectRatio: "none", class: "hist", "aria-hidden": "true" }, this.all, this.passing, this.brush);
    const field = (text, key) => {
      const input = make("input", { type: "number", step: "any", "aria-label": `${column.name} ${text}`, placeholder: this.edge(key) });
      input.addEventListener("change", () => this.type());
      return input;
    };
    [this.from, this.to] = [field("from", 0), field("to", 1)];
    this.element = make("figure", { class: "column" }, make("figcaption", {}, column.name), this.svg, make("div", { class: "hist-ends" }, this.from, this.to));
    watchDrag(this.svg, (event) => this.drag(event));
    this.recall(rows.dimensions.get(column.name));
    this.svg.addEventListener("dblclick", () => this.keep(null));
  }

  // The range kept before these bins were made.
  recall(dimension) {
    if (!dimension) return;
    const { low, high } = dimension;
    this.range = [this.bins.binAt(low), this.bins.binAt(high - (this.bins.isNumber ? 1e-9 * Math.abs(high) : 0))];
    if (Number.isFinite(low)) this.from.value = Number(low.toPrecision(4));
    if (Number.isFinite(high)) this.to.value = Number(high.toPrecision(4));
  }

  edge(key) {
    const { bins } = this;
    if (!bins.isNumber) return key ? bins.labels.at(-1) : bins.labels[0];
    return formatNumber(key ? bins.high : bins.low, 3);
  }

  drag(event) {
    const box = this.svg.getBoundingClientRect();
    const bin = clamp(Math.floor(((event.clientX - box.left) / box.width) * this.bins.n), 0, this.bins.n - 1);
    if (event.type === "pointerdown") this.start = bin;
    const [low, high] = [Math.min(this.start, bin), Math.max(this.start, bin)];
    const isSame = this.range && event.type === "pointerdown" && this.range[0] === low && this.range[1] === high;
    this.keep(isSame ? null : [low, high]);
  }

  keep(range) {
    if (range && this.range && range[0] === this.range[0] && range[1] === this.range[1]) return;
    this.range = range;
    const { bins } = this;
    const value = (bin) => (bins.isNumber ? Number((bins.low + (bin / bins.n) * (bins.high - bins.low)).toPrecision(4)) : bin);
    this.from.value = range ? value(range[0]) : "";
    this.to.value = range ? value(bins.isNumber ? range[1] + 1 : range[1]) : "";
    if (range) this.rows.filterBins(this.column, (bin) => bin >= range[0] && bin <= range[1]);
    else this.rows.filter(this.column.name, null);
  }

  // Numbers typed into the fields are kept exactly.
  type() {
    const [low, high] = [this.from.value === "" ? -Infinity : Number(this.from.value), this.to.value === "" ? Infinity : Number(this.to.value)];
    if (this.from.value === "" && this.to.value === "") {
      this.range = null;
      this.rows.filter(this.column.name, null);
      return;
    }
    this.range = [this.bins.binAt(low), this.bins.binAt(high)];
    this.rows.filterRange(this.column, low, high);
  }

  forget() {
    this.range = null;
    this.from.value = this.to.value = "";
  }

  draw() {
    const { bins } = this;
    const counts = this.rows.isActive ? this.rows.histogram(this.column) : bins.all;
    const most = Math.max(1, ...bins.all);
    this.all.setAttribute("d", barsOf(bins.all, most));
    this.passing.setAttribute("d", barsOf(counts, most));
    const [low, high] = this.range ?? [0, -1];
    fill(this.brush, { x: (low / bins.n) * HIST_WIDTH, width: ((high - low + 1) / bins.n) * HIST_WIDTH }, []);
  }
}

function barsOf(counts, most, width = HIST_WIDTH, height = HIST_HEIGHT) {
  const step = width / counts.length;
  return Array.from(counts, (count, bin) => {
    if (!count) return "";
    const high = Math.max(1, (Math.sqrt(count / most)) * (height - 2)); // roots: few rows are seen too
    return `M${(bin * step + 0.4).toFixed(1)} ${height}v${(-high).toFixed(1)}h${(step - 0.8).toFixed(1)}v${high.toFixed(1)}z`;
  }).join("");
}

// Values of a category: a button each, which keeps its rows.
class ValueList {
  constructor(rows, column) {
    Object.assign(this, { rows, column, kept: new Set() });
    this.bins = rows.binsOf(column);
    const { labels = new Set() } = rows.dimensions.get(column.name) ?? {};
    this.bins.labels.forEach((label, bin) => { if (labels.has(label)) this.kept.add(bin); });
    this.buttons = this.bins.labels.map((label, bin) => this.button(label, bin));
    this.element = make("figure", { class: "column" }, make("figcaption", {}, column.name), make("div", { class: "values", role: "group", "aria-label": column.name, tabindex: "0" }, ...this.buttons.map(({ element }) => element)));
  }

  button(label, bin) {
    const [bar, value] = [make("span", { class: "value-bar", "aria-hidden": "true" }), make("span", { class: "value" })];
    const element = make("button", { type: "button", class: "value-row", "aria-pressed": "false", onclick: () => this.toggle(bin) }, bar, make("span", { class: "value-name" }, label), value);
    return { element, bar, value };
  }

  toggle(bin) {
    if (!this.kept.delete(bin)) this.kept.add(bin);
    if (this.kept.size) this.rows.filterBins(this.column, (one) => this.kept.has(one));
    else this.rows.filter(this.column.name, null);
  }

  forget() {
    this.kept.clear();
  }

  draw() {
    const counts = this.rows.isActive ? this.rows.histogram(this.column) : this.bins.all;
    const most = Math.max(1, ...this.bins.all);
    this.buttons.forEach(({ element, bar, value }, bin) => {
      element.setAttribute("aria-pressed", String(this.kept.has(bin)));
      bar.style.width = `${(100 * counts[bin]) / most}%`;
      value.textContent = formatCount(counts[bin]);
    });
  }
}
