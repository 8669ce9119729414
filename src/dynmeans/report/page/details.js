// The panel beside the player: the clusters of this batch, or all about the one chosen.

const MAX_LISTED = 10;
const MAX_LATEST = 10;
const STATUS_TEXT = { seen: "in sight", unseen: "out of sight", forgotten: "forgotten", unborn: "not yet born", unconfirmed: "unconfirmed" };

class Details {
  constructor(store, view, looks, text) {
    Object.assign(this, { store, view, looks, text });
    this.element = byId("details");
    this.redraw = oncePerFrame(() => this.draw());
    view.onChange(this.redraw);
    store.onAppend(this.redraw);
    looks.onChange(this.redraw);
    this.draw();
  }

  draw() {
    const hadFocus = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const { selected } = this.view;
    this.element.replaceChildren(...(selected === null ? this.batchParts() : this.clusterParts(this.store.clusters.get(selected))));
    if (hadFocus) this.element.querySelector(`[data-key="${hadFocus}"]`)?.focus();
  }

  batchParts() {
    const { batch } = this.view;
    const order = [...batch.ids.keys()].sort((a, b) => batch.counts[b] - batch.counts[a] || a - b);
    const most = order.length ? batch.counts[order[0]] : 1;
    const rows = order.slice(0, MAX_LISTED).map((slot) => this.sizeRow(batch, slot, most));
    const left = batch.nSeen - rows.length;
    return [
      make("h2", {}, "In this batch"),
      make("p", { class: "hint" }, rows.length ? "Choose a cluster to follow it." : "No cluster has points in this batch."),
      make("ul", { class: "sizes" }, ...rows),
      ...(left > 0 ? [make("p", { class: "hint" }, `and ${formatCount(left)} smaller`)] : []),
      ...this.latest(),
    ];
  }

  sizeRow(batch, slot, most) {
    const [id, count] = [batch.ids[slot], batch.counts[slot]];
    const bar = make("span", { class: "bar" });
    bar.style.width = `${(100 * count) / most}%`;
    bar.style.background = this.looks.color(id);
    const button = make(
      "button",
      { type: "button", class: "size", "data-key": `size-${id}`, "aria-label": `${this.store.fullName(id)}, ${plural(count, "point")}`, onclick: () => this.view.select(id) },
      make("span", { class: "row-name" }, this.looks.badge(id), this.store.label(id)),
      make("span", { class: "track" }, bar),
      make("span", { class: "value" }, formatCount(count)),
    );
    return make("li", {}, button);
  }

  // The last events up to this batch, the newest first.
  latest() {
    const { batches } = this.store;
    const rows = [];
    for (let at = this.view.index; at >= 0 && rows.length < MAX_LATEST; at -= 1) {
      for (const event of [...batches[at].events].reverse()) {
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
      ...words, make("span", { class: `kind ${event.kind}` }, event.kind), make("span", { class: "hint" }, eventDetail(event, this.text))));
  }

  clusterParts(cluster) {
    const status = this.view.isConfirmed(cluster.id) ? cluster.status(this.view.index) : "unconfirmed";
    return [
      make("div", { class: "panel-head" },
        this.looks.badge(cluster.id, 26),
        make("h2", { id: "details-name" }, this.store.fullName(cluster.id)),
        make("span", { class: `status ${status}` }, STATUS_TEXT[status]),
        make("button", { type: "button", class: "quiet", "data-key": "close", "aria-label": "Back to all clusters (Escape)", onclick: () => this.view.select(null) }, "✕")),
      this.factList(cluster),
      this.sizeChart(cluster),
      make("h3", {}, "Its life"),
      make("ul", { class: "event-rows is-long", tabindex: "-1" }, ...cluster.events.map((event) => this.eventRow(event, false))),
    ];
  }

  factList(cluster) {
    const { batches } = this.store;
    const when = (index) => this.text.batch(batches[index]);
    const n = cluster.batches.length;
    const most = cluster.counts.reduce((best, count, row) => (count > cluster.counts[best] ? row : best), 0);
    const end = cluster.find("forgotten");
    const facts = [
      ["In this batch", this.here(cluster)],
      ["First seen", when(cluster.batches[0])],
      ["Last seen", when(cluster.batches[n - 1])],
      ...(end ? [["Forgotten", when(end.batch.index)]] : []),
      ...this.courseOf(cluster),
      ...this.familyOf(cluster),
      ["Seen in", `${formatCount(n)} of ${plural(batches.length, "batch")}`],
      ["Points in all", formatCount(cluster.total)],
      ["Largest", `${formatCount(cluster.counts[most])} at ${this.text.short(batches[cluster.batches[most]])}`],
      ["Returns", formatCount(cluster.events.filter((event) => event.kind === "returned").length)],
    ];
    return make("dl", { class: "facts" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
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
    return [["Family", n > 1 ? `${family}, ${plural(n, "cluster")}` : "on its own"]];
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

function eventDetail(event, text) {
  if (event.kind === "returned") return `after ${text.steps(event.gap)}`;
  if (event.kind === "split") return `from ${event.other}`;
  if (event.kind === "merged") return `into ${event.other}`;
  return "";
}
