// The engine, compiled to WebAssembly: the labels, costs and states of the Python package, to the
// last bit. Nothing here knows of a page; the npm package is made from this file.

// Columns that a stream has after a step, by the numbers of native/wasm/module.cpp.
const COLUMNS = {
  labels: 0, ids: 1, counts: 2, centers: 3, costTrace: 4,
  stateIds: 5, stateCenters: 6, stateWeights: 7, stateAges: 8, stateCounts: 9, stateVelocities: 10,
};
const LARGEST = 1e100; // as in the package: squares of differences stay finite
const LARGEST_WEIGHT = 1e50;
const MAX_ORDERS = 10000;
const MOST_OFF = 1e-3; // of a squared length of 1
const DEFAULT_MAX_GAP = 6.8;
const DEFAULT_REACH = 1.2;

class EngineError extends Error {}

function refuse(name, rule, value) {
  throw new EngineError(`${name} ${rule}, got ${value}.`);
}

function checkedNumber(name, value, rule, holds) {
  if (typeof value !== "number" || Number.isNaN(value) || !holds(value)) refuse(name, rule, value);
  return value;
}

function checkArrays(arrays) {
  for (const [name, value] of Object.entries(arrays)) {
    if (typeof value !== "object" || !Number.isInteger(value?.length)) refuse(name, "must be an array", typeof value);
  }
}

// lambda, Q and tau from what was given: those, or lambda with maxGap and reach.
function completePenalties(given) {
  const newPenalty = checkedNumber("newPenalty", given.newPenalty, "must be a number above 0", (x) => x > 0 && x < Infinity);
  const revival = given.revival ?? "paper";
  const motion = given.motion ?? "random_walk";
  if (!["paper", "exact"].includes(revival)) refuse("revival", 'must be "paper" or "exact"', revival);
  if (!["random_walk", "constant_velocity"].includes(motion)) refuse("motion", 'must be "random_walk" or "constant_velocity"', motion);
  const centers = given.centers ?? "mean";
  if (!["mean", "sphere"].includes(centers)) refuse("centers", 'must be "mean" or "sphere"', centers);
  if (centers === "sphere" && motion !== "random_walk") refuse("motion", 'must be "random_walk" for centers on the unit sphere', motion);
  const rest = { newPenalty, revival, motion, moving: given.moving ?? null, centers };
  if (given.revivalPenalty !== undefined || given.drift !== undefined) {
    if (given.maxGap !== undefined || given.reach !== undefined) {
      throw new EngineError("give either revivalPenalty and drift, or maxGap and reach, and not both.");
    }
    const isFine = (x) => x >= 0 && x < Infinity;
    const revivalPenalty = checkedNumber("revivalPenalty", given.revivalPenalty, "must be a number of 0 or more", isFine);
    const drift = checkedNumber("drift", given.drift, "must be a number of 0 or more", isFine);
    return { ...rest, revivalPenalty, drift };
  }
  const maxGap = checkedNumber("maxGap", given.maxGap ?? DEFAULT_MAX_GAP, "must be a number above 1", (x) => x > 1);
  const reach = checkedNumber("reach", given.reach ?? DEFAULT_REACH, "must be a number of at least 1", (x) => x >= 1 && x < Infinity);
  return { ...rest, revivalPenalty: newPenalty / maxGap, drift: driftFromReach(maxGap, reach) };
}

// (lambda - Q) (tau + 1) = k_tau lambda, solved for tau.
function driftFromReach(maxGap, reach) {
  if (maxGap === Infinity) return reach - 1;
  const scaled = reach > 1 ? maxGap * (reach - 1) : 0;
  return scaled === Infinity ? (reach - 1) * (maxGap / (maxGap - 1)) : (scaled + 1) / (maxGap - 1);
}

// One stream: a batch at a time, and what is remembered from one to the next.
class EngineStream {
  constructor(wasm, nFeatures, penalties, options) {
    this.wasm = wasm;
    this.nFeatures = checkedNumber("nFeatures", nFeatures, "must be a whole number from 1 to 10000", (n) => Number.isInteger(n) && n > 0 && n <= 10000);
    const { newPenalty, revivalPenalty, drift, revival, motion, moving, centers } = completePenalties(penalties);
    this.isOnSphere = centers === "sphere";
    const nInit = checkedNumber("nInit", options.nInit ?? 3, `must be a whole number from 1 to ${MAX_ORDERS}`, (n) => Number.isInteger(n) && n > 0 && n <= MAX_ORDERS);
    const search = options.search ?? (this.isOnSphere ? "paper" : "split");
    const depth = ["paper", "split", "deep"].indexOf(search);
    if (depth < 0) refuse("search", 'must be "paper", "split" or "deep"', search);
    if (this.isOnSphere && depth > 0) refuse("search", 'must be "paper" for centers on the unit sphere', search);
    const [low, high] = options.entropy ?? entropyOfSeed(wasm, options.randomState ?? 0);
    this.at = wasm.dm_open(
      nFeatures, newPenalty, revivalPenalty, drift, revival === "exact" ? 1 : 0, motion === "constant_velocity" ? 1 : 0,
      this.isOnSphere ? 1 : 0, low, high, nInit, depth,
    );
    if (moving) this.floats(wasm.dm_moving(this.at), nFeatures).set(moving.map((yes) => (yes ? 1 : 0)));
  }

