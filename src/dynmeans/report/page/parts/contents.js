// The table of contents: all clusters, the largest first, nested by family; each moves the picture.

const N_CONTENTS = 40; // of a level at once

class Contents {
  constructor(store, view, looks, player) {
    Object.assign(this, { store, view, looks, player, nShown: N_CONTENTS, open: new Set() });
  }

  parts() {
    const { view } = this;
    const groups = this.groups();
    const shown = groups.slice(0, this.nShown);
    const more = groups.length - shown.length;
    return [
      make("p", { class: "hint" }, `${plural(groups.reduce((n, { ids }) => n + ids.length, 0), "cluster")}, ${view.rows.isActive ? "sorted by share of filtered rows" : "the largest first"}. Choosing one moves the picture.`),
      make("ul", { class: "contents", id: "contents" }, ...shown.map((group) => this.entry(group))),
      ...(more > 0 ? [make("button", { type: "button", class: "plain", "data-key": "more", onclick: () => this.showMore() }, `${formatCount(more)} more`)] : []),
    ];
  }

  showMore() {
    this.nShown *= 3;
    this.view.notify(new Set(["examples"]));
  }

  // Families of the level, with their listed clusters; a cluster on its own is a family of one.
  groups() {
    const { store, view } = this;
    const families = new Map();
    for (const { id, batches, total } of store.clusters.values()) {
      if (!batches.length || !view.isListed(id)) continue;
      const size = view.rows.isActive ? view.rows.count(id) : total;
      const family = view.family(store.shownAs(id));
      if (!families.has(family)) families.set(family, { family, ids: [], total: 0, rank: 0, largest: id, most: -1 });
      const group = families.get(family);
      group.ids.push(id);
      group.total += size;
      group.rank += view.rows.isActive ? view.rows.excess(id) : size;
      if (size > group.most) Object.assign(group, { largest: id, most: size });
    }
    return [...families.values()].sort((a, b) => b.rank - a.rank || a.family - b.family);
  }

  entry({ family, ids, total, largest }) {
    if (ids.length === 1) return make("li", {}, this.button(ids, ids[0], total));
    const isOpen = this.open.has(family);
    const { rows } = this.view;
    const sizeOf = (id) => (rows.isActive ? rows.count(id) : this.store.clusters.get(id).total);
    const toggle = make("button", { type: "button", class: "quiet fold", "data-key": `fold-${family}`, "aria-expanded": String(isOpen), "aria-label": `Clusters of family ${family}` }, isOpen ? "▾" : "▸");
    toggle.addEventListener("click", () => {
      if (!this.open.delete(family)) this.open.add(family);
      this.view.notify(new Set(["examples"]));
    });
    const order = isOpen ? [...ids].sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, N_CONTENTS) : [];
    const inner = isOpen ? [make("ul", {}, ...order.map((id) => make("li", {}, this.button([id], id, sizeOf(id)))))] : [];
    return make("li", {}, make("div", { class: "contents-group" }, toggle, this.button(ids, largest, total)), ...inner);
  }

  button(ids, id, total) {
    const { store, looks, view } = this;
    const name = ids.length > 1 ? `${store.label(id)} and ${formatCount(ids.length - 1)} more` : store.label(id);
    const button = make("button", { type: "button", class: "size entry", "data-key": `entry-${ids.length > 1 ? "family-" : ""}${id}`, onclick: () => this.choose(ids, id) },
      make("span", { class: "row-name" }, looks.badge(id), unseen(ids.length > 1 || name !== String(id) ? "" : "Cluster "), name),
      make("span", { class: "value" }, this.sizeText(ids, total), unseen(" points")));
    button.classList.toggle("is-now", ids.some((one) => slotOf(view.batch, one) >= 0));
    return button;
  }

  // All points, or those of the filtered rows among the rows on the page.
  sizeText(ids, total) {
    const { rows } = this.view;
    return rows.isActive ? `${formatCount(total)} of ${formatCount(rows.nOf(ids))}` : formatCount(total);
  }

  // To the last batch with any of them, if none is in this one, and to where they are.
  choose(ids, id) {
    const { store, view } = this;
    const isHere = ids.some((one) => store.clusters.get(one).status(view.index) === "seen");
    const last = ids.reduce((most, one) => Math.max(most, store.clusters.get(one).batches.at(-1)), 0);
    view.set({ isPlaying: false });
    if (!isHere) view.goTo(last);
    this.player.lookAt(ids);
    if (ids.length === 1) view.select(id);
  }
}
