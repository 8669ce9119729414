// The data: chunks of batches, unpacked, and the lives of the clusters read off them.

const NO_CLUSTER = 65535;
const TIME_AXIS = -1;
const NEARLY = 0.9;

class ReportStore {
  constructor(header) {
    if (header.format !== "dynmeans.report" || header.version !== 2) {
      throw new Error(`This page reads dynmeans.report version 2, got ${header.format} ${header.version}.`);
    }
    this.header = header;
    this.batches = [];
    this.events = [];
    this.clusters = new Map();
    this.largest = 1; // points of the largest cluster in any batch
    this.usualTime = 1; // between two batches
    this.timePerStep = 1; // of the clock by which clusters are remembered
    this.limits = header.axes.map(() => [Infinity, -Infinity]);
    this.listeners = [];
    this.readEdits();
    for (const chunk of header.chunks) this.append(chunk);
  }

  onAppend(callback) {
    this.listeners.push(callback);
  }

  // `settle` is called before anybody hears of it.
  append(chunk, settle = () => {}) {
    const first = this.batches.length;
    this.addBatches(chunk.batches);
    const added = this.batches.slice(first);
    const places = placeReader(chunk.limits, this.header.axes);
    this.addClusters(chunk.clusters, added, places);
    this.addPoints(chunk.points, added, places);
    this.addEvents(chunk.events, added);
    const pairs = this.batches.slice(1).map((batch, row) => [batch, this.batches[row]]);
    this.usualTime = median(pairs.map(([batch, before]) => batch.time - before.time)) ?? 1;
    this.timePerStep = median(pairs.map(([batch, before]) => (batch.time - before.time) / (batch.clock - before.clock))) ?? 1;
    settle();
    this.notify();
  }

  notify() {
    for (const callback of this.listeners) callback();
  }

  addBatches(columns) {
    const times = readColumn(columns.times, Float64Array);
    const steps = readColumn(columns.steps, Uint32Array);
    const offsets = readColumn(columns.utc_offsets, Int16Array);
    const clocks = readColumn(columns.clocks, Float64Array);
    const costs = readColumn(columns.costs, Float64Array);
    const nPoints = readColumn(columns.n_points, Uint32Array);
    const nSeen = readColumn(columns.n_seen, Uint32Array);
    const nRemembered = readColumn(columns.n_remembered, Uint32Array);
    times.forEach((time, row) => {
      this.batches.push({
        index: this.batches.length,
        step: steps[row],
        time,
        offset: offsets[row],
        clock: clocks[row],
        cost: costs[row],
        nPoints: nPoints[row],
        nSeen: nSeen[row],
        nRemembered: nRemembered[row],
        name: columns.names?.[row],
        events: [],
      });
    });
  }

  addClusters(columns, added, places) {
    const ids = readColumn(columns.ids, Uint32Array);
    const counts = readColumn(columns.counts, Float32Array);
    const axes = places(columns.places, ids.length);
    const velocities = readVelocities(columns, axes.length);
    this.widen(axes);
    forEachBatch(columns.sizes, added, (batch, from, to) => {
      batch.velocities = velocities?.map((axis) => axis.subarray(from, to)) ?? null;
      batch.ids = ids.subarray(from, to);
      batch.counts = counts.subarray(from, to);
      batch.centers = axes.map((axis) => axis.subarray(from, to));
      batch.clusters = Array.from(batch.ids, (id) => this.cluster(id));
      batch.clusters.forEach((cluster, slot) => cluster.see(batch, slot));
    });
    this.largest = counts.reduce((most, count) => Math.max(most, count), this.largest);
  }

  addPoints(columns, added, places) {
    const slots = readColumn(columns.slots, Uint16Array);
    const axes = places(columns.places, slots.length);
    this.widen(axes);
    forEachBatch(columns.sizes, added, (batch, from, to) => {
      batch.first = batch.index ? this.batches[batch.index - 1].first + this.batches[batch.index - 1].slots.length : 0;
      batch.slots = slots.subarray(from, to);
      batch.points = axes.map((axis) => axis.subarray(from, to));
    });
  }

  addEvents(columns, added) {
    const kinds = readColumn(columns.kinds, Uint8Array);
    const ids = readColumn(columns.ids, Uint32Array);
    const others = readColumn(columns.others, Int32Array);
    const gaps = readColumn(columns.gaps, Float32Array);
    const moves = readColumn(columns.displacements, Float32Array);
    forEachBatch(columns.sizes, added, (batch, from, to) => {
      for (let row = from; row < to; row += 1) {
        const event = {
          batch,
          kind: this.header.event_kinds[kinds[row]],
          id: ids[row],
          other: others[row],
          gap: gaps[row],
          displacement: moves[row],
        };
        batch.events.push(event);
        this.events.push(event);
        this.cluster(event.id).events.push(event);
      }
    });
  }

  cluster(id) {
    if (!this.clusters.has(id)) this.clusters.set(id, new Cluster(id));
    return this.clusters.get(id);
  }

  widen(axes) {
    axes.forEach((values, axis) => {
      const limits = this.limits[axis];
      for (const value of values) {
        if (value < limits[0]) limits[0] = value;
        if (value > limits[1]) limits[1] = value;
      }
    });
  }

  // Rows drawn, in all batches.
  get nRows() {
    const end = this.batches[this.last];
    return end ? end.first + end.slots.length : 0;
  }

  // Calls back with each row: its batch, its number there and its number on the page.
  eachRow(callback) {
    for (const batch of this.batches) {
      for (let row = 0; row < batch.slots.length; row += 1) callback(batch, row, batch.first + row);
    }
  }

  get last() {
    return this.batches.length - 1;
  }

