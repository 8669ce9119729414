// The panel beside the player: the clusters of this batch, or all about the one chosen.

const MAX_LISTED = 10;
const MAX_LATEST = 10;
const MAX_TOLD = 4; // features of a center
const [MAX_CHANGES, MOST_COMPARED] = [5, 20000]; // clusters
const STATUS_TEXT = { seen: "active", unseen: "inactive", forgotten: "forgotten", unborn: "not yet born", unconfirmed: "unconfirmed" };

class Details {
  constructor(store, view, looks, text, player) {
    Object.assign(this, { store, view, looks, text, contents: new Contents(store, view, looks, player) });
    this.element = byId("details");
    this.rows = new ClusterRows(store, view, looks, text);
    this.isContents = false;
    this.redraw = view.nowAndThen(() => this.draw());
    view.onChange(this.redraw);
    store.onAppend(this.redraw);
    looks.onChange(this.redraw);
    this.draw();
  }

  draw() {
    if (this.editor?.isOpen) return;
    const hadFocus = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.element.replaceChildren(...this.parts());
    if (hadFocus) this.element.querySelector(`[data-key="${hadFocus}"]`)?.focus();
  }

  parts() {
    const { selected, region } = this.view;
    if (region) return this.regionParts();
    if (selected !== null) return this.clusterParts(this.store.clusters.get(selected));
    return [this.tabs(), ...(this.isContents ? this.contents.parts() : this.batchParts())];
  }

  tabs() {
    const tab = (name, isContents) => make("button", { type: "button", class: "tab", "data-key": `tab-${name}`, "aria-pressed": String(this.isContents === isContents), onclick: () => this.turnTo(isContents) }, name);
    return make("div", { class: "tabs", role: "group", "aria-label": "Clusters to list" }, tab("This batch", false), tab("Contents", true));
  }

  turnTo(isContents) {
    this.isContents = isContents;
    this.redraw();
  }

  // The rows drawn that lie in the box, cluster by cluster.
  regionParts() {
    const { view, store } = this;
    const rows = rowsWithin(view);
    const counts = new Map();
    for (const { id } of rows) counts.set(id, (counts.get(id) ?? 0) + 1);
    const order = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const listed = order.slice(0, MAX_LISTED).map(([id, count]) => this.sizeRow(id, count, order[0][1]));
    const drawn = view.batch.slots.length < view.batch.nPoints ? " of those drawn" : "";
    return [
      make("div", { class: "panel-head" }, make("h2", { id: "region-name" }, "Selected rows"), this.closeButton({ region: null })),
      make("p", { class: "hint" }, `${plural(rows.length, "row")}${drawn} in this batch, of ${plural(counts.size, "cluster")}.`),
      make("ul", { class: "sizes" }, ...listed),
      ...(order.length > listed.length ? [make("p", { class: "hint" }, `and ${formatCount(order.length - listed.length)} smaller`)] : []),
      make("button", { type: "button", class: "plain", id: "save-rows", onclick: () => save(`rows-${view.batch.step}.csv`, "text/csv", csvText(rowTable(store, view, this.text, rows))) }, "Download these rows (CSV)"),
    ];
  }

  closeButton(changes) {
    return make("button", { type: "button", class: "quiet", "data-key": "close", "aria-label": "Back to all clusters (Escape)", onclick: () => this.view.set(changes) }, "✕");
  }

  batchParts() {
    const { batch } = this.view;
    const { rows: filtered } = this.view;
    const counts = filtered.isActive ? passingCounts(batch, filtered) : batch.counts;
    const order = largest(counts, MAX_LISTED, (slot) => this.view.isWanted(batch.ids[slot]) && counts[slot] > 0);
    const most = order.length ? counts[order[0]] : 1;
    const rows = order.map((slot) => this.sizeRow(batch.ids[slot], counts[slot], most));
    const left = this.view.onlyFamily === null && !filtered.isActive ? batch.nSeen - rows.length : 0;
    const families = new Set(Array.from(batch.ids, this.view.family));
    const grouped = this.view.tree && families.size < batch.ids.length ? [make("p", { class: "hint" }, `${plural(batch.nSeen, "cluster")} of ${formatCount(families.size)} ${families.size === 1 ? "family" : "families"}`)] : [];
    return [
      make("h2", {}, "In this batch"),
      ...grouped,
      make("p", { class: "hint" }, rows.length ? "Select a cluster to show its details." : "No cluster has points in this batch."),
      make("ul", { class: "sizes" }, ...rows),
      ...(left > 0 ? [make("p", { class: "hint" }, `and ${formatCount(left)} smaller`)] : []),
      ...this.changes(),
      ...this.latest(),
    ];
  }

