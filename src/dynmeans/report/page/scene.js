// One batch as marks in the two axes chosen: where points and centers are, and how they got there.

class Scene {
  constructor(store, view) {
    this.store = store;
    this.view = view;
  }

  // The limits of both axes, with a margin.
  limits() {
    const { view } = this;
    return [view.x, view.y].map((axis) => {
      let [low, high] = this.axisLimits(axis);
      if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
      if (!Number.isFinite(low)) [low, high] = [0, 1];
      const margin = 0.05 * (high - low);
      return [low - margin, high + margin];
    });
  }

  axisLimits(axis) {
    const { batches } = this.store;
    if (axis === TIME_AXIS) return [batches[0].time, batches[this.store.last].time];
    if (!this.view.fitsBatch) return this.store.limits[axis];
    const limits = [Infinity, -Infinity];
    for (const values of [this.view.batch.points[axis], this.view.batch.centers[axis]]) {
      for (const value of values) {
        limits[0] = Math.min(limits[0], value);
        limits[1] = Math.max(limits[1], value);
      }
    }
    return limits;
  }

  value(batch, places, row, axis) {
    return axis === TIME_AXIS ? batch.time : places[axis][row];
  }

  center(batch, slot) {
    const { x, y } = this.view;
    return [this.value(batch, batch.centers, slot, x), this.value(batch, batch.centers, slot, y)];
  }

  // Where a cluster goes in a step of time; none where clusters keep no course.
  velocity(batch, slot) {
    const along = (axis) => (axis === TIME_AXIS ? this.store.timePerStep : batch.velocities[axis][slot]);
    return batch.velocities && [along(this.view.x), along(this.view.y)];
  }

  point(batch, row) {
    const { x, y } = this.view;
    return [this.value(batch, batch.points, row, x), this.value(batch, batch.points, row, y)];
  }

  // The clusters of the batch, and those that left a tail: the last places first to the last.
  tracks(index, tail) {
    const first = Math.max(0, index - tail);
    const tracks = new Map();
    for (let at = first; at <= index; at += 1) {
      const batch = this.store.batches[at];
      batch.ids.forEach((id, slot) => {
        if (!tracks.has(id)) tracks.set(id, []);
        tracks.get(id).push({ at, count: batch.counts[slot], place: this.center(batch, slot) });
      });
    }
    return tracks;
  }

  // All places of one cluster up to the batch.
  wholeTrack(id, index) {
    const cluster = this.store.clusters.get(id);
    const n = cluster.seenUntil(index);
    return cluster.batches.slice(0, n).map((at, row) => {
      const batch = this.store.batches[at];
      return { at, count: cluster.counts[row], place: this.center(batch, cluster.slots[row]) };
    });
  }
}
