// What is in a cluster: its typical, border and most recent rows, its words, and its columns.

const N_EXAMPLES = 6;
const LEAST_APART = 0.2; // values for each cluster that they name
const MOST_ALIKE = [3, 0.1]; // clusters, or of the named ones, that may share a value as their name
const N_COMPARED = 8; // columns beside everyone's, hours and weekdays among them
const N_WORDS = 6;
const N_WINDOWS = 6; // of which words are shown
const WORD = /[\p{L}\p{N}_]{3,}/gu;
const ROW_KINDS = [["typical", "Typical"], ["border", "Border"], ["recent", "Most recent"]];

class ClusterRows {
  constructor(store, view, looks, text) {
    Object.assign(this, { store, view, looks, text, kind: "typical", known: new Map() });
  }

  // Rows of the cluster on the page, with where they are and how far from its center.
  of(cluster) {
    const key = `${cluster.id} ${this.view.rows.version}`;
    if (this.key !== key) {
      this.key = key;
      const { distances } = this.view.rows;
      this.rows = cluster.batches.flatMap((index, at) => {
        const batch = this.store.batches[index];
        const found = [];
        batch.slots.forEach((slot, row) => {
          if (slot === cluster.slots[at]) found.push({ id: cluster.id, batch, row, away: distances?.[batch.first + row] ?? this.away(batch, slot, row) });
        });
        return found;
      });
    }
    return this.rows;
  }

  // Where distances are not on the page, those along the axes drawn.
  away(batch, slot, row) {
    const { x, y } = this.view;
    const step = (axis) => (axis === TIME_AXIS ? 0 : (batch.points[axis][row] - batch.centers[axis][slot]) / (spanOf(this.store.limits[axis]) || 1));
    return Math.hypot(step(x), step(y));
  }

  parts(cluster) {
    const rows = this.of(cluster);
    if (!rows.length) return [];
    return [...this.words(rows, cluster), ...this.examples(rows, cluster), ...this.columns(rows)];
  }

  chosen(rows) {
    const order = { typical: (a, b) => a.away - b.away, border: (a, b) => b.away - a.away, recent: (a, b) => b.batch.index - a.batch.index || a.row - b.row };
    return [...rows].sort(order[this.kind]).slice(0, N_EXAMPLES);
  }

  examples(rows, cluster) {
    const { carried, own } = this.view.rows;
    const columns = [...carried.filter(({ kind }) => kind !== "time"), ...(carried.length ? own.slice(0, 2) : own.slice(0, 5))];
    const buttons = ROW_KINDS.map(([kind, name]) => make("button", { type: "button", class: "chip", "data-key": `rows-${kind}`, "aria-pressed": String(this.kind === kind), onclick: () => this.show(kind) }, name));
    const time = carried.find(({ kind }) => kind === "time");
    const cells = ({ batch, row }) => [this.when(batch, row, time), ...columns.map((column) => cellText(column, column.value(batch, row)))];
    const table = make("table", {},
      make("thead", {}, make("tr", {}, make("th", {}, "time"), ...columns.map(({ name }) => make("th", {}, name)))),
      make("tbody", {}, ...this.chosen(rows).map((one) => make("tr", {}, ...cells(one).map((cell) => make("td", {}, cell))))));
    const sample = rows.length < Math.round(cluster.total) ? `, ${formatCount(rows.length)} of ${formatCount(cluster.total)} kept` : "";
    return [
      make("h3", {}, `Rows${sample}`),
      make("div", { class: "chips", role: "group", "aria-label": "Rows to show" }, ...buttons),
      make("div", { class: "rows-table examples", id: "examples", tabindex: "0", role: "region", "aria-label": "Rows of the cluster" }, table),
    ];
  }

  show(kind) {
    this.kind = kind;
    this.view.notify(new Set(["examples"]));
  }

  when(batch, row, time) {
    const own = time?.values[batch.first + row];
    return this.text.short(own ? { ...batch, name: undefined, time: own } : batch);
  }

  // Words that most of its rows share, then those of its last windows.
  words(rows, cluster) {
    const column = this.view.rows.carried.find(({ kind }) => kind === "text");
    if (!column) return [];
    const everyone = this.everyone(column);
    const top = (some) => topWords(some.map(({ batch, row }) => column.value(batch, row)), everyone, N_WORDS);
    const last = [...new Set(rows.map(({ batch }) => batch))].sort((a, b) => b.index - a.index).slice(0, N_WINDOWS);
    const lines = last.map((batch) => make("li", {}, make("time", {}, `${this.text.short(batch)}: `), top(rows.filter((one) => one.batch === batch)).join(", ")));
    return [make("h3", {}, "Words"), make("p", { id: "cluster-words" }, top(rows).join(", ") || "no common words"),
      ...(cluster.batches.length > 1 ? [make("ul", { class: "window-words" }, ...lines)] : [])];
  }

