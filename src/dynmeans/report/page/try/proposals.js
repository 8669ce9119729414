// What to take for time, features and windows, proposed from names and values.

const LOOK = 2000; // rows looked at
const TIME_NAMES = /(^|[^a-z])(time|date|datetime|timestamp|when|day|hour|ts|t|step|frame)($|[^a-z])|time$|date$/i;
const ID_NAMES = /(^|[^a-z])(id|index|idx|label|cluster|truth|class|mmsi|row|no|nr|number)($|[^a-z])|id$/i;
const PAIRS = [[/^lon(g(itude)?)?$/i, /^lat(itude)?$/i], [/^x$/i, /^y$/i], [/^east(ing)?$/i, /^north(ing)?$/i]];
const NICE_SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 31536000];
const MOST_WINDOWS = 100;

// number, the order of its dates, "unclear" where day or month may come first, or text: what most
// values of a column are. More than a twentieth of other values make it text.
function kindOf(values) {
  const given = values.filter((value) => value !== "");
  const some = given.slice(0, LOOK);
  const share = (read) => some.filter((value) => Number.isFinite(read(value))).length / Math.max(1, some.length);
  if (share(asNumber) > 0.95) return "number";
  const orders = Object.keys(DATES).filter((order) => share(DATES[order]) > 0.95);
  if (orders.length < 2) return orders[0] ?? "text";
  // Both orders fit what was looked at: one may not fit the rest. Days that are none in any are left out.
  const reads = (order, value) => Number.isFinite(DATES[order](value));
  const days = given.filter((value) => orders.some((order) => reads(order, value)));
  const fitting = orders.filter((order) => days.every((value) => reads(order, value)));
  return fitting.length === 1 ? fitting[0] : "unclear";
}

const isDated = (kind) => kind in DATES;
const readerOf = (kind) => DATES[kind] ?? asNumber;

function propose({ columns, nRows }) {
  const kinds = new Map([...columns].map(([name, values]) => [name, kindOf(values)]));
  const names = [...columns.keys()];
  const time = names.find((name) => isDated(kinds.get(name)))
    ?? names.find((name) => kinds.get(name) === "number" && TIME_NAMES.test(name) && isRising(columns.get(name)))
    ?? null;
  const unclear = names.find((name) => kinds.get(name) === "unclear");
  if (!time && unclear) {
    const example = columns.get(unclear).find((value) => value !== "");
    throw new Error(`the dates of "${unclear}", such as ${example}, may begin with the day or the month: write them as 2024-12-31`);
  }
  const numbers = names.filter((name) => kinds.get(name) === "number" && name !== time);
  const pair = PAIRS.map((tests) => tests.map((test) => numbers.find((name) => test.test(name)))).find((found) => found.every(Boolean));
  const free = numbers.filter((name) => !ID_NAMES.test(name));
  const features = pair ?? (free.length ? free : numbers).slice(0, 6);
  return { kinds, time, features, ...proposeWindow(columns, kinds, time, nRows) };
}

function isRising(values) {
  const some = values.slice(0, LOOK).map(asNumber);
  return some.every((value, row) => row === 0 || value >= some[row - 1]) && some[some.length - 1] > some[0];
}

// As long that there are at most a hundred windows.
function proposeWindow(columns, kinds, time, nRows) {
  if (!time) return { every: Math.max(10, Math.ceil(nRows / 60)) };
  const read = readerOf(kinds.get(time));
  let [low, high] = [Infinity, -Infinity];
  for (const value of columns.get(time)) {
    const at = read(value);
    if (at < low) low = at;
    if (at > high) high = at;
  }
  const least = (high - low) / MOST_WINDOWS;
  if (isDated(kinds.get(time))) return { every: NICE_SECONDS.find((seconds) => seconds >= least) ?? least };
  if (Number.isInteger(low) && high - low <= MOST_WINDOWS) return { every: 1 };
  const power = 10 ** Math.floor(Math.log10(least));
  return { every: [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least) };
}

// Rows in order of time, cut into windows; those without a number are left out.
function cutWindows({ columns, nRows }, { kinds, time, features, every }) {
  const readTime = readerOf(kinds.get(time));
  const rows = [];
  for (let row = 0; row < nRows; row += 1) {
    const values = features.map((name) => asNumber(columns.get(name)[row]));
    const at = time ? readTime(columns.get(time)[row]) : row;
    if (Number.isFinite(at) && values.every(Number.isFinite)) rows.push({ row, at, values });
  }
  if (!rows.length) throw new Error("no row has a number in every feature");
  rows.sort((a, b) => a.at - b.at || a.row - b.row);
  const windows = [];
  for (const one of rows) {
    const number = Math.floor(one.at / every + 1e-9);
    if (windows.at(-1)?.number !== number) windows.push({ number, begin: number * every, rows: [] });
    windows.at(-1).rows.push(one);
  }
  return { windows, rows, nLeftOut: nRows - rows.length };
}

function spreadsOf(rows, nFeatures) {
  return Array.from({ length: nFeatures }, (_, j) => {
    const mean = rows.reduce((sum, { values }) => sum + values[j], 0) / rows.length;
    return Math.sqrt(rows.reduce((sum, { values }) => sum + (values[j] - mean) ** 2, 0) / rows.length) || 1;
  });
}

// Whether one feature spreads far more than another.
function areUnlike(rows, nFeatures) {
  const spreads = spreadsOf(rows, nFeatures);
  return Math.max(...spreads) > 10 * Math.min(...spreads);
}

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

// A length of time as the command writes it.
function everyText(every, isDated) {
  if (!isDated) return String(every);
  const [seconds, unit] = UNITS.find(([length]) => every % length === 0) ?? [1, "s"];
  return `${every / seconds}${unit}`;
}

function readEvery(text, isDated) {
  const found = /^\s*([\d.]+)\s*(d|h|min|m|s)?\s*$/.exec(text);
  if (!found || !(Number(found[1]) > 0)) return NaN;
  const unit = { d: 86400, h: 3600, min: 60, m: 60, s: 1 }[found[2] ?? "s"];
  return Number(found[1]) * (isDated ? unit : 1);
}
