// What the page says once: its key numbers, the parameters, the scores, what is left out.

class Facts {
  constructor(store, text) {
    Object.assign(this, { store, text });
    this.before = this.unshown();
    store.onAppend(() => this.drawNumbers());
    this.draw();
  }

  draw() {
    const { store } = this;
    byId("title").textContent = store.header.title;
    this.drawNumbers();
    this.drawPairs("parameters", store.header.parameters.map(([name, value]) => [name, "", value]));
    this.drawPairs("scores", store.header.scores.map(({ name, value, meaning }) => [scoreName(name), meaning, scoreText(name, value)]));
    const reason = store.header.engine?.reason; // why there is no panel to try other scales
    const notes = [...store.header.notes, ...(reason ? [reason] : []), ...editNotes(store)];
    byId("notes").replaceChildren(...notes.map((note) => make("li", {}, note)));
    byId("notes").hidden = notes.length === 0;
  }

  // Points, batches and returns on this page.
  counted() {
    const { batches, events } = this.store;
    const points = batches.reduce((sum, batch) => sum + batch.nPoints, 0);
    return [points, batches.length, events.filter((event) => event.kind === "returned").length];
  }

  // The same of the run before what the page shows.
  unshown() {
    const shown = this.counted();
    return (this.store.header.totals ?? shown).map((n, i) => Math.max(n - shown[i], 0));
  }

  // The numbers that the header and the summary have, at the level that is shown.
  get n() {
    const { batches, header, last, clusters, nShown } = this.store;
    const [points, nBatches, returns] = this.counted().map((count, i) => count + this.before[i]);
    return { points, batches: nBatches, clusters: nShown ?? Math.max(header.n_clusters, clusters.size), last: batches[last]?.nSeen ?? 0, returns };
  }

  drawNumbers() {
    const { header, batches, last } = this.store;
    const { n } = this;
    const numbers = [
      ["points", formatCount(n.points)],
      ["batches", formatCount(n.batches)],
      ["clusters", formatCount(n.clusters)],
      ["in the last batch", formatCount(n.last)],
      ["returns", formatCount(n.returns)],
      ...this.excluded(),
      ...this.lag(),
      ...header.scores.filter(({ name }) => name in HEADLINES).map(({ name, value }) => [HEADLINES[name], value === null ? "–" : `${(100 * value).toFixed(1)} %`]),
    ];
    byId("numbers").replaceChildren(...numbers.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
    byId("period").textContent = `${this.text.batch(batches[0])} – ${this.text.batch(batches[last])}`;
    byId("period-name").textContent = this.text.prefix;
  }

  // Rows of noise and rows left out, and unconfirmed clusters, at the level that is shown.
  excluded() {
    const { header, noiseShare } = this.store;
    if (!header.counts) return [];
    const { n_rows: nRows, n_noise: nNoise, n_unconfirmed: nUnconfirmed, n_left_out: nLeftOut } = header.counts;
    const noise = noiseShare === undefined ? nNoise : Math.round(noiseShare * nRows);
    return [
      ...(header.isTrial ? [] : [["rows of noise", `${formatCount(noise)} (${formatNumber((100 * noise) / Math.max(1, nRows), 2)} %)`]]),
      ...(header.isTrial || !nUnconfirmed ? [] : [["unconfirmed clusters", formatCount(nUnconfirmed)]]),
      ...(nLeftOut ? [["rows left out", formatCount(nLeftOut)]] : []),
    ];
  }

  // How far a live page is behind the clock.
  lag() {
    const { batches, last, header } = this.store;
    if (!document.documentElement.dataset.run || !header.is_dated) return [];
    return [["behind now", durationText(Math.max(0, Date.now() / 1000 - batches[last].time))]];
  }

  drawPairs(id, rows) {
    byId(`${id}-part`).hidden = rows.length === 0;
    byId(id).replaceChildren(...rows.map(([name, meaning, value]) => {
      const hint = meaning ? [make("span", { class: "hint" }, meaning)] : [];
      return make("div", {}, make("dt", {}, name, ...hint), make("dd", {}, value));
    }));
  }
}

function durationText(seconds) {
  const steps = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const [size, unit] = steps.find(([length]) => seconds >= length) ?? [1, "s"];
  return `${formatCount(seconds / size)} ${unit}`;
}

// What people changed in what is shown.
function editNotes({ merged, pinned }) {
  return [
    ...(merged.size ? [`${plural(merged.size, "cluster")} merged manually.`] : []),
    ...(pinned.size ? [`${plural(pinned.size, "cluster")} pinned: always shown as confirmed.`] : []),
  ];
}

const HEADLINES = { accuracy_per_step: "grouped correctly", accuracy_global: "ID kept" };
const COUNTS = ["id_switches", "fragmentations"];

function scoreName(name) {
  return name.replaceAll("_", " ").replace(/\b(idf1|hota|assa|deta|ari|id)\b/g, (word) => word.toUpperCase());
}

function scoreText(name, value) {
  if (value === null) return "–";
  return COUNTS.includes(name) ? formatCount(value) : value.toFixed(3);
}
