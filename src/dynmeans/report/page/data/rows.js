// The rows of the page: their columns, and which of them pass the filters.

class Rows {
  constructor(store, view) {
    Object.assign(this, { store, view, carried: [], distances: null, bins: new Map(), version: 0, filterVersion: 0 });
    this.dimensions = new Map(); // from a column, or "search", to which rows fail by it
    this.reset();
    store.onAppend(() => this.reset());
  }

  // The columns of the input lie compressed in the page; they are read once it is drawn.
  async load(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const { columns, values, distances } = await new Response(stream).json();
    this.distances = distances;
    this.carried = columns.map(({ name, kind }, k) => new CarriedColumn(name, kind, values[k]));
    this.reset();
    this.view.notify(new Set(["rows"]));
  }

  // Rows were added, or belong to other clusters than before.
  reset() {
    const { store } = this;
    this.version += 1;
    this.own = store.header.axes.flatMap(({ kind, name }, axis) => (kind === "feature" ? [new FeatureColumn(name, axis)] : []));
    const times = this.carried.find(({ kind }) => kind === "time");
    const clocks = store.header.is_dated ? this.clocks(times) : [];
    const taken = new Set(this.own.map(({ name }) => name));
    this.columns = [...this.carried.filter(({ name }) => !taken.has(name)), ...this.own, ...clocks];
    const n = store.nRows;
    if (this.bins.size && this.bins.values().next().value.of.length === n && this.nCarried === this.carried.length) return this.assign();
    this.nCarried = this.carried.length;
    this.bins.clear();
    this.fails = new Uint8Array(n);
    this.filterAgain();
    return this.assign();
  }

  // The same filters over the rows there are now.
  filterAgain() {
    for (const [name, dimension] of [...this.dimensions]) {
      const column = this.column(name);
      if (!column || !dimension.keeps) {
        this.dimensions.delete(name);
        continue;
      }
      dimension.mask = this.maskOf(column, dimension.keeps);
      for (let at = 0; at < dimension.mask.length; at += 1) this.fails[at] += dimension.mask[at];
    }
  }

  maskOf(column, keeps) {
    const mask = new Uint8Array(this.store.nRows);
    this.store.eachRow((batch, row, at) => {
      const value = column.value(batch, row);
      mask[at] = value !== null && keeps(value) ? 0 : 1;
    });
    return mask;
  }

  // The ID of the cluster of every row, -1 where it has none shown.
  assign() {
    const { store } = this;
    this.owner = new Int32Array(store.nRows).fill(-1);
    store.eachRow((batch, row, at) => {
      if (batch.slots[row] !== NO_CLUSTER) this.owner[at] = batch.ids[batch.slots[row]];
    });
    this.nIds = this.owner.reduce((most, id) => Math.max(most, id), -1) + 1;
    this.counts = null;
    this.sizes = null;
  }

  // Hours where windows or rows are finer than a day, weekdays where there is more than one.
  clocks(times) {
    const { batches, usualTime, last } = this.store;
    const span = batches[last].time - batches[0].time;
    const clock = (kind) => new ClockColumn(kind, times);
    const hasHours = times ? times.values.some((time) => time % 86400 !== 0) : usualTime < 86400;
    return [...(hasHours && span > 3600 ? [clock("hour")] : []), ...(span > 86400 ? [clock("weekday")] : [])];
  }

  get filterable() {
    return this.columns.filter(({ kind }) => FILTERED_KINDS.includes(kind));
  }

  get texts() {
    return this.carried.filter(({ kind }) => kind === "text" || kind === "category" || kind === "id");
  }

  column(name) {
    return this.columns.find((column) => column.name === name) ?? null;
  }

  binsOf(column) {
    if (!this.bins.has(column.name)) this.bins.set(column.name, new Bins(this.store, column));
    return this.bins.get(column.name);
  }

  get isActive() {
    return this.dimensions.size > 0;
  }

  passes(batch, row) {
    return this.fails[batch.first + row] === 0;
  }

