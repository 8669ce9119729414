// Columns of the rows: features, what was carried along from the input, and hours and weekdays.

const N_BINS = 24;
const N_VALUES = 11; // of a category that have bins of their own; the others share the last
const MISSING = 255;
const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const FILTERED_KINDS = ["number", "category", "hour", "weekday"];

// A feature: its values lie with the points.
class FeatureColumn {
  constructor(name, axis) {
    Object.assign(this, { name, axis, kind: "number" });
  }

  value(batch, row) {
    return batch.points[this.axis][row];
  }
}

// A column of the input: its values lie in the order of the rows of the page.
class CarriedColumn {
  constructor(name, kind, values) {
    Object.assign(this, { name, kind, values });
  }

  value(batch, row) {
    return this.values[batch.first + row] ?? null;
  }
}

// The hour of the day or the day of the week of a row: of its own time, else of its batch.
class ClockColumn {
  constructor(kind, times) {
    Object.assign(this, { name: kind === "hour" ? "hour of day" : "weekday", kind, times });
  }

  value(batch, row) {
    const own = this.times?.values[batch.first + row];
    const seconds = (own ?? batch.time) + batch.offset * 60;
    if (this.kind === "hour") return Math.floor((((seconds % 86400) + 86400) % 86400) / 3600);
    return (((Math.floor(seconds / 86400) + 3) % 7) + 7) % 7; // 1 January 1970 was a Thursday
  }
}

// A column cut into bins: the bin of every row, and what each bin is called.
class Bins {
  constructor(store, column) {
    this.column = column;
    this.of = new Uint8Array(store.nRows).fill(MISSING);
    if (column.kind === "number") this.cutNumbers(store);
    else this.cutValues(store);
    this.n = this.labels.length;
    this.all = new Uint32Array(this.n);
    for (const bin of this.of) if (bin !== MISSING) this.all[bin] += 1;
  }

  // Equal steps between the values that nearly all lie within; those beyond are in the end bins.
  cutNumbers(store) {
    const { column } = this;
    const every = Math.ceil(store.nRows / 20000);
    const sample = [];
    let [low, high] = [Infinity, -Infinity];
    store.eachRow((batch, row, at) => {
      const value = column.value(batch, row);
      if (value === null || !Number.isFinite(value)) return;
      if (at % every === 0) sample.push(value);
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    });
    sample.sort((a, b) => a - b);
    const few = Math.floor(0.01 * sample.length);
    const [first, last] = [sample[few] ?? 0, sample[sample.length - 1 - few] ?? 1];
    const isFar = last > first && high - low > 3 * (last - first);
    [this.low, this.high] = isFar ? [first, last] : [low, high];
    if (!(this.high > this.low)) [this.low, this.high] = [(Number.isFinite(low) ? low : 0) - 0.5, (Number.isFinite(low) ? low : 0) + 0.5];
    this.least = low;
    this.most = high;
    const step = (this.high - this.low) / N_BINS;
    this.labels = Array.from({ length: N_BINS }, (_, bin) => this.low + bin * step);
    store.eachRow((batch, row, at) => {
      const value = column.value(batch, row);
      if (value !== null && Number.isFinite(value)) this.of[at] = clamp(Math.floor((value - this.low) / step), 0, N_BINS - 1);
    });
  }

  cutValues(store) {
    const { column } = this;
    const counts = new Map();
    store.eachRow((batch, row) => {
      const value = column.value(batch, row);
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
    });
    const isFixed = column.kind === "hour" || column.kind === "weekday";
    const order = isFixed ? Array.from({ length: column.kind === "hour" ? 24 : 7 }, (_, k) => k) : [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    const shown = isFixed ? order : order.slice(0, N_VALUES);
    const bins = new Map(order.map((value, bin) => [value, Math.min(bin, shown.length)]));
    this.labels = shown.map((value) => (column.kind === "weekday" ? WEEKDAYS[value] : String(value)));
    if (order.length > shown.length) this.labels.push(`${formatCount(order.length - shown.length)} others`);
    store.eachRow((batch, row, at) => {
      const value = column.value(batch, row);
      if (value !== null) this.of[at] = bins.get(value);
    });
  }

  // What keeping these bins means for values, whatever bins they are in later.
  meaning(chosen) {
    if (this.column.kind === "category") {
      const [labels, others] = [new Set(chosen.map((bin) => this.labels[bin])), chosen.includes(N_VALUES)];
      const shown = new Set(this.labels.slice(0, N_VALUES));
      return { labels, keeps: (value) => labels.has(String(value)) || (others && !shown.has(String(value))) };
    }
    const edge = (bin) => (this.isNumber ? this.low + (bin / this.n) * (this.high - this.low) : bin);
    const low = this.isNumber && chosen[0] === 0 ? -Infinity : edge(chosen[0]);
    const high = this.isNumber && chosen.at(-1) === this.n - 1 ? Infinity : edge(chosen.at(-1) + (this.isNumber ? 1 : 0));
    return { low, high, keeps: (value) => value >= low && (this.isNumber ? value < high : value <= high) };
  }

  // The bin of a number.
  binAt(value) {
    return clamp(this.isNumber ? Math.floor(((value - this.low) / (this.high - this.low)) * this.n) : value, 0, this.n - 1);
  }

  get isNumber() {
    return this.column.kind === "number";
  }
}