  // Which clusters are most larger or smaller than in the batch before.
  changes() {
    const { view, store, looks } = this;
    const before = store.batches[view.index - 1];
    const { batch } = view;
    if (!before || view.isPlaying || view.rows.isActive || batch.ids.length > MOST_COMPARED) return [];
    const ids = [...new Set([...batch.ids, ...before.ids])].filter((id) => view.isConfirmed(id) && view.isWanted(id));
    const count = (one, id) => { const slot = slotOf(one, id); return slot < 0 ? 0 : one.counts[slot]; };
    const all = ids.map((id) => ({ id, from: count(before, id), to: count(batch, id) }));
    const order = largest(all.map(({ from, to }) => Math.abs(to - from)), MAX_CHANGES, (row) => Math.round(all[row].from) !== Math.round(all[row].to));
    const rows = order.map((row) => {
      const { id, from, to } = all[row];
      const sign = to > from ? "+" : "−";
      return make("li", {}, make("button", { type: "button", class: "size entry", "data-key": `change-${id}`, onclick: () => view.set({ selected: id }) },
        make("span", { class: "row-name" }, looks.badge(id, 14), store.label(id)),
        make("span", { class: "value" }, `${formatCount(from)} → ${formatCount(to)} (${sign}${formatCount(Math.abs(to - from))})`, unseen(" points"))));
    });
    return rows.length ? [make("h3", {}, "Changed most since the batch before"), make("ul", { class: "sizes changes", id: "changes" }, ...rows)] : [];
  }

  sizeRow(id, count, most) {
    if (id < 0) return make("li", { class: "hint nobody" }, `${formatCount(count)} without a cluster`);
    const bar = make("span", { class: "bar" });
    bar.style.width = `${(100 * count) / most}%`;
    bar.style.background = this.looks.color(id);
    const family = this.view.tree ? this.view.family(id) : id;
    const own = this.store.label(id);
    const [whole, label] = [this.store.fullName(id), family === id ? own : `${own} · family ${family}`];
    const button = make(
      "button",
      { type: "button", class: "size", "data-key": `size-${id}`, onclick: () => this.view.set({ selected: id, region: null }) },
      make("span", { class: "row-name" }, this.looks.badge(id), unseen(whole.endsWith(label) ? whole.slice(0, -label.length) : `${whole}: `), label),
      make("span", { class: "track" }, bar),
      make("span", { class: "value" }, formatCount(count), unseen(Math.round(count) === 1 ? " point" : " points")),
    );
    return make("li", {}, button);
  }

  // The last events up to this batch, the newest first.
  latest() {
    const { batches } = this.store;
    const rows = [];
    for (let at = this.view.index; at >= 0 && rows.length < MAX_LATEST; at -= 1) {
      for (const event of weightiest(batches[at])) {
        if (rows.length < MAX_LATEST && this.view.isConfirmed(event.id)) rows.push(this.eventRow(event, true));
      }
    }
    return rows.length ? [make("h3", {}, "Latest events"), make("ul", { class: "event-rows" }, ...rows)] : [];
  }

  eventRow(event, isNamed) {
    const goThere = () => {
      this.view.set({ isPlaying: false, selected: event.id });
      this.view.goTo(event.batch.index);
    };
    const key = `event-${event.batch.index}-${event.kind}-${event.id}`;
    const name = isNamed ? [make("span", { class: "row-name" }, this.looks.badge(event.id, 14), this.store.label(event.id))] : [];
    const words = [make("time", {}, this.text.short(event.batch)), ...name];
    return make("li", {}, make("button", { type: "button", class: "event", "data-key": key, onclick: goThere },
      ...words, make("span", { class: `kind ${event.kind}` }, event.kind), make("span", { class: "hint" }, eventDetail(event, this.text, this.store))));
  }

