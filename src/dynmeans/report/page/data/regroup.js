// The same batches with clusters put together: what a page shows at another level.

const NOISE = -1;

// New batches, clusters and events, in which each cluster is the one that `shown` gives for it.
function regrouped(store, base, shown) {
  const [clusters, events] = [new Map(), []];
  const cluster = (id) => {
    if (!clusters.has(id)) clusters.set(id, new Cluster(id));
    return clusters.get(id);
  };
  let largest = 1;
  const batches = base.batches.map((old) => {
    const batch = groupedBatch(store, old, shown);
    batch.clusters = Array.from(batch.ids, cluster);
    batch.clusters.forEach((one, slot) => one.see(batch, slot));
    largest = batch.counts.reduce((most, count) => Math.max(most, count), largest);
    return batch;
  });
  const lives = new GroupLives(shown);
  base.batches.forEach((old, index) => {
    const batch = batches[index];
    const nRemembered = lives.takeIn(old);
    if (base.batches[0].step === 0) batch.nRemembered = nRemembered;
    const kinds = store.header.event_kinds;
    batch.events = lives.events(old, batch).sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || a.id - b.id);
    for (const event of batch.events) {
      events.push(event);
      cluster(event.id).events.push(event);
    }
  });
  return { batches, clusters, events, largest };
}

// When groups were last seen, and which of their members are remembered: as in the tables of a run.
class GroupLives {
  constructor(shown) {
    Object.assign(this, { shown, last: new Map(), before: new Set(), remembered: new Map(), forgotten: [] });
  }

  // Returns how many groups are remembered after a batch.
  takeIn({ ids, events }) {
    for (const id of ids) {
      const group = this.shown(id);
      if (group === NOISE) continue;
      if (!this.remembered.has(group)) this.remembered.set(group, new Set());
      this.remembered.get(group).add(id);
    }
    this.forgotten = [];
    for (const { kind, id } of events) {
      const group = this.shown(id);
      const members = this.remembered.get(group);
      if (kind !== "forgotten" || !members?.delete(id) || members.size) continue;
      this.remembered.delete(group);
      this.forgotten.push(group);
    }
    return this.remembered.size;
  }

  events(old, batch) {
    const seen = new Set(batch.ids);
    const event = (kind, id, more) => ({ batch, kind, id, other: -1, gap: NaN, displacement: NaN, ...more });
    const isGone = (id) => this.before.has(id) && !seen.has(id);
    const known = this.knownBefore(old);
    const isNew = (id) => !this.last.has(id) && !known.has(id);
    const found = [];
    for (const id of batch.ids) {
      if (isNew(id)) found.push(event("born", id));
      else if (!this.before.has(id) && this.last.has(id)) found.push(event("returned", id, { gap: batch.clock - this.last.get(id) }));
      else if (known.get(id)) found.push(event("returned", id, { gap: known.get(id) }));
    }
    for (const id of this.before) if (isGone(id)) found.push(event("vanished", id));
    for (const id of this.forgotten) found.push(event("forgotten", id));
    const pairs = new Set(); // several subclusters may go into the same cluster at once
    for (const { kind, id, other, ...fields } of old.events) {
      if (kind !== "split" && kind !== "merged") continue;
      const [one, two] = [this.shown(id), this.shown(other)];
      const pair = `${kind} ${one} ${two}`;
      const isWhole = kind === "split" ? seen.has(one) && isNew(one) : isGone(one);
      if (!isWhole || two === NOISE || pairs.has(pair)) continue;
      pairs.add(pair);
      found.push({ ...fields, batch, kind, id: one, other: two });
    }
    for (const id of seen) this.last.set(id, batch.clock);
    this.before = seen;
    return found;
  }

  // Groups met first that have lived before the page begins, with the gap after which they return.
  knownBefore({ ids, events }) {
    const born = new Set(events.flatMap(({ kind, id }) => (kind === "born" || kind === "split" ? [id] : [])));
    const gaps = new Map(events.flatMap(({ kind, id, gap }) => (kind === "returned" ? [[id, gap]] : [])));
    const known = new Map();
    for (const id of ids) {
      const group = this.shown(id);
      if (group === NOISE || born.has(id) || this.last.has(group)) continue;
      const others = known.has(group) ? [known.get(group)] : [];
      known.set(group, Math.min(gaps.get(id) ?? 0, ...others));
    }
    return known;
  }
}

function groupedBatch(store, old, shown) {
  const groups = Array.from(old.ids, (id) => shown(id));
  const ids = Uint32Array.from(new Set(groups.filter((id) => id !== NOISE))).sort();
  const slotOfGroup = new Map(Array.from(ids, (id, slot) => [id, slot]));
  const slots = groups.map((id) => slotOfGroup.get(id) ?? NO_CLUSTER);
  const counts = new Float32Array(ids.length);
  slots.forEach((slot, row) => { if (slot !== NO_CLUSTER) counts[slot] += old.counts[row]; });
  const mean = (values, look) => {
    const [first, sums] = [new Float32Array(ids.length).fill(NaN), new Float64Array(ids.length)];
    slots.forEach((slot, row) => {
      if (slot === NO_CLUSTER) return;
      if (Number.isNaN(first[slot])) first[slot] = values[row];
      sums[slot] += old.counts[row] * shortest(values[row] - first[slot], look);
    });
    return first.map((value, slot) => unwrapped(value + sums[slot] / Math.max(counts[slot], 1e-9), look));
  };
  const { axes } = store.header;
  return {
    ...old, ids, counts, events: [], looks: undefined, looksState: undefined, rowLooks: undefined, rowLooksState: undefined, largest: undefined, before: undefined, weighed: undefined,
    centers: old.centers.map((values, axis) => mean(values, axes[axis])),
    velocities: old.velocities?.map((values) => mean(values, {})) ?? null,
    slots: old.slots.map((slot) => (slot === NO_CLUSTER ? NO_CLUSTER : slots[slot])),
    nSeen: ids.length,
  };
}
