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
  const alive = new Map(); // members that are remembered
  for (const old of base.events) {
    const event = groupedEvent(old, shown, batches, cluster, alive);
    if (!event) continue;
    event.batch.events.push(event);
    events.push(event);
    cluster(event.id).events.push(event);
  }
  if (base.batches[0].step === 0) countRemembered(base, batches, shown);
  return { batches, clusters, events, largest };
}

// Clusters of which any member is remembered, batch by batch.
function countRemembered(base, batches, shown) {
  const sizes = new Map();
  let n = 0;
  base.batches.forEach((old, index) => {
    for (const { id, kind } of old.events) {
      const group = shown(id);
      const by = kind === "born" || kind === "split" ? 1 : kind === "forgotten" || kind === "merged" ? -1 : 0;
      if (group === NOISE || by === 0) continue;
      const size = (sizes.get(group) ?? 0) + by;
      if (by > 0 && size === 1) n += 1;
      if (by < 0 && size === 0) n -= 1;
      sizes.set(group, size);
    }
    batches[index].nRemembered = Math.max(n, batches[index].nSeen);
  });
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
    ...old, ids, counts, events: [], looks: undefined, looksState: undefined, largest: undefined, before: undefined, weighed: undefined,
    centers: old.centers.map((values, axis) => mean(values, axes[axis])),
    velocities: old.velocities?.map((values) => mean(values, {})) ?? null,
    slots: old.slots.map((slot) => (slot === NO_CLUSTER ? NO_CLUSTER : slots[slot])),
    nSeen: ids.length,
  };
}

// An event of the whole: born with its first member, forgotten with its last, nothing within it.
function groupedEvent(old, shown, batches, cluster, alive) {
  const id = shown(old.id);
  if (id === NOISE) return null;
  const other = old.other < 0 ? old.other : shown(old.other);
  const batch = batches[old.batch.index];
  const members = alive.get(id) ?? new Set();
  const wasAlive = members.size > 0;
  if (old.kind === "forgotten" || old.kind === "merged") members.delete(old.id);
  else members.add(old.id);
  alive.set(id, members);
  const whole = cluster(id);
  const isSeen = slotOf(batch, id) >= 0;
  if (old.kind === "born" || old.kind === "split") {
    if (wasAlive || id === other || whole.events.some(({ kind }) => kind === "born" || kind === "split")) return null;
  } else if (old.kind === "forgotten" || old.kind === "merged") {
    if (members.size > 0 || id === other) return null;
  } else if (old.kind === "vanished") {
    if (isSeen || whole.events.at(-1)?.kind === "vanished") return null;
  } else if (old.kind === "returned") {
    if (whole.events.at(-1)?.kind !== "vanished") return null;
    return { ...old, id, other, batch, gap: batch.clock - lastSeen(whole, batch.index, batches) };
  }
  return { ...old, id, other, batch };
}

// The clock of the last batch before that saw a cluster.
function lastSeen(whole, index, batches) {
  const n = whole.seenUntil(index - 1);
  return n ? batches[whole.batches[n - 1]].clock : NaN;
}
