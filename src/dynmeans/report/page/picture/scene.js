// One batch as marks in the two axes chosen: where points and centers are, and how they got there.

const FEW_OUTSIDE = 0.005; // of the places, on either side, that may lie outside at first
const MAX_LOOKED_AT = 1000; // batches
const FAR_OUTSIDE = 4; // times the rest: only then they do
// On maps, the first view has 95 % of the rows, if all lie in more than so many times as much.
const [MAP_OUTSIDE, MAP_FAR] = [0.025, 1.3]; // of an axis

class Scene {
  constructor(store, view) {
    this.store = store;
    this.view = view;
    this.stamp = 0;
    this.usual = new Map();
    store.onAppend(() => this.usual.clear());
  }

  // The limits of both axes, with a margin: of all there is, or of all but a few that lie far outside.
  limits(isWhole = false) {
    const { view } = this;
    return [view.x, view.y].map((axis) => {
      let [low, high] = this.axisLimits(axis, isWhole);
      if (!(high > low)) [low, high] = [low - 0.5, high + 0.5];
      if (!Number.isFinite(low)) [low, high] = [0, 1];
      const margin = 0.05 * (high - low);
      return [low - margin, high + margin];
    });
  }

  axisLimits(axis, isWhole) {
    const { batches } = this.store;
    if (axis === TIME_AXIS) return [batches[0].time, batches[this.store.last].time];
    if (!this.view.fitsBatch) return isWhole ? this.store.limits[axis] : this.usualLimits(axis);
    const limits = [Infinity, -Infinity];
    for (const values of [this.view.batch.points[axis], this.view.batch.centers[axis]]) {
      for (const value of values) {
        limits[0] = Math.min(limits[0], value);
        limits[1] = Math.max(limits[1], value);
      }
    }
    return limits;
  }

  // A single stray point does not press everything else into a corner.
  usualLimits(axis) {
    if (!this.usual.has(axis)) {
      const { batches, limits } = this.store;
      const every = Math.ceil(batches.length / MAX_LOOKED_AT);
      const looked = batches.filter((_, index) => index % every === 0);
      const isMap = (this.store.header.lon_lat ?? []).includes(axis) && this.store.nRows > 0;
      const far = isMap ? MAP_FAR : FAR_OUTSIDE;
      const values = looked.flatMap((batch) => Array.from(isMap ? batch.points[axis] : batch.centers[axis])).sort((a, b) => a - b);
      const few = Math.floor(FEW_OUTSIDE * values.length);
      const [low, high] = isMap ? shortestRange(values, MAP_OUTSIDE) : [values[few], values[values.length - 1 - few]];
      const isFar = high > low && spanOf(limits[axis]) > far * (high - low);
      this.usual.set(axis, isFar ? [low - 0.1 * (high - low), high + 0.1 * (high - low)] : limits[axis]);
    }
    return this.usual.get(axis);
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

  // On the way from one place to another, the short way round where an axis comes round again.
  between(from, to, share) {
    return [this.view.x, this.view.y].map((axis, j) => this.glided(from[j], to[j], share, axis));
  }

  glided(from, to, share, axis) {
    const look = this.store.header.axes[axis] ?? {};
    return look.period ? unwrapped(from + share * shortest(to - from, look), look) : from + share * (to - from);
  }

  // The clusters of the batch, and those seen in the batches before it that leave a tail.
  clusters(index, tail) {
    this.stamp += 1;
    const found = [];
    for (let at = index; at >= Math.max(0, index - tail); at -= 1) {
      for (const cluster of this.store.batches[at].clusters) {
        if (cluster.stamp === this.stamp) continue;
        cluster.stamp = this.stamp;
        found.push(cluster);
      }
    }
    return found;
  }

  // The place of a cluster in one of its batches.
  place(cluster, row) {
    return this.center(this.store.batches[cluster.batches[row]], cluster.slots[row]);
  }
}

// The shortest range that has all but a share of ascending values.
function shortestRange(values, outside) {
  const n = values.length - Math.floor(outside * values.length);
  let best = 0;
  for (let at = 1; at + n <= values.length; at += 1) {
    if (values[at + n - 1] - values[at] < values[best + n - 1] - values[best]) best = at;
  }
  return [values[best], values[best + n - 1]];
}