  clusterParts(cluster) {
    const status = this.view.isConfirmed(cluster.id) ? cluster.status(this.view.index) : "unconfirmed";
    return [
      make("div", { class: "panel-head" },
        this.looks.badge(cluster.id, 26),
        make("h2", { id: "details-name" }, this.store.fullName(cluster.id)),
        make("span", { class: `status ${status}` }, STATUS_TEXT[status]),
        this.closeButton({ selected: null })),
      ...(this.editor?.parts(cluster) ?? []),
      ...this.described(cluster),
      this.factList(cluster),
      this.sizeChart(cluster),
      ...this.rows.parts(cluster),
      ...this.rowsOf(cluster),
      make("h3", {}, "Timeline"),
      make("ul", { class: "event-rows is-long", tabindex: "-1" }, ...cluster.events.map((event) => this.eventRow(event, false))),
    ];
  }

  // Its rows of this batch that the page has, shown and downloaded.
  rowsOf({ id }) {
    const { store, view, text } = this;
    const { batch } = view;
    const rows = Array.from(batch.slots).flatMap((slot, row) => (batch.ids[slot] === id ? [{ id, row }] : []));
    if (!rows.length) return [];
    const [head, ...lines] = rowTable(store, view, text, rows);
    const shown = lines.slice(0, MAX_LISTED).map((line) => make("tr", {}, ...line.map((cell) => make("td", {}, typeof cell === "number" ? formatNumber(cell, 4) : String(cell ?? "")))));
    const table = make("table", {}, make("thead", {}, make("tr", {}, ...head.map((name) => make("th", {}, name)))), make("tbody", {}, ...shown));
    const drawn = batch.slots.length < batch.nPoints ? " kept for pictures" : "";
    return [make("details", { class: "rows" },
      make("summary", {}, `Show these rows (${plural(rows.length, "row")}${drawn})`),
      make("div", { class: "rows-table", tabindex: "0", role: "region", "aria-label": "Rows of this batch" }, table),
      make("button", { type: "button", class: "plain", id: "save-cluster-rows", onclick: () => save(`rows-${id}-${batch.step}.csv`, "text/csv", csvText(rowTable(store, view, text, rows))) }, "Download these rows (CSV)"))];
  }

  described({ id }) {
    const texts = this.store.description(id);
    return texts.length ? [make("ul", { class: "described" }, ...texts.map((text) => make("li", {}, text)))] : [];
  }

