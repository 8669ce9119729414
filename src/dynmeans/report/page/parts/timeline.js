// The timeline: one row for each cluster, from its birth through gaps and returns to its end.

const LANE = 26; // height of a row
const AXIS = 26; // height of the time axis
const [THINNEST, THICKEST] = [3, 20];
const ORDERS = {
  family: (a, b, family) => family(a.id) - family(b.id) || a.batches[0] - b.batches[0] || a.id - b.id,
  birth: (a, b) => a.batches[0] - b.batches[0] || a.id - b.id,
  size: (a, b) => b.total - a.total || a.id - b.id,
  last: (a, b) => b.batches.at(-1) - a.batches.at(-1) || b.total - a.total || a.id - b.id,
  life: (a, b) => span(b) - span(a) || a.id - b.id,
};

const span = (cluster) => cluster.batches[cluster.batches.length - 1] - cluster.batches[0];

class Timeline {
  constructor(store, view, looks, scale) {
    Object.assign(this, { store, view, looks, scale });
    this.element = byId("lives");
    this.order = byId("lives-order");
    this.isHere = byId("lives-here");
    this.list = new VirtualList(this.element, LANE, {
      count: () => this.clusters.length,
      key: (row) => this.clusters[row].id,
      make: (row) => this.makeRow(this.clusters[row]),
      chosen: () => this.clusters.findIndex((cluster) => cluster.id === view.selected),
      onChoose: (row) => view.select(this.clusters[row].id),
    });
    this.redraw = oncePerFrame(() => this.draw());
    this.arrangeSoon = atRest(() => this.arrange());
    for (const control of [this.order, this.isHere]) control.addEventListener("change", () => this.arrange());
    view.onChange((changed) => this.onChange(changed));
    looks.onChange(() => this.arrange());
    store.onAppend(() => this.arrange());
    watchSize(this.element, () => this.resize());
    watchDrag(byId("lives-axis"), (event) => this.seek(event));
    this.arrange();
  }

  // Where lanes begin and end; the charts below use the same.
  resize() {
    const gutter = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--gutter"));
    const width = Math.max(60, this.element.clientWidth - gutter - 8);
    if (width === this.scale.right && this.scale.times.length === this.store.batches.length) return;
    this.scale.resize(0, width);
    this.view.notify(new Set(["scale"]));
  }

  arrange() {
    const seen = this.isHere.checked ? new Set(this.view.batch.ids) : null;
    const { view } = this;
    const isAll = !seen && view.listsAll;
    this.clusters = isAll ? this.ordered() : this.ordered().filter(({ id }) => (!seen || seen.has(id)) && view.isListed(id));
    this.element.classList.toggle("is-empty", this.clusters.length === 0);
    this.element.style.setProperty("--rows-height", `${this.clusters.length * LANE}px`);
    this.redraw();
    this.resize();
  }

  // Sorted once for an order; a hundred thousand take a while.
  ordered() {
    const key = `${this.order.value} ${this.looks.version}`;
    if (this.sortedBy !== key) {
      this.sortedBy = key;
      const compare = ORDERS[this.order.value];
      this.sorted = [...this.store.clusters.values()].filter(({ batches }) => batches.length).sort((a, b) => compare(a, b, this.view.family));
    }
    return this.sorted;
  }

  onChange(changed) {
    if (changed.has("index") && this.isHere.checked) this.arrange();
    if ((changed.has("selected") && !this.view.listsAll) || changed.has("search")) this.arrange();
    if (changed.has("filter")) this.arrangeSoon();
    if (changed.has("selected")) this.showChosen();
    if (changed.has("selected") || changed.has("scale")) this.redraw();
    if (changed.has("index") || changed.has("scale")) this.movePlayhead();
  }

  showChosen() {
    const row = this.list.rows.chosen();
    if (row >= 0) this.list.scrollTo(row);
  }

