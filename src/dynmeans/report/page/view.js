// What is looked at: the batch, the cluster chosen, the axes. Every part of the page listens.

class View {
  constructor(store) {
    this.store = store;
    this.index = store.fullest;
    this.selected = null;
    [this.x, this.y] = store.header.view;
    this.tail = 10;
    this.fitsBatch = false;
    this.tree = store.header.families ? new FamilyTree(store.header.families) : null;
    this.level = this.tree?.start ?? 0;
    this.family = this.tree?.at(this.level) ?? ((id) => id);
    const { min_cluster_size: minSize = 1, min_life: minLife = 1 } = store.header.confirmed ?? {};
    Object.assign(this, { minSize, minLife });
    this.isPlaying = false;
    this.listeners = [];
  }

  onChange(callback) {
    this.listeners.push(callback);
  }

  set(changes) {
    const changed = new Set();
    for (const [name, value] of Object.entries(changes)) {
      if (this[name] === value) continue;
      this[name] = value;
      changed.add(name);
    }
    if (changed.has("level")) this.family = this.tree.at(this.level);
    if (changed.size) this.notify(changed);
  }

  notify(changed) {
    for (const callback of this.listeners) callback(changed);
  }

  get batch() {
    return this.store.batches[this.index];
  }

  goTo(index) {
    this.set({ index: clamp(Math.round(index), 0, this.store.last) });
  }

  // Whether a cluster held enough points, in enough batches, to be more than an outlier.
  isConfirmed(id) {
    const cluster = this.store.clusters.get(id);
    return cluster.total >= this.minSize && cluster.batches.length >= this.minLife;
  }

  select(id) {
    this.set({ selected: id });
  }
}