  floats(at, n) {
    return new Float64Array(this.wasm.memory.buffer, at, n);
  }

  // Clusters the next batch: its points row by row. `elapsed` is the time since the batch before.
  step(points, { weights = null, elapsed = 1 } = {}) {
    this.checkOpen();
    checkArrays({ points, ...(weights === null || weights === undefined ? {} : { weights }) });
    const nPoints = points.length / this.nFeatures;
    if (!Number.isInteger(nPoints)) refuse("points", `must hold ${this.nFeatures} numbers for each row`, `${points.length} numbers`);
    if (weights && weights.length !== nPoints) refuse("weights", `must hold one number for each of ${nPoints} points`, weights.length);
    checkedNumber("elapsed", elapsed, "must be a number above 0", (x) => x > 0 && x < Infinity);
    for (const value of weights ?? []) checkedNumber("weights", value, `must be numbers from 0 to ${LARGEST_WEIGHT}`, (x) => x >= 0 && x <= LARGEST_WEIGHT);
    for (const value of points) if (!(Math.abs(value) <= LARGEST)) refuse("points", "must be finite numbers", value);
    if (this.isOnSphere) this.checkLengths(points);
    this.floats(this.wasm.dm_points(this.at, nPoints), points.length).set(points);
    if (weights) this.floats(this.wasm.dm_weights(this.at, nPoints), nPoints).set(weights);
    this.wasm.dm_step(this.at, nPoints, weights ? 1 : 0, elapsed);
    return this;
  }

  checkLengths(points) {
    const d = this.nFeatures;
    for (let first = 0; first < points.length; first += d) {
      let square = 0;
      for (let j = first; j < first + d; j += 1) square += points[j] ** 2;
      if (Math.abs(square - 1) > MOST_OFF) refuse("points", "must have length 1 for centers on the unit sphere", `a row of length ${Math.sqrt(square)}`);
    }
  }

  // A column of what the last step found, as numbers of its own.
  column(name) {
    this.checkOpen();
    const number = COLUMNS[name];
    if (number === undefined) refuse("column", `must be one of ${Object.keys(COLUMNS).join(", ")}`, name);
    const n = this.wasm.dm_size(this.at, number);
    return this.floats(this.wasm.dm_column(this.at, number), n).slice();
  }

  get nextId() {
    this.checkOpen();
    return this.wasm.dm_next_id(this.at);
  }

  // Gives the memory back; safe to call twice.
  close() {
    if (this.at) this.wasm.dm_close(this.at);
    this.at = 0;
  }

  checkOpen() {
    if (!this.at) throw new EngineError("the stream is closed: open another one with engine.open().");
  }
}

// The key that `random_state=seed` stands for in Python, in two halves.
function entropyOfSeed(wasm, seed) {
  const rule = "must be a whole number from 0 to 4294967295";
  checkedNumber("randomState", seed, rule, (n) => Number.isInteger(n) && n >= 0 && n <= 4294967295);
  return [wasm.dm_entropy_low(seed), wasm.dm_entropy_high(seed)];
}

class Engine {
  constructor(wasm) {
    this.wasm = wasm;
  }

  // `source` is the module: its bytes, or what they were compiled to.
  static async load(source) {
    // The engine asks for the time now and then, to see whether it should stop; it never should.
    const imports = { wasi_snapshot_preview1: { clock_time_get: () => 0 } };
    const made = await WebAssembly.instantiate(source, imports);
    const { exports } = made.instance ?? made;
    exports._initialize();
    return new Engine(exports);
  }

  open(nFeatures, penalties, options = {}) {
    return new EngineStream(this.wasm, nFeatures, penalties, options);
  }

  // All batches of a stream, one after the other, each an array of numbers row by row.
  cluster(batches, penalties, { nFeatures = 2, elapsed = null, ...options } = {}) {
    checkArrays({ batches });
    const stream = this.open(nFeatures, penalties, options);
    try {
      const steps = Array.from(batches, (points, t) => {
        stream.step(points, { elapsed: elapsed?.[t] ?? 1 });
        return {
          labels: stream.column("labels"),
          ids: stream.column("ids"),
          counts: stream.column("counts"),
          centers: stream.column("centers"),
          cost: stream.column("costTrace").at(-1) ?? NaN,
        };
      });
      return { steps, nClusters: stream.nextId };
    } finally {
      stream.close();
    }
  }

  // The length of a description of the stream with these labels, in nats: the shorter, the better.
  // `starts` has the first row of each batch and the end; no batch is empty.
  describe({ points, starts, times, labels, nFeatures, moving = null }) {
    const { wasm } = this;
    const lent = [points, starts, times, labels, ...(moving ? [moving] : [])].map((values) => {
      const at = wasm.dm_alloc(8 * values.length);
      return { at, values };
    });
    for (const { at, values } of lent) new Float64Array(wasm.memory.buffer, at, values.length).set(values);
    const length = wasm.dm_describe(starts.length - 1, nFeatures, ...lent.slice(0, 4).map(({ at }) => at), moving ? lent[4].at : 0);
    for (const { at } of lent) wasm.dm_free(at);
    return length;
  }
}