  // The last batch with nearly the most clusters: a reader sees what there is, and where it came from.
  get lastFull() {
    const most = this.batches.reduce((n, batch) => Math.max(n, batch.ids.length), 0);
    return this.batches.findLastIndex((batch) => batch.ids.length >= NEARLY * most);
  }

  // Whether nothing lies between a batch and the one before: windows without rows are not batches.
  isNext(index) {
    const [before, here] = [this.batches[index - 1], this.batches[index]];
    return before !== undefined && here !== undefined && here.time - before.time < 1.5 * this.usualTime;
  }

  // From and to of the rows of a cluster whose batches follow each other.
  stretches({ batches }) {
    const runs = [];
    let from = 0;
    for (let row = 1; row <= batches.length; row += 1) {
      if (row === batches.length || !this.areNext(batches[row - 1], batches[row])) {
        runs.push([from, row]);
        from = row;
      }
    }
    return runs;
  }

  areNext(before, after) {
    return after === before + 1 && this.isNext(after);
  }

  // What people made of the clusters: which is shown as which other, and which are pinned.
  readEdits() {
    this.merged = new Map(Object.entries(this.header.merged ?? {}).map(([id, shown]) => [Number(id), shown]));
    this.pinned = new Set(this.header.pinned ?? []);
  }

  shownAs(id) {
    return this.merged.get(id) ?? id;
  }

  isPinned(id) {
    return this.pinned.has(id);
  }

  // The forgotten cluster in whose place this one was born, unless the two are shown as one.
  linkOf(id) {
    const link = (this.header.suggested_matches ?? []).find(([, other]) => other === id);
    return link && this.shownAs(link[0]) !== this.shownAs(id) ? link : null;
  }

  // What a cluster is called, in a few words: its name if it has one, else its number.
  label(id) {
    const name = this.nameOf(id);
    return name === undefined ? String(id) : shortName(name);
  }

  // As people or words name it, else the value that most of its rows share.
  nameOf(id) {
    return this.header.cluster_names?.[id] ?? this.sharedValues?.get(id);
  }

  fullName(id) {
    const name = this.nameOf(id);
    const shown = this.shownAs(id);
    if (shown !== id) return `Cluster ${id}, shown as ${this.label(shown)}`;
    return name === undefined ? `Cluster ${id}` : `Cluster ${id}, ${name}`;
  }

  // What is known of a cluster beside its name, a sentence each.
  description(id) {
    return this.header.descriptions?.[id] ?? [];
  }

  // Whether a cluster has the number, or is called or described by the words.
  matches(id, words) {
    const wanted = words.trim().toLowerCase();
    if (wanted === "" || String(id) === wanted) return true;
    const name = this.nameOf(id);
    const texts = [...this.description(id), ...(name === undefined ? [] : [name])];
    return texts.some((text) => text.toLowerCase().includes(wanted));
  }

  // How well a cluster fits words: its number, a whole word of its name, its name from the first
  // word on, any word, the rest.
  rank(id, words) {
    const wanted = words.trim().toLowerCase();
    const name = (this.nameOf(id) ?? "").toLowerCase();
    const begins = (text) => text.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted));
    const isWord = name.split(/[^\p{L}\p{N}]+/u).includes(wanted);
    const tests = [String(id) === wanted, isWord, name.startsWith(wanted), begins(name), this.description(id).some((text) => begins(text.toLowerCase()))];
    return tests.includes(true) ? tests.indexOf(true) : tests.length;
  }

  axisName(axis) {
    return axis === TIME_AXIS ? "time" : this.header.axes[axis].name;
  }
}

const LONGEST_NAME = 30; // characters, on the picture and in lists

// As many whole words as there is room for.
function shortName(name) {
  if (name.length <= LONGEST_NAME) return name;
  const cut = name.slice(0, LONGEST_NAME);
  const end = Math.max(cut.lastIndexOf(","), cut.lastIndexOf(" "));
  return end > LONGEST_NAME / 3 ? cut.slice(0, end).replace(/,$/, "") : `${cut.slice(0, -1)}…`;
}

function forEachBatch(sizes, batches, callback) {
  let from = 0;
  readColumn(sizes, Uint32Array).forEach((size, row) => {
    callback(batches[row], from, from + size);
    from += size;
  });
}

// Packed places are steps of 1/65535 from low to high; plain arrays are the places themselves.
// Those of an axis that comes round again go from its seam on.
function placeReader(limits, axes) {
  return (column, n) => {
    const isPlain = isPlainColumn(column);
    const values = readColumn(column, isPlain ? Float32Array : Uint16Array);
    return axes.map((look, axis) => {
      const steps = values.subarray(axis * n, (axis + 1) * n);
      if (isPlain) return look.period ? steps.map((value) => unwrapped(value, look)) : steps;
      const [low, high] = [limits[0][axis], limits[1][axis]];
      return Float32Array.from(steps, (step) => unwrapped(low + (step / 65535) * (high - low), look));
    });
  };
}

// The row of a cluster among those of a batch, which rise; -1 if it is not there.
function slotOf({ ids }, id) {
  let [low, high] = [0, ids.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle] < id) low = middle + 1;
    else high = middle;
  }
  return ids[low] === id ? low : -1;
}

// In a step of time, axis by axis; none where clusters keep no course.
function readVelocities({ velocities, max_speed: maxSpeed }, nAxes) {
  if (!velocities) return null;
  const isPlain = isPlainColumn(velocities);
  const values = readColumn(velocities, isPlain ? Float32Array : Int16Array);
  const n = values.length / nAxes;
  return Array.from({ length: nAxes }, (_, axis) => {
    const steps = values.subarray(axis * n, (axis + 1) * n);
    return isPlain ? steps : Float32Array.from(steps, (step) => (step / 32767) * maxSpeed[axis]);
  });
}