  factList(cluster) {
    const { batches } = this.store;
    const when = (index) => this.text.batch(batches[index]);
    const n = cluster.batches.length;
    const most = cluster.counts.reduce((best, count, row) => (count > cluster.counts[best] ? row : best), 0);
    const end = cluster.endBy(Infinity);
    const facts = [
      ["In this batch", this.here(cluster)],
      ["First seen", when(cluster.batches[0])],
      ["Last seen", when(cluster.batches[n - 1])],
      ...(end ? [["Forgotten", when(end.batch.index)]] : []),
      ...this.centerOf(cluster),
      ...this.courseOf(cluster),
      ...this.familyOf(cluster),
      ...this.editsOf(cluster),
      ["Active in", `${formatCount(n)} of ${plural(batches.length, "batch")}`],
      ["Points in all", formatCount(cluster.total)],
      ["Largest", `${formatCount(cluster.counts[most])} at ${this.text.short(batches[cluster.batches[most]])}`],
      ["Returns", formatCount(cluster.events.filter((event) => event.kind === "returned").length)],
    ];
    return make("dl", { class: "facts" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  // Where it is or was last, in the columns of the data.
  centerOf(cluster) {
    const { store } = this;
    const n = cluster.seenUntil(this.view.index);
    const features = store.header.axes.flatMap(({ kind, name }, axis) => (kind === "feature" ? [[axis, name]] : []));
    if (!n || !features.length) return [];
    const { centers } = store.batches[cluster.batches[n - 1]];
    const told = features.slice(0, MAX_TOLD).map(([axis, name]) => `${name} ${featureText(store, axis, centers[axis][cluster.slots[n - 1]])}`);
    return [["Center", `${told.join(", ")}${features.length > MAX_TOLD ? ", …" : ""}`]];
  }

  courseOf(cluster) {
    const n = cluster.seenUntil(this.view.index);
    const text = n && speedText(this.store, this.store.batches[cluster.batches[n - 1]], cluster.slots[n - 1]);
    return text ? [["Speed", text]] : [];
  }

  familyOf({ id }) {
    const { view, store } = this;
    if (!view.tree) return [];
    const family = view.family(id);
    const n = [...store.clusters.keys()].filter((other) => view.family(other) === family).length;
    return [["Family", n > 1 ? `${family}, ${plural(n, "cluster")}` : "none"]];
  }

  // What people made of it.
  editsOf({ id }) {
    const { store } = this;
    const others = [...store.merged.keys()].filter((other) => store.shownAs(other) === id);
    return [
      ...(store.shownAs(id) === id ? [] : [["Shown as", store.label(store.shownAs(id))]]),
      ...(others.length ? [["Merged clusters", `${others.slice(0, MAX_LISTED).join(", ")}${others.length > MAX_LISTED ? ", …" : ""}`]] : []),
      ...(store.linkOf(id) ? [["Suggested match", `cluster ${store.linkOf(id)[0]} (gap of ${formatNumber(store.linkOf(id)[2], 3)} steps)`]] : []),
      ...(store.isPinned(id) ? [["Pinned", "always confirmed"]] : []),
    ];
  }

  here(cluster) {
    const { batch, index } = this.view;
    const n = cluster.seenUntil(index);
    if (n === 0) return "not yet born";
    const at = cluster.batches[n - 1];
    if (at !== index) return `last seen ${plural(index - at, "batch")} ago`;
    const count = cluster.counts[n - 1];
    return `${plural(count, "point")}, ${formatNumber((100 * count) / Math.max(batch.nPoints, 1), 2)} %`;
  }

  // Its size in every batch, and where the playhead is.
  sizeChart(cluster) {
    const [width, height] = [400, 64];
    const scale = new TimeScale(this.store).resize(0, width);
    const most = cluster.counts.reduce((a, b) => Math.max(a, b), 1);
    const y = (count) => height - 2 - (count / most) * (height - 8);
    const parts = this.store.stretches(cluster).map(([from, to]) => {
      const left = scale.begin(cluster.batches[from]);
      const steps = [];
      for (let row = from; row < to; row += 1) {
        steps.push(`V${y(cluster.counts[row]).toFixed(1)}H${scale.end(cluster.batches[row]).toFixed(1)}`);
      }
      return makeSvg("path", { d: `M${left.toFixed(1)} ${height - 2}${steps.join("")}V${height - 2}z`, fill: this.looks.color(cluster.id) });
    });
    const x = scale.x(this.view.batch.time);
    parts.push(makeSvg("line", { x1: 0, x2: width, y1: height - 1, y2: height - 1, class: "grid" }));
    parts.push(makeSvg("line", { x1: x, x2: x, y1: 0, y2: height, class: "now" }));
    return make("figure", { class: "spark" }, make("figcaption", {}, "Points over time"),
      makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `Size of cluster ${cluster.id} over time, at most ${plural(most, "point")}` }, ...parts));
  }
}

// The events of a batch, those that matter first; sorted once, until there are more.
function weightiest(batch) {
  if (batch.weighed?.length !== batch.events.length) batch.weighed = [...batch.events].reverse().sort((a, b) => EVENT_WEIGHTS[b.kind] - EVENT_WEIGHTS[a.kind]);
  return batch.weighed;
}

// The rows with the most, the largest first, without sorting all.
function largest(values, n, isWanted) {
  const best = [];
  for (let row = 0; row < values.length; row += 1) {
    if ((best.length === n && values[row] <= values[best[n - 1]]) || !isWanted(row)) continue;
    let at = best.length;
    while (at > 0 && values[best[at - 1]] < values[row]) at -= 1;
    best.splice(at, 0, row);
    if (best.length > n) best.pop();
  }
  return best;
}

// How many rows of each cluster of the batch pass the filters.
function passingCounts(batch, rows) {
  const counts = new Uint32Array(batch.ids.length);
  batch.slots.forEach((slot, row) => {
    if (slot !== NO_CLUSTER && rows.passes(batch, row)) counts[slot] += 1;
  });
  return counts;
}

// Rows of the batch within the region, and whose they are.
function rowsWithin({ batch, region, x, y }) {
  const value = (axis, row) => (axis === TIME_AXIS ? batch.time : batch.points[axis][row]);
  const isIn = ([low, high], at) => low <= at && at <= high;
  const found = [];
  batch.slots.forEach((slot, row) => {
    if (isIn(region.x, value(x, row)) && isIn(region.y, value(y, row))) found.push({ row, id: slot === NO_CLUSTER ? -1 : batch.ids[slot] });
  });
  return found;
}

function eventDetail(event, text, store) {
  if (event.kind === "returned") return `after ${text.steps(event.gap)}`;
  if (event.kind === "split") return `from ${store.label(event.other)}`;
  if (event.kind === "merged") return `into ${store.label(event.other)}`;
  return "";
}