  // Which rows fail by a column: `fails` is asked for each row; none to end this filter.
  filter(name, failing) {
    const old = this.dimensions.get(name);
    this.filterVersion += 1;
    if (old) for (let at = 0; at < old.mask.length; at += 1) this.fails[at] -= old.mask[at];
    if (failing) {
      for (let at = 0; at < failing.mask.length; at += 1) this.fails[at] += failing.mask[at];
      this.dimensions.set(name, failing);
    } else this.dimensions.delete(name);
    this.counts = null;
    this.view.notify(new Set(["filter"]));
  }

  // From a range of bins, or a set of them; as values for rows that come later.
  filterBins(column, isKept) {
    const bins = this.binsOf(column);
    const kept = Uint8Array.from({ length: 256 }, (_, bin) => (bin !== MISSING && isKept(bin) ? 0 : 1));
    const chosen = Array.from({ length: bins.n }, (_, bin) => bin).filter((bin) => !kept[bin]);
    this.filter(column.name, { mask: bins.of.map((bin) => kept[bin]), ...bins.meaning(chosen) });
  }

  // Between two numbers, ends included.
  filterRange(column, low, high) {
    const keeps = (value) => value >= low && value <= high;
    this.filter(column.name, { mask: this.maskOf(column, keeps), keeps, low, high });
  }

  // Rows that hold the words; where none does, those of clusters that match them. Returns how many.
  search(words) {
    const wanted = words.trim().toLowerCase();
    const { texts, store } = this;
    if (!texts.length || wanted === "") {
      if (this.dimensions.has("search")) this.filter("search", null);
      return null;
    }
    const known = new Map([...store.clusters.keys()].map((id) => [id, store.matches(id, words)]));
    let mask = new Uint8Array(store.nRows);
    const found = new Set();
    let n = 0;
    for (let at = 0; at < mask.length; at += 1) {
      const isHit = texts.some(({ values }) => values[at]?.toLowerCase().includes(wanted));
      mask[at] = isHit ? 0 : 1;
      if (!isHit) continue;
      n += 1;
      if (this.owner[at] >= 0) found.add(this.owner[at]);
    }
    if (!n) mask = mask.map((_, at) => (known.get(this.owner[at]) ? 0 : 1));
    this.filter("search", { mask });
    return { n, nClusters: found.size };
  }

  // Rows of a cluster that pass all filters.
  count(id) {
    if (!this.counts) {
      const { fails, owner } = this;
      this.counts = new Uint32Array(this.nIds);
      this.nPassed = 0;
      for (let at = 0; at < fails.length; at += 1) {
        if (fails[at] !== 0) continue;
        this.nPassed += 1;
        if (owner[at] >= 0) this.counts[owner[at]] += 1;
      }
    }
    return this.counts[id] ?? 0;
  }

  // Rows of a cluster that pass, beyond those that would if the filters had nothing to do with it.
  excess(id) {
    return this.count(id) - (this.nOf([id]) * this.nPassing) / Math.max(1, this.fails.length);
  }

  // Rows of clusters on the page, whether they pass or not.
  nOf(ids) {
    if (!this.sizes) {
      this.sizes = new Uint32Array(this.nIds);
      for (const id of this.owner) if (id >= 0) this.sizes[id] += 1;
    }
    return ids.reduce((sum, id) => sum + (this.sizes[id] ?? 0), 0);
  }

  // How many rows of each bin pass all filters but that of the column itself.
  histogram(column) {
    const bins = this.binsOf(column);
    const counts = new Uint32Array(bins.n);
    const own = this.dimensions.get(column.name)?.mask;
    const { fails } = this;
    const { of } = bins;
    for (let at = 0; at < of.length; at += 1) if (of[at] !== MISSING && fails[at] === (own ? own[at] : 0)) counts[of[at]] += 1;
    return counts;
  }

  get nPassing() {
    if (!this.counts) this.count(0);
    return this.nPassed;
  }

  // Rows of the page; a sample of all is called that.
  countText(n) {
    const { nRows, batches } = this.store;
    const isSample = batches.some(({ slots, nPoints }) => slots.length < nPoints);
    const all = isSample ? `${formatCount(nRows)} kept ${nRows === 1 ? "row" : "rows"}` : plural(nRows, "row");
    return n === null ? all : `${formatCount(n)} of ${all}`;
  }

  clear() {
    for (const name of [...this.dimensions.keys()]) this.filter(name, null);
  }
}
