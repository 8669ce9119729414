// What is set apart: the level of families, and the clusters too small or short-lived to be confirmed.

class Filters {
  constructor(store, view) {
    Object.assign(this, { store, view });
    this.level = byId("level");
    byId("families-part").hidden = view.tree === null;
    byId("order-family").hidden = byId("order-family").disabled = view.tree === null;
    this.level.addEventListener("input", () => view.set({ level: Number(this.level.value) }));
    for (const [id, name] of [["min-size", "minSize"], ["min-life", "minLife"]]) {
      byId(id).addEventListener("input", (event) => view.set({ [name]: Math.max(1, Number(event.target.value) || 1) }));
    }
    view.onChange((changed) => {
      if (["level", "minSize", "minLife"].some((name) => changed.has(name))) this.draw();
    });
    store.onAppend(() => this.draw());
    this.draw();
  }

  draw() {
    const { view, store } = this;
    for (const [id, value] of [["min-size", view.minSize], ["min-life", view.minLife]]) {
      if (Math.max(1, Number(byId(id).value)) !== value) byId(id).value = value;
    }
    const ids = [...store.clusters.keys()];
    const confirmed = ids.filter((id) => view.isConfirmed(id));
    const left = ids.length - confirmed.length;
    byId("unconfirmed").textContent = left ? `${formatCount(left)} unconfirmed` : "";
    byId("legend-unconfirmed").hidden = left === 0;
    if (!view.tree) return;
    this.level.max = view.tree.levels.length - 1;
    this.level.value = view.level;
    const n = new Set(confirmed.map(view.family)).size;
    const text = view.level === 0 ? `${plural(n, "cluster")}, nothing joined` : `level ${formatNumber(view.tree.levels[view.level], 3)}: ${n} ${n === 1 ? "family" : "families"}`;
    byId("level-now").textContent = text;
    this.level.setAttribute("aria-valuetext", text);
    this.level.style.setProperty("--done", `${(100 * view.level) / Math.max(1, view.tree.levels.length - 1)}%`);
  }
}
