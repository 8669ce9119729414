// What is looked at: the batch, the cluster chosen, the axes. Every part of the page listens.

class View {
  constructor(store) {
    this.store = store;
    this.index = store.fullest;
    this.selected = null;
    [this.x, this.y] = store.header.view;
    this.tail = 10;
    this.fitsBatch = false;
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

  select(id) {
    this.set({ selected: id });
  }
}
