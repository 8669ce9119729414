// All events, with the kinds to show chosen by buttons.

const EVENT_ROW = 38;

// How much an event of each kind matters, for a cluster of the same size.
const EVENT_WEIGHTS = { split: 8, merged: 8, returned: 2, born: 1, vanished: 0.02, forgotten: 0.02 };

// Splits, mergers and returns of large clusters first, then large births; of a cluster that returns
// often each return counts less.
function byWeight(events, store) {
  const returns = new Map();
  for (const { kind, id } of events) if (kind === "returned") returns.set(id, (returns.get(id) ?? 0) + 1);
  const weight = ({ kind, id }) => ((EVENT_WEIGHTS[kind] ?? 1) * store.clusters.get(id).total) / (kind === "returned" ? returns.get(id) : 1);
  const weighed = events.map((event) => [weight(event), event]);
  return weighed.sort((a, b) => b[0] - a[0] || a[1].batch.index - b[1].batch.index).map(([, event]) => event);
}

class EventList {
  constructor(store, view, looks, text) {
    Object.assign(this, { store, view, looks, text });
    this.element = byId("events");
    this.hidden = new Set();
    this.chosen = null;
    this.list = new VirtualList(this.element, EVENT_ROW, {
      count: () => this.events.length,
      key: (row) => row,
      make: (row) => this.makeRow(this.events[row]),
      chosen: () => (this.chosen === null ? -1 : this.events.indexOf(this.chosen)),
      onChoose: (row) => this.choose(this.events[row]),
    });
    this.order = byId("events-order");
    this.order.addEventListener("change", () => this.filter());
    this.filterSoon = atRest(() => this.filter());
    this.redraw = oncePerFrame(() => this.list.draw());
    store.onAppend(() => this.arrange());
    this.follow = view.nowAndThen(() => this.scrollToNow());
    view.onChange((changed) => {
      if (changed.has("search") || (changed.has("selected") && !view.listsAll)) this.filter();
      else if (changed.has("selected")) this.redraw();
      if (changed.has("filter")) this.filterSoon();
      if (changed.has("index") || changed.has("isPlaying")) this.follow();
    });
    looks.onChange(() => this.filter());
    this.arrange();
  }

  arrange() {
    const counts = new Map();
    for (const { kind } of this.store.events) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const buttons = this.store.header.event_kinds
      .filter((kind) => counts.has(kind))
      .map((kind) => this.kindButton(kind, counts.get(kind)));
    byId("event-kinds").replaceChildren(...buttons);
    this.filter();
  }

  kindButton(kind, count) {
    const toggle = () => {
      if (!this.hidden.delete(kind)) this.hidden.add(kind);
      button.setAttribute("aria-pressed", String(!this.hidden.has(kind)));
      this.filter();
    };
    const button = make("button", { type: "button", class: `chip ${kind}`, "aria-pressed": String(!this.hidden.has(kind)), onclick: toggle },
      kind, make("span", { class: "value" }, formatCount(count)));
    return button;
  }

  filter() {
    const { listsAll } = this.view;
    this.events = this.store.events.filter((event) => !this.hidden.has(event.kind) && (listsAll || this.view.isListed(event.id)));
    if (this.order.value === "weight") this.events = byWeight(this.events, this.store);
    this.element.style.setProperty("--rows-height", `${this.events.length * EVENT_ROW}px`);
    this.redraw();
  }

  // Keeps the events of the batch in sight, unless the reader is at work in the list.
  scrollToNow() {
    if (this.order.value === "weight") return this.redraw();
    const { index } = this.view;
    let [first, end] = [0, this.events.length];
    while (first < end) {
      const middle = (first + end) >> 1;
      if (this.events[middle].batch.index < index) first = middle + 1;
      else end = middle;
    }
    const isAtWork = this.element.matches(":hover, :focus");
    if (!isAtWork) this.element.scrollTop = Math.max(0, (first - 1) * EVENT_ROW);
    return this.list.draw();
  }

  choose(event) {
    this.chosen = event;
    this.view.set({ isPlaying: false, selected: event.id });
    this.view.goTo(event.batch.index);
    this.list.draw();
  }

  makeRow(event) {
    const row = make("div", { class: "event" },
      make("time", {}, this.text.short(event.batch)),
      make("span", { class: "row-name" }, this.looks.badge(event.id), this.store.label(event.id)),
      make("span", { class: `kind ${event.kind}` }, event.kind),
      make("span", { class: "hint" }, eventDetail(event, this.text, this.store)));
    row.classList.toggle("is-now", event.batch.index === this.view.index);
    row.classList.toggle("is-chosen", event === this.chosen);
    return row;
  }
}
