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

function tableOfLines([names, ...lines]) {
  if (!names || !lines.length) throw new Error("the file has no rows below its first line");
  return { nRows: lines.length, columns: new Map(names.map((name, at) => [name.trim() || `column ${at + 1}`, lines.map((line) => line[at] ?? "")])) };
}

// The separator that splits the first line most often.
function separatorOf(text) {
  const line = text.slice(0, text.indexOf("\n") + 1 || undefined);
  return [",", ";", "\t", "|"].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
}

function parseCsv(text) {
  const separator = separatorOf(text);
  const rows = [];
  let [row, at] = [[], 0];
  while (at < text.length) {
    let value;
    if (text[at] === '"') [value, at] = quoted(text, at + 1);
    else {
      let end = at;
      while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r") end += 1;
      [value, at] = [text.slice(at, end), end];
    }
    row.push(value);
    if (text[at] === separator) {
      at += 1;
      if (at === text.length) row.push("");
      continue;
    }
    while (text[at] === "\r" || text[at] === "\n") at += 1;
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

// A value in quotes, in which two stand for one; and where it ends.
function quoted(text, from) {
  let [value, at] = ["", from];
  while (at < text.length) {
    const end = text.indexOf('"', at);
    if (end < 0) return [value + text.slice(at), text.length];
    value += text.slice(at, end);
    if (text[end + 1] !== '"') return [value, end + 1];
    value += '"';
    at = end + 2;
  }
  return [value, at];
}

const asNumber = (value) => (typeof value === "number" ? value : value === "" || typeof value !== "string" ? NaN : Number(value));

// Seconds since 1970. Dates without a zone are taken as they are.
function asSeconds(value) {
  if (typeof value !== "string" || !/^\d{4}-\d\d?(-\d\d?|$)|^\d\d?\/\d\d?\/\d{4}/.test(value)) return NaN;
  const iso = value.trim().replace(" ", "T");
  const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(iso);
  return Date.parse(hasZone ? iso : /^\d{4}-\d\d-\d\d$/.test(iso) ? `${iso}T00:00:00Z` : `${iso}Z`) / 1000;
}