  draw() {
    this.list.draw();
    sizeDrawing(byId("lives-axis"), this.scale.right, AXIS);
    drawTimeTicks(this.scale, byId("lives-ticks"), 6, 0);
  }

  movePlayhead() {
    const x = this.scale.x(this.view.batch.time);
    this.element.parentElement.style.setProperty("--playhead", `${x}px`);
  }

  seek(event) {
    const left = byId("lives-axis").getBoundingClientRect().left;
    this.view.set({ isPlaying: false });
    this.view.goTo(this.scale.indexAt(event.clientX - left));
  }

  makeRow(cluster) {
    const name = make("span", { class: "row-name", title: this.store.label(cluster.id) }, this.looks.badge(cluster.id), make("span", {}, this.store.label(cluster.id)));
    const row = make("div", { class: "life", "aria-label": this.describe(cluster) }, name, this.makeLane(cluster));
    row.classList.toggle("is-chosen", cluster.id === this.view.selected);
    return row;
  }

  describe(cluster) {
    const [first, last] = [cluster.batches[0], cluster.batches[cluster.batches.length - 1]];
    const when = (index) => this.scale.text.batch(this.store.batches[index]);
    return (
      `${this.store.fullName(cluster.id)}: ${plural(cluster.total, "point")} in ${plural(cluster.batches.length, "batch")}, ` +
      `first seen ${when(first)}, last seen ${when(last)}`
    );
  }

  makeLane(cluster) {
    const color = this.looks.color(cluster.id);
    const y = LANE / 2;
    const lane = makeSvg("svg", { class: "lane", "aria-hidden": "true" });
    sizeDrawing(lane, this.scale.right, LANE);
    const runs = this.store.stretches(cluster);
    const ends = [...runs.slice(1).map(([from]) => this.scale.begin(cluster.batches[from])), this.endOf(cluster)];
    runs.forEach(([from, to], row) => {
      lane.append(makeSvg("path", { d: this.outline(cluster, from, to, y), fill: color, class: "stretch" }));
      const start = this.scale.end(cluster.batches[to - 1]);
      if (ends[row] > start + 1) {
        lane.append(makeSvg("line", { x1: start, x2: ends[row], y1: y, y2: y, stroke: color, class: "unseen" }));
      }
    });
    for (const event of cluster.events) this.addMark(lane, event, color, y);
    return lane;
  }

  // Where its row ends: when it was forgotten, or with the last batch.
  endOf(cluster) {
    const end = cluster.endBy(Infinity);
    return end ? this.scale.x(end.batch.time) : this.scale.right;
  }

  // Along the upper side of a stretch and back along the lower one, one corner a pixel.
  outline(cluster, from, to, y) {
    const upper = [];
    let [left, most] = [this.scale.begin(cluster.batches[from]), 0];
    for (let row = from; row < to; row += 1) {
      most = Math.max(most, cluster.counts[row]);
      const right = this.scale.end(cluster.batches[row]);
      if (right - left < 1 && row < to - 1) continue;
      const half = (THINNEST + (THICKEST - THINNEST) * (most / this.store.largest)) / 2;
      upper.push([left, half], [Math.max(right, left + 1), half]);
      [left, most] = [right, 0];
    }
    const corner = (sign) => ([x, half]) => `${x.toFixed(1)} ${(y + sign * half).toFixed(1)}`;
    return `M${[...upper.map(corner(-1)), ...upper.reverse().map(corner(1))].join("L")}z`;
  }

  addMark(lane, event, color, y) {
    const x = this.scale.x(event.batch.time);
    if (event.kind === "born" || event.kind === "returned") {
      const d = this.looks.outline(event.id, x, y, 4.6);
      lane.append(makeSvg("path", { d, fill: event.kind === "born" ? color : null, class: `mark ${event.kind}` }));
    } else if (event.kind === "forgotten") {
      lane.append(makeSvg("line", { x1: x, x2: x, y1: y - 6, y2: y + 6, class: "forgotten" }));
    }
  }
}
