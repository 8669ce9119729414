// Files as tables: CSV, JSON lines, JSON, Parquet. Everything is read here, in the page.

// Columns by name, each an array of one value for each row; text stays text.
async function readTable(name, buffer) {
  if (/\.parquet$/i.test(name) || isParquet(buffer)) return tableOfObjects(await parquet.readRows(buffer));
  const text = new TextDecoder().decode(buffer).replace(/^\ufeff/, "");
  const start = text.trimStart()[0];
  if (start === "[") return tableOfObjects(JSON.parse(text));
  if (start === "{") return tableOfObjects(text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line)));
  return tableOfLines(parseCsv(text));
}

function isParquet(buffer) {
  return new TextDecoder().decode(buffer.slice(0, 4)) === "PAR1";
}

function tableOfObjects(rows) {
  if (!rows.length) throw new Error("the file has no rows");
  const names = [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))];
  return { nRows: rows.length, columns: new Map(names.map((name) => [name, rows.map((row) => plain(row[name]))])) };
}

function plain(value) {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.toISOString();
  return value ?? "";
}

function tableOfLines([first, ...lines]) {
  if (!first || !lines.length) throw new Error("the file has no rows below its first line");
  const names = first.values.map((name, at) => name.trim() || `column ${at + 1}`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new Error(`two columns are named "${twice}": rename one`);
  const odd = lines.find(({ values }) => values.length !== names.length);
  if (odd) throw new Error(`line ${odd.number} has ${plural(odd.values.length, "value")}, and the first line has ${names.length}`);
  return { nRows: lines.length, columns: new Map(names.map((name, at) => [name, lines.map(({ values }) => values[at])])) };
}

// The separator that splits the first line most often.
function separatorOf(text) {
  const line = text.slice(0, text.indexOf("\n") + 1 || undefined);
  return [",", ";", "\t", "|"].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
}

// Rows with the number of the line that each begins in.
function parseCsv(text) {
  const separator = separatorOf(text);
  const rows = [];
  let [row, at, line, begin] = [[], 0, 1, 1];
  while (at < text.length) {
    let end = at;
    if (text[at] === '"') {
      end = endOfQuoted(text, at + 1, line);
      row.push(text.slice(at + 1, end - 1).replaceAll('""', '"'));
      line += text.slice(at, end).split("\n").length - 1;
      if (end < text.length && ![separator, "\n", "\r"].includes(text[end])) throw new Error(`line ${line} has text behind a closing quote`);
    } else {
      while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
      row.push(text.slice(at, end));
    }
    at = end;
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) row.push("");
      else continue;
    }
    while (text[at] === "\r" || text[at] === "\n") {
      line += text[at] === "\n";
      at += 1;
    }
    if (row.length > 1 || row[0] !== "") rows.push({ number: begin, values: row });
    [row, begin] = [[], line];
  }
  return rows;
}

// Where a value in quotes ends, in which two stand for one.
function endOfQuoted(text, from, line) {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  if (at < 0) throw new Error(`a quote that opens in line ${line} is never closed`);
  return at + 1;
}

const asNumber = (value) => (typeof value === "number" ? value : value === "" || typeof value !== "string" ? NaN : Number(value));

const CLOCK = String.raw`(?:[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(Z|[+-]\d\d:?\d\d)?$`;
const YEAR_FIRST = new RegExp(String.raw`^\s*(\d{4})-(\d\d?)(?:-(\d\d?))?${CLOCK}`);
const YEAR_LAST = new RegExp(String.raw`^\s*(\d\d?)[/.](\d\d?)[/.](\d{4})${CLOCK}`);

// Functions from a value to seconds since 1970, by the order in which its dates are written; NaN
// where there is no such day. Dates without a zone are taken as they are.
const DATES = {
  ymd: (value) => secondsOf(YEAR_FIRST.exec(value), [1, 2, 3]),
  dmy: (value) => secondsOf(YEAR_LAST.exec(value), [3, 2, 1]),
  mdy: (value) => secondsOf(YEAR_LAST.exec(value), [3, 1, 2]),
};

function secondsOf(found, [year, month, day]) {
  if (!found) return NaN;
  const [y, m, d] = [Number(found[year]), Number(found[month]), Number(found[day] ?? 1)];
  const [hours, minutes, seconds] = [4, 5, 6].map((at) => Number(found[at] ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(y, m - 1, d);
  const isDay = date.getUTCFullYear() === y && date.getUTCMonth() === m - 1 && date.getUTCDate() === d;
  if (!isDay || hours > 23 || minutes > 59 || seconds > 59) return NaN;
  const fraction = Number(`0.${found[7] ?? 0}`);
  return date.getTime() / 1000 + 3600 * hours + 60 * minutes + seconds + fraction - offsetOf(found[8]);
}

function offsetOf(zone) {
  if (!zone || zone === "Z") return 0;
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  return (sign === "-" ? -1 : 1) * (3600 * Number(hours) + 60 * Number(minutes));
}
