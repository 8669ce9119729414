// In a worker: the page's rows, clustered again whenever other settings come. What comes last
// counts; what is under way for earlier settings is left.

const SLICE = 8; // milliseconds between two looks at what came
const SOON = 150; // milliseconds without a result after which progress is told
const MAX_ROWS = 4000; // of the first batches, on which a scale is proposed
const TRIES = 12; // halvings of the range in which a number of clusters is looked for

const channel = new MessageChannel();
const breathe = () => new Promise((resolve) => {
  channel.port1.onmessage = resolve;
  channel.port2.postMessage(null);
});

let engine = null;
let rows = null; // { points, weights, sizes, elapsed, nFeatures }
let newest = 0;

self.onmessage = ({ data }) => {
  if (data.module) engine = unpacked(data.module).then((bytes) => Engine.load(bytes));
  else if (data.rows) rows = data.rows;
  else {
    newest = data.number;
    const work = data.isProposal ? proposed : answer;
    work(data).catch((error) => self.postMessage({ number: data.number, problem: error.message }));
  }
};

async function unpacked(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function answer({ number, penalties, options, wanted }) {
  const ready = await engine;
  const began = performance.now();
  const isLate = () => number !== newest;
  const tell = (share) => {
    if (performance.now() - began > SOON) self.postMessage({ number, share });
  };
  let chosen = penalties;
  if (wanted) chosen = await penaltiesFor(ready, wanted, penalties, options, isLate, tell);
  const found = chosen && (await clustered(ready, chosen, options, isLate, wanted ? () => {} : tell));
  if (!found) return;
  const buffers = Object.values(found).filter(ArrayBuffer.isView).map(({ buffer }) => buffer);
  self.postMessage({ number, found, newPenalty: chosen.newPenalty, time: performance.now() - began }, buffers);
}

// The scale at which a batch has about as many clusters: fewer the larger it is.
async function penaltiesFor(ready, wanted, penalties, options, isLate, tell) {
  let [low, high] = [penalties.newPenalty / 1e4, penalties.newPenalty * 1e4];
  for (let turn = 0; turn < TRIES; turn += 1) {
    const middle = Math.sqrt(low * high);
    const found = await clustered(ready, { ...penalties, newPenalty: middle }, options, isLate, () => {});
    if (!found) return null;
    const filled = rows.sizes.filter((size) => size > 0).length;
    const mean = found.ids.length / Math.max(1, filled);
    if (Math.abs(mean - wanted) < 0.05 * wanted) return { ...penalties, newPenalty: middle };
    if (mean > wanted) low = middle;
    else high = middle;
    tell((turn + 1) / TRIES);
  }
  return { ...penalties, newPenalty: Math.sqrt(low * high) };
}

// The settings whose clusters give the shortest description of the first batches: the scale by
// octaves for each motion, then by quarters of one, then how far and how long clusters are known.
async function proposed({ number, penalties, options }) {
  const ready = await engine;
  const some = firstRows();
  const whole = rows;
  let best = { ...penalties, newPenalty: some.variance, length: Infinity };
  const look = async (changes) => {
    const asked = { ...best, ...changes };
    rows = some;
    const found = await clustered(ready, asked, options, () => number !== newest, () => {});
    rows = whole;
    if (!found) return;
    const labels = Float64Array.from(found.slots, (slot, row) => found.ids[found.firsts[some.batchOf[row]] + slot]);
    const moving = asked.motion === "constant_velocity" ? new Float64Array(some.nFeatures).fill(1) : null;
    const length = ready.describe({ ...some, labels, moving });
    if (length < best.length) best = { ...asked, length };
  };
  for (const motion of ["random_walk", "constant_velocity"]) {
    for (let octave = 2; octave > -18; octave -= 1) await look({ motion, newPenalty: some.variance * 2 ** octave });
  }
  for (let turn = 0; turn < 2; turn += 1) {
    const { newPenalty } = best;
    for (const quarter of [-3, -2, -1, 1, 2, 3]) await look({ newPenalty: newPenalty * 2 ** (quarter / 4) });
    for (const reach of [1, 2, 4, 8]) await look({ reach });
    for (const maxGap of [2.5, 15, 40]) await look({ maxGap });
  }
  const { length, ...chosen } = best;
  if (number === newest) self.postMessage({ number, chosen });
}

// Batches with points, from the first on, as far as a few thousand rows go.
function firstRows() {
  const { points, sizes, elapsed, nFeatures } = rows;
  let [n, nBatches] = [0, 0];
  while (nBatches < sizes.length && (n === 0 || n + sizes[nBatches] <= MAX_ROWS)) {
    n += sizes[nBatches];
    nBatches += 1;
  }
  const some = { points: points.slice(0, n * nFeatures), weights: null, nFeatures, sizes: sizes.slice(0, nBatches), elapsed: elapsed.slice(0, nBatches) };
  const starts = new Float64Array(nBatches + 1);
  const times = new Float64Array(nBatches);
  some.sizes.forEach((size, t) => {
    starts[t + 1] = starts[t] + size;
    times[t] = t ? times[t - 1] + elapsed[t] : 0;
  });
  const batchOf = new Uint32Array(n);
  some.sizes.forEach((size, t) => batchOf.fill(t, starts[t], starts[t] + size));
  return { ...some, starts, times, batchOf, variance: varianceOf(some.points, nFeatures) };
}

function varianceOf(points, d) {
  const n = points.length / d;
  const means = new Float64Array(d);
  points.forEach((value, at) => { means[at % d] += value / n; });
  return points.reduce((sum, value, at) => sum + (value - means[at % d]) ** 2 / n, 0) || 1;
}

// All batches in turn, as the columns of a report; null if other settings came meanwhile.
async function clustered(ready, penalties, options, isLate, tell) {
  const { points, weights, sizes, elapsed, nFeatures } = rows;
  const stream = ready.open(nFeatures, penalties, options);
  const columns = new TrialColumns(sizes.length, points.length / nFeatures, nFeatures);
  let [first, looked] = [0, performance.now()];
  try {
    for (let t = 0; t < sizes.length; t += 1) {
      const end = first + sizes[t];
      const batch = points.subarray(first * nFeatures, end * nFeatures);
      columns.add(t, stream.step(batch, { weights: weights?.subarray(first, end), elapsed: elapsed[t] }), first, elapsed[t]);
      first = end;
      if (performance.now() - looked < SLICE) continue;
      await breathe();
      if (isLate()) return null;
      tell((t + 1) / sizes.length);
      looked = performance.now();
    }
    return columns.finished(stream.nextId);
  } finally {
    stream.close();
  }
}

// What happened to clusters, by the numbers that the header of a report gives its kinds.
const [BORN, VANISHED, RETURNED, FORGOTTEN] = [0, 2, 3, 4];

class TrialColumns {
  constructor(nBatches, nRows, nFeatures) {
    Object.assign(this, { nFeatures, slots: new Uint16Array(nRows), costs: new Float64Array(nBatches), nClusters: 0 });
    this.nSeen = new Uint32Array(nBatches);
    this.nRemembered = new Uint32Array(nBatches);
    this.lists = { ids: [], counts: [], centers: [], velocities: [] };
    this.events = { sizes: new Uint32Array(nBatches), kinds: [], ids: [], gaps: [] };
    this.before = new Map(); // age of each remembered cluster after the batch before
  }

  add(t, stream, firstRow, elapsed) {
    const ids = stream.column("ids");
    const state = stream.column("stateIds");
    const ages = stream.column("stateAges");
    const slotOf = new Map(Array.from(ids, (id, slot) => [id, slot]));
    stream.column("labels").forEach((label, row) => { this.slots[firstRow + row] = slotOf.get(label) ?? 65535; });
    this.costs[t] = stream.column("costTrace").at(-1) ?? NaN;
    this.nSeen[t] = ids.length;
    this.nRemembered[t] = state.length;
    this.lists.ids.push(ids);
    this.lists.counts.push(stream.column("counts"));
    this.lists.centers.push(stream.column("centers"));
    this.addVelocities(stream, slotOf, state);
    this.addEvents(t, ids, state, elapsed);
    this.before = new Map(Array.from(state, (id, row) => [id, ages[row]]));
  }

  // Those of the clusters seen, of all that are remembered.
  addVelocities(stream, slotOf, state) {
    const all = stream.column("stateVelocities");
    if (all.length === 0) return;
    const { nFeatures } = this;
    const seen = new Float64Array(slotOf.size * nFeatures);
    state.forEach((id, row) => {
      if (slotOf.has(id)) seen.set(all.subarray(row * nFeatures, (row + 1) * nFeatures), slotOf.get(id) * nFeatures);
    });
    this.lists.velocities.push(seen);
  }

  addEvents(t, ids, state, elapsed) {
    const { before, events } = this;
    const [seen, kept] = [new Set(ids), new Set(state)];
    const happened = [];
    for (const id of ids) {
      if (!before.has(id)) happened.push([BORN, id, NaN]);
      else if (before.get(id) !== 1) happened.push([RETURNED, id, before.get(id) - 1 + elapsed]);
    }
    for (const [id, age] of before) {
      if (!seen.has(id) && age === 1) happened.push([VANISHED, id, NaN]);
      if (!kept.has(id)) happened.push([FORGOTTEN, id, NaN]);
    }
    happened.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [kind, id, gap] of happened) {
      events.kinds.push(kind);
      events.ids.push(id);
      events.gaps.push(gap);
    }
    events.sizes[t] = happened.length;
  }

  finished(nClusters) {
    const { lists, events, slots, costs, nSeen, nRemembered } = this;
    return {
      nClusters, slots, costs, nSeen, nRemembered,
      firsts: nSeen.map((n, t) => nSeen.subarray(0, t).reduce((sum, before) => sum + before, 0)),
      ids: joined(lists.ids, Uint32Array),
      counts: joined(lists.counts, Float32Array),
      centers: joined(lists.centers, Float64Array),
      velocities: lists.velocities.length ? joined(lists.velocities, Float64Array) : null,
      eventSizes: events.sizes,
      kinds: Uint8Array.from(events.kinds),
      eventIds: Uint32Array.from(events.ids),
      gaps: Float32Array.from(events.gaps),
    };
  }
}

function joined(parts, Type) {
  const whole = new Type(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
