// What is set apart: the level of families, and the clusters too small or short-lived to be confirmed.

const MAX_FAMILIES = 60;

class Filters {
  constructor(store, view) {
    Object.assign(this, { store, view });
    this.level = byId("level");
    this.level.addEventListener("input", () => view.set({ level: Number(this.level.value) }));
    for (const [id, name] of [["min-size", "minSize"], ["min-batches", "minLife"]]) {
      byId(id).addEventListener("input", (event) => view.set({ [name]: Math.max(1, Number(event.target.value) || 1) }));
    }
    this.family = byId("only-family");
    this.family.addEventListener("change", () => view.set({ onlyFamily: this.family.value === "" ? null : Number(this.family.value) }));
    byId("lives-find").addEventListener("input", (event) => this.find(event.target.value));
    view.onChange((changed) => {
      if (["level", "minSize", "minLife", "onlyFamily"].some((name) => changed.has(name))) this.draw();
    });
    store.onAppend(() => this.draw());
    this.draw();
  }

  // All that match are listed and counted; the best is chosen: a number, then words that begin so.
  find(text) {
    const { store, view } = this;
    const hits = view.rows.search(text);
    view.set({ search: text });
    const isEmpty = text.trim() === "";
    const ids = [...store.clusters.values()].flatMap(({ id, batches }) => (batches.length ? [id] : []));
    const found = isEmpty ? [] : ids.filter((id) => (view.isConfirmed(id) || String(id) === text.trim()) && store.matches(id, text));
    found.sort((a, b) => store.rank(a, text) - store.rank(b, text) || store.clusters.get(b).total - store.clusters.get(a).total || a - b);
    const inRows = hits?.n ? `${view.rows.countText(hits.n)} in ${plural(hits.nClusters, "cluster")}` : "";
    const inNames = found.length ? `${formatCount(found.length)} found` : inRows ? "no name" : "nothing found";
    const named = found.length ? ` · in the name of ${formatCount(found.length)}` : "";
    byId("found").textContent = isEmpty ? "" : inRows ? `${inRows}${named}` : inNames;
    const whole = /^\d+$/.test(text.trim()) && !store.clusters.has(Number(text)) ? store.wholeOf?.(Number(text)) : null;
    if (typeof whole === "number") {
      byId("found").textContent = whole < 0 ? `${text.trim()} is noise at this level` : `${text.trim()} is a part of ${store.fullName(whole)}`;
      view.set({ selected: whole < 0 ? null : whole, region: null });
    } else if (found.length) view.set({ selected: found[0], region: null });
  }

  draw() {
    const { view, store } = this;
    for (const [id, value] of [["min-size", view.minSize], ["min-batches", view.minLife]]) {
      if (Math.max(1, Number(byId(id).value)) !== value) byId(id).value = value;
    }
    const ids = [...store.clusters.keys()];
    const confirmed = ids.filter((id) => view.isConfirmed(id));
    const left = ids.length - confirmed.length;
    byId("unconfirmed").textContent = left ? `${formatCount(left)} unconfirmed` : "";
    byId("legend-unconfirmed").hidden = left === 0;
    byId("families-part").hidden = view.tree === null;
    byId("order-family").hidden = byId("order-family").disabled = view.tree === null;
    if (!view.tree) return;
    this.level.max = view.tree.levels.length - 1;
    this.level.value = view.level;
    this.drawFamilies(confirmed);
    const n = new Set(confirmed.map(view.family)).size;
    const text = this.levelText(n);
    byId("level-now").textContent = text;
    this.level.setAttribute("aria-valuetext", text);
    this.level.style.setProperty("--done", `${(100 * view.level) / Math.max(1, view.tree.levels.length - 1)}%`);
  }

  levelText(n) {
    const { tree, level } = this.view;
    if (level === 0) return `${plural(n, "cluster")}, not merged`;
    const height = tree.levels[level];
    const how = height <= 0 ? "where they touch" : `up to ${formatNumber(Math.sqrt(height), 3)} apart`;
    return `merged ${how}: ${formatCount(n)} ${n === 1 ? "family" : "families"}`;
  }

  // The largest families of the level to choose from.
  drawFamilies(ids) {
    const { view } = this;
    const sizes = new Map();
    for (const id of ids) sizes.set(view.family(id), (sizes.get(view.family(id)) ?? 0) + 1);
    const listed = [...sizes].filter(([family, n]) => n > 1 || family === view.onlyFamily).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MAX_FAMILIES);
    const options = listed.map(([family, n]) => make("option", { value: family }, `family ${family} (${n})`));
    this.family.replaceChildren(make("option", { value: "" }, "all"), ...options);
    this.family.value = view.onlyFamily ?? "";
  }
}
