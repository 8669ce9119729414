// Three answers to choose from, fine, default and coarse, and the page regrouped by the one chosen.

const COARSE_FAMILIES = 3; // in a batch, about, where the run gives no levels of its own

class Levels {
  constructor(store, view) {
    Object.assign(this, { store, view, base: null, name: "fine", areMatched: false });
    this.read();
  }

  // Those of the run, or of its tree of families; none where there is nothing to choose.
  read() {
    const { levels } = this.store.header;
    this.options = levels ? levels.options.map((option) => ({ ...option, of: mapped(option.clusters) })) : this.ofTree();
    this.chosen = levels?.chosen ?? null;
    // Whether the run joins subclusters to clusters: a preview, which does not, has more.
    this.isJoinedRun = (this.chosen ?? "fine") !== "fine" || (this.view.tree?.start ?? 0) > 0;
  }

  ofTree() {
    const { tree } = this.view;
    if (!tree || tree.levels.length < 3) return [];
    const { batches } = this.store;
    const full = batches[this.store.lastFull];
    const familiesAt = (row) => new Set(Array.from(full.ids, tree.at(row))).size;
    const normal = tree.joinedRow;
    let coarse = normal + 1;
    while (coarse < tree.levels.length - 1 && familiesAt(coarse) > COARSE_FAMILIES) coarse += 1;
    const option = (name, row) => {
      const of = tree.at(row);
      const ids = [...this.store.clusters.keys()];
      const [n, nSeen] = [new Set(ids.map(of)).size, batches.reduce((sum, batch) => sum + new Set(Array.from(batch.ids, of)).size, 0)];
      return { name, row, of, n_clusters: n, n_per_window: nSeen / batches.length, sentence: `${plural(n, "cluster")}, ${formatNumber(nSeen / batches.length, 3)} in a batch.` };
    };
    if (coarse >= tree.levels.length) return [];
    return [option("fine", 0), option("default", normal), option("coarse", coarse)];
  }

  option(name) {
    return this.options.find((one) => one.name === name) ?? null;
  }

  // All parts of the page show the clusters of this level; the finest are those of the run's columns.
  choose(name) {
    const option = this.option(name);
    if (!option || name === this.name) return;
    this.name = name;
    this.apply();
    this.view.notify(new Set(["levelName", "index"]));
  }

  // Clusters born where a forgotten one had been are shown as that one, or apart again.
  matchAgain(areMatched) {
    this.areMatched = areMatched;
    this.apply();
    this.view.notify(new Set(["levelName", "index"]));
  }

  // From a cluster of the run's columns to the one shown.
  get shown() {
    const of = this.levelOf;
    if (!this.areMatched) return of;
    const { pairs } = this;
    return (id) => pairs.get(of(id)) ?? of(id);
  }

  get levelOf() {
    return this.option(this.name)?.of ?? ((id) => id);
  }

  // From a cluster to the one it is shown as: at most two together, of which the one was last seen
  // before the other. Chains would put most of a run into one cluster.
  get pairs() {
    const of = this.levelOf;
    const ends = new Map();
    for (const { id, batches } of (this.base ?? this.store).clusters.values()) {
      if (!batches.length) continue;
      const [first, last] = ends.get(of(id)) ?? [Infinity, -Infinity];
      ends.set(of(id), [Math.min(first, batches[0]), Math.max(last, batches.at(-1))]);
    }
    const [pairs, taken] = [new Map(), new Set([NOISE])];
    for (const [old, young] of this.store.header.suggested_matches ?? []) {
      const [a, b] = [of(old), of(young)];
      if (a === b || taken.has(a) || taken.has(b) || !ends.has(a) || !ends.has(b) || ends.get(a)[1] >= ends.get(b)[0]) continue;
      pairs.set(b, a);
      taken.add(a).add(b);
    }
    return pairs;
  }

  apply() {
    const { store, view } = this;
    const { batches, clusters, events, largest } = this.base ?? store;
    this.base = { batches, clusters, events, largest };
    const of = this.shown;
    const isFine = !this.option(this.name) || this.name === "fine" && Object.keys(this.store.header.levels?.options[0]?.clusters ?? {}).length === 0;
    const isSame = isFine && !this.areMatched;
    Object.assign(store, isSame ? this.base : regrouped(store, this.base, of));
    if (isSame) this.base = null;
    store.nShown = isSame ? null : this.countShown(clusters.size);
    store.noiseShare = this.name === this.chosen ? undefined : this.option(this.name)?.noise;
    store.wholeOf = (id) => (this.base?.clusters.has(id) ? of(id) : null);
    if (view.selected !== null && !store.clusters.has(view.selected)) {
      const now = of(view.selected);
      view.selected = store.clusters.has(now) ? now : null;
    }
    store.notify();
  }

  // Clusters in all; those of the run where the page has room for the largest only.
  countShown(nOfRun) {
    const { store } = this;
    const isPart = nOfRun < store.header.n_clusters && !this.areMatched;
    return Math.max(store.clusters.size, isPart ? this.option(this.name)?.n_clusters ?? 0 : 0);
  }

  // The clusters of the run's columns that are shown as this one.
  membersOf(id) {
    if (!this.base) return [id];
    const of = this.shown;
    return [...this.base.clusters.keys()].filter((member) => of(member) === id);
  }

  // The clusters of the run itself, for a trial, and back again.
  release() {
    if (this.base) Object.assign(this.store, this.base);
    Object.assign(this, { base: null });
    this.store.nShown = null;
  }

  // Batches that come are those of the finest level.
  append(chunk, add) {
    if (!this.base || this.store.header.isTrial) return add(chunk);
    Object.assign(this.store, this.base);
    this.base = null;
    const { listeners } = this.store;
    this.store.listeners = [];
    add(chunk);
    this.store.listeners = listeners;
    return this.apply();
  }
}

function mapped(clusters) {
  const known = new Map(Object.entries(clusters).map(([id, shown]) => [Number(id), shown]));
  return (id) => known.get(id) ?? id;
}
