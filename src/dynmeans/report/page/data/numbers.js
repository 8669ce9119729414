// Numbers: packed columns, text for people, round ticks.

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const isPlainColumn = (column) => Array.isArray(column) || ArrayBuffer.isView(column);

// A column is base64 of little-endian numbers, or a plain array (docs/report-format.md).
function readColumn(column, Type) {
  if (column instanceof Type) return column;
  if (Array.isArray(column)) return Type.from(column);
  const bytes = Uint8Array.from(atob(column), (sign) => sign.charCodeAt(0));
  return new Type(bytes.buffer);
}

// To make a format takes as long as to use it a hundred times.
const FORMATS = new Map();

function formatted(value, name, digits) {
  const key = `${name}${digits}`;
  if (!FORMATS.has(key)) FORMATS.set(key, new Intl.NumberFormat("en-GB", { [name]: digits }));
  return FORMATS.get(key).format(value);
}

function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(2);
  return size >= 1000 ? formatCount(value) : formatted(value, "maximumSignificantDigits", digits);
}

function median(values) {
  return values.sort((a, b) => a - b)[values.length >> 1];
}

function formatCount(value) {
  return formatted(Math.round(value), "maximumFractionDigits", 0);
}

function plural(n, word) {
  return `${formatCount(n)} ${word}${Math.round(n) === 1 ? "" : word.endsWith("ch") ? "es" : "s"}`;
}

// About n round numbers from low to high: 1, 2 or 5 times a power of ten apart.
function roundTicks(low, high, n) {
  const rough = (high - low) / Math.max(n, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    ticks.push(Number((k * step).toPrecision(12)));
  }
  return ticks;
}