  // In how many rows of the page a word is.
  everyone(column) {
    if (this.known.get("column") !== column) {
      const counts = new Map();
      for (const value of column.values) for (const word of wordsOf(value)) counts.set(word, (counts.get(word) ?? 0) + 1);
      this.known = new Map([["column", column], ["counts", counts], ["n", column.values.length]]);
    }
    return { counts: this.known.get("counts"), n: this.known.get("n") };
  }

  // Its share of each bin, beside that of all rows.
  columns(rows) {
    const { filterable } = this.view.rows;
    const clocks = filterable.filter(({ kind }) => kind === "hour" || kind === "weekday");
    const others = filterable.filter((column) => !clocks.includes(column));
    const columns = [...others.slice(0, N_COMPARED - clocks.length), ...clocks];
    if (!columns.length || rows.length < 2) return [];
    return [make("h3", {}, "Its columns compared with all rows"), make("div", { class: "compared" }, ...columns.map((column) => this.compared(column, rows)))];
  }

  compared(column, rows) {
    const bins = this.view.rows.binsOf(column);
    const own = new Uint32Array(bins.n);
    for (const { batch, row } of rows) {
      const bin = bins.of[batch.first + row];
      if (bin !== MISSING) own[bin] += 1;
    }
    const shares = (counts) => { const sum = Math.max(1, counts.reduce((a, b) => a + b, 0)); return Array.from(counts, (n) => n / sum); };
    const [mine, all] = [shares(own), shares(bins.all)];
    const most = Math.max(...mine, ...all);
    const best = mine.indexOf(Math.max(...mine));
    const label = bins.isNumber ? `${formatNumber(bins.labels[best], 3)} to ${formatNumber(bins.labels[best + 1] ?? bins.high, 3)}` : bins.labels[best];
    const words = `${label}: ${Math.round(100 * mine[best])} % of its rows, ${Math.round(100 * all[best])} % of all`;
    return make("figure", { class: "column" }, make("figcaption", {}, column.name),
      makeSvg("svg", { viewBox: "0 0 160 40", preserveAspectRatio: "none", class: "hist", role: "img", "aria-label": `${column.name}: ${words}` },
        makeSvg("path", { d: barsOf(all, most, 160, 40), class: "hist-all" }), makeSvg("path", { d: barsOf(mine, most, 160, 40), class: "hist-own", fill: this.looks.color(rows[0].id) })),
      make("p", { class: "hint" }, words));
  }
}

function cellText(column, value) {
  if (value === null || value === undefined) return "";
  return typeof value === "number" ? formatNumber(value, 6) : String(value);
}

const wordsOf = (text) => new Set((text ?? "").toLowerCase().match(WORD) ?? []);

// Words that at least a fifth of the texts share and that are twice as frequent as elsewhere, the most telling first.
function topWords(texts, { counts, n }, most) {
  const own = new Map();
  for (const text of texts) for (const word of wordsOf(text)) own.set(word, (own.get(word) ?? 0) + 1);
  const least = Math.max(Math.min(2, texts.length), 0.2 * texts.length);
  const found = [...own].filter(([, k]) => k >= least).map(([word, k]) => {
    const [here, elsewhere] = [k / texts.length, (counts.get(word) - k + 0.5) / Math.max(1, n - texts.length)];
    return [word, here * Math.log(here / elsewhere), here / elsewhere];
  });
  return found.filter(([, , times]) => times >= 2).sort((a, b) => b[1] - a[1]).slice(0, most).map(([word]) => word);
}

// The value of a category that more than half of a cluster's rows share, where clusters have no names;
// only of columns that tell most of the clusters apart, and no value that many clusters share. Numbers stand behind the name of their column.
function sharedValues(store, rows) {
  const named = store.header.cluster_names ?? {};
  const columns = rows.carried.filter(({ kind }) => kind === "category" || kind === "id");
  const found = new Map();
  for (const column of columns) {
    const counts = new Map();
    store.eachRow((batch, row, at) => {
      const [id, value] = [rows.owner[at], column.values[at]];
      if (id < 0 || value === null || value === undefined || id in named || found.has(id)) return;
      if (!counts.has(id)) counts.set(id, new Map());
      counts.get(id).set(value, (counts.get(id).get(value) ?? 0) + 1);
    });
    const shared = [...counts].flatMap(([id, values]) => {
      const sum = [...values.values()].reduce((a, b) => a + b, 0);
      const [value, n] = [...values].reduce((best, one) => (one[1] > best[1] ? one : best));
      return 2 * n > sum && n > 1 ? [[id, value]] : [];
    });
    const users = new Map();
    for (const [, value] of shared) users.set(value, (users.get(value) ?? 0) + 1);
    if (users.size < 2 || users.size < LEAST_APART * shared.length) continue;
    const most = Math.max(MOST_ALIKE[0], MOST_ALIKE[1] * shared.length);
    for (const [id, value] of shared) {
      if (users.get(value) > most) continue;
      const text = /^[\d.]+$/.test(value) ? `${column.name} ${value}` : String(value);
      found.set(id, users.get(value) > 1 ? `${shortName(text)} (${id})` : text);
    }
  }
  return found;
}
