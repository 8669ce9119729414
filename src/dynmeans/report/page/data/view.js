// What is looked at: the batch, the cluster chosen, the axes. Every part of the page listens.

const READING = 250; // milliseconds

const TAIL = 10; // batches
const MOST_TAILS = 100; // clusters with a tail: of more, tails hide the points

function usualTail({ batches, lastFull }) {
  const recent = batches.slice(Math.max(0, lastFull - TAIL), lastFull + 1);
  return new Set(recent.flatMap(({ ids }) => Array.from(ids))).size > MOST_TAILS ? 0 : TAIL;
}

class View {
  constructor(store) {
    this.store = store;
    this.listeners = [];
    this.index = store.lastFull;
    this.selected = null;
    [this.x, this.y] = store.header.initial_axes;
    this.tail = TAIL;
    this.isYDown = Boolean(store.header.y_down); // as pixels of a picture are counted
    this.fitsBatch = false;
    this.readFamilies();
    const { min_cluster_size: minSize = 1, min_batches: minLife = 1 } = store.header.confirmed ?? {};
    Object.assign(this, { minSize, minLife });
    this.onlyFamily = null; // the family looked at, if one is
    this.search = ""; // the clusters looked for
    this.camera = null; // the part of the plane looked at, if not the whole
    this.region = null; // the part of it whose rows are selected
    this.speed = 4; // batches a second
    this.isPlaying = false;
    this.colorBy = ""; // the column that colors the points, if not their cluster
    this.nShown = 1; // batches whose points are drawn, up to the one looked at
    this.loops = false;
    this.rows = new Rows(store, this);
  }

  // Takes the tree of the header; a level chosen before is kept.
  readFamilies() {
    const level = this.tree?.levels[this.level];
    const { families } = this.store.header;
    this.tree = families ? new FamilyTree(families) : null;
    this.level = (level === undefined ? this.tree?.start : this.tree?.rowOfLevel(level)) ?? 0;
    this.family = this.tree?.at(this.level) ?? ((id) => id);
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
    // A part of one plane is none of another.
    if (changed.has("x") || changed.has("y")) Object.assign(this, { camera: null, region: null });
    if (changed.has("x") || changed.has("y")) changed.add("camera");
    if (changed.size) this.notify(changed);
  }

  notify(changed) {
    for (const callback of this.listeners) callback(changed);
  }

  get batch() {
    return this.store.batches[this.index];
  }

  // Calls back at once, or a few times a second while the page plays: text cannot be read faster.
  nowAndThen(callback) {
    let last = -Infinity;
    const ask = oncePerFrame(() => {
      const now = performance.now();
      if (this.isPlaying && now - last < READING) return;
      last = now;
      callback();
    });
    return ask;
  }

  goTo(index) {
    this.set({ index: clamp(Math.round(index), 0, this.store.last) });
  }

  // Whether a cluster held enough points, in enough batches, to be more than an outlier.
  isConfirmed(id) {
    const cluster = this.store.clusters.get(id);
    return this.store.isPinned(id) || (cluster.total >= this.minSize && cluster.batches.length >= this.minLife);
  }

  // Whether a cluster is among those looked at.
  isWanted(id) {
    return this.onlyFamily === null || id < 0 || this.family(id) === this.onlyFamily;
  }

  // Whether nothing keeps a cluster out of lists.
  get listsAll() {
    return this.minSize <= 1 && this.minLife <= 1 && this.onlyFamily === null && this.search === "" && !this.rows.isActive;
  }

  // Whether a cluster belongs in lists.
  isListed(id) {
    if (id === this.selected) return true;
    if (!this.isConfirmed(id) || !this.isWanted(id)) return false;
    const { rows } = this;
    return (!rows.isActive || rows.count(id) > 0) && (rows.dimensions.has("search") || this.store.matches(id, this.search));
  }

  select(id) {
    this.set({ selected: id });
  }
}
