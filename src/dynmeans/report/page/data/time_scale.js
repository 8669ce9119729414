// Time to pixels and back; times as text, as dates where the batches have them.

const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
const DATE_STEPS = [
  1, 2, 5, 10, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR,
  6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const twoDigits = (value) => String(value).padStart(2, "0");

class TimeText {
  constructor(store) {
    this.store = store;
    // Windows of days need no clock.
    this.hasClock = store.batches.some((batch) => (batch.time + batch.offset * MINUTE) % DAY !== 0);
  }

  batch(batch) {
    if (batch.name !== undefined) return batch.name;
    return this.store.header.is_dated ? this.date(batch) : formatNumber(batch.time, 6);
  }

  // What stands before a time that does not say by itself that it is one.
  get prefix() {
    return this.store.header.is_dated || this.store.batches[0].name !== undefined ? "" : "Time ";
  }

  // The same without the year, where all batches are of one.
  short(batch) {
    const years = [this.store.batches[0], this.store.batches[this.store.last]].map((end) => this.clock(end).getUTCFullYear());
    const text = this.batch(batch);
    return this.store.header.is_dated && years[0] === years[1] ? text.replace(` ${years[0]}`, "") : text;
  }

  // As a table of data has it: ISO 8601, in the clock of the page.
  iso(batch) {
    if (batch.name !== undefined || !this.store.header.is_dated) return this.batch(batch);
    return this.clock(batch).toISOString().slice(0, this.hasClock ? 19 : 10);
  }

  clock(batch) {
    return new Date((batch.time + batch.offset * MINUTE) * 1000);
  }

  date(batch) {
    const date = this.clock(batch);
    const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
    if (!this.hasClock) return day;
    const clock = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
    const seconds = date.getUTCSeconds();
    return `${day}, ${clock}${seconds ? `:${twoDigits(seconds)}` : ""}`;
  }

  // A length of time in the history's own steps, as in gaps.
  steps(value) {
    return Number.isFinite(value) ? `${formatNumber(value)} step${value === 1 ? "" : "s"}` : "";
  }

  ticks(low, high, n) {
    if (!this.store.header.is_dated) {
      return roundTicks(low, high, n).map((time) => [time, formatNumber(time, 6)]);
    }
    const offset = this.store.batches[this.store.last].offset * MINUTE;
    const rough = (high - low) / Math.max(n, 1);
    const step = DATE_STEPS.find((size) => size >= rough) ?? 365 * DAY * Math.ceil(rough / (365 * DAY));
    const ticks = [];
    for (let k = Math.ceil((low + offset) / step); k * step <= high + offset; k += 1) {
      ticks.push([k * step - offset, tickText(new Date(k * step * 1000), step)]);
    }
    return ticks;
  }
}

function tickText(date, step) {
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  if (step >= 30 * DAY) return `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  if (step >= DAY) return day;
  const clock = `${twoDigits(date.getUTCHours())}:${twoDigits(date.getUTCMinutes())}`;
  if (step >= MINUTE) return clock === "00:00" ? day : clock;
  return `${clock}:${twoDigits(date.getUTCSeconds())}`;
}

// Each batch has the time that is nearer to it than to any other, and no more than usual.
class TimeScale {
  constructor(store) {
    this.store = store;
    this.text = new TimeText(store);
    this.resize(0, 1);
  }

  resize(left, right) {
    const times = this.store.batches.map((batch) => batch.time);
    this.half = this.store.usualTime / 2;
    Object.assign(this, { times, left, right, low: times[0] - this.half, high: times[times.length - 1] + this.half });
    return this;
  }

  x(time) {
    return this.left + ((time - this.low) / (this.high - this.low)) * (this.right - this.left);
  }

  begin(index) {
    const { times } = this;
    return this.x(this.store.isNext(index) ? (times[index - 1] + times[index]) / 2 : times[index] - this.half);
  }

  end(index) {
    return this.store.isNext(index + 1) ? this.begin(index + 1) : this.x(this.times[index] + this.half);
  }

  // The batch nearest to a place.
  indexAt(x) {
    const time = this.low + ((x - this.left) / (this.right - this.left)) * (this.high - this.low);
    let [low, high] = [0, this.times.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] + this.times[middle + 1]) / 2 < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  ticks() {
    return this.text.ticks(this.low, this.high, (this.right - this.left) / 90);
  }
}

// Ticks with their names along the bottom of an SVG.
function drawTimeTicks(scale, group, y, lineTop) {
  group.replaceChildren();
  for (const [time, name] of scale.ticks()) {
    const x = scale.x(time);
    group.append(makeSvg("line", { x1: x, x2: x, y1: lineTop, y2: y, class: "grid" }));
    if (x < scale.left + 12 || x > scale.right - 12) continue;
    group.append(makeSvg("text", { x, y: y + 14, class: "tick", "text-anchor": "middle" }, name));
  }
}
