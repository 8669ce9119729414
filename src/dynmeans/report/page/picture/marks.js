// Points, tails, tracks, centers and numbers of one batch, drawn on a canvas or into an SVG.

const MAX_MARKED = 800; // Of more centers than these, outlines and tails could not be told apart.
const TAIL_SHADES = 4;
const EDGE = 20; // pixels around the picture in which a mark is still seen
const N_CANDIDATES = 400; // of the largest clusters, for names
const [LARGEST_MARK, SMALLEST_MARK] = [7.2, 2.6];

class Marks {
  constructor(player) {
    this.player = player;
    this.stamps = new Stamps(player);
    [this.xs, this.ys] = [new Float32Array(0), new Float32Array(0)];
  }

  // The picture of the batch; returns the marks of the centers, of very many only those that may be named.
  draw(context, share) {
    const { view, scene, store } = this.player;
    this.spreads = null;
    this.isCrowded = view.batch.ids.length > MAX_MARKED;
    const clusters = scene.clusters(view.index, this.isCrowded ? 0 : view.tail);
    const chosen = view.selected === null ? null : store.clusters.get(view.selected);
    const marks = this.isCrowded ? this.crowdMarks(share, context.isVector) : this.centerMarks(clusters, chosen, share);
    const isDense = this.isCrowded && this.nInside > MAX_MARKED && !context.isVector;
    this.drawPoints(context, share, isDense);
    if (clusters.length <= MAX_MARKED) this.drawTails(context, clusters);
    if (chosen?.batches.length) this.drawWholeTrack(context, chosen);
    if (isDense) return marks;
    const inside = marks.filter((mark) => this.isInside(mark));
    this.nInside = inside.length;
    this.drawArrows(context, inside);
    for (const mark of inside) this.drawCenter(context, mark);
    return marks;
  }

  isInside({ x, y }) {
    const { left, right, top, bottom } = this.player.box;
    return x > left - EDGE && x < right + EDGE && y > top - EDGE && y < bottom + EDGE;
  }

  isFaint(id) {
    return isFaint(this.player.view, id);
  }

  drawPoints(context, share, isDense) {
    const { from, view, store } = this.player;
    const { batch } = view;
    if (context.isVector) {
      for (let at = firstShown(view); at <= view.index; at += 1) this.tracePoints(context, store.batches[at]);
      return;
    }
    this.stamps.begin();
    if (from) this.stamps.drawPoints(store.batches[from.index], 1 - share);
    if (view.nShown > 1) this.stamps.drawWindow(1);
    else this.stamps.drawPoints(batch, from ? share : 1);
    if (isDense) this.stamps.drawCenters(batch, this.xs, this.ys);
    this.stamps.end(context);
    if (!this.isCrowded) this.spreads = this.spreadsOf(batch);
  }

  // How far the points of each cluster lie from its center, in pixels.
  spreadsOf(batch) {
    const { player } = this;
    const n = batch.ids.length;
    const [xs, ys] = [player.view.x, player.view.y].map((axis) => (axis === TIME_AXIS ? null : batch.points[axis]));
    const centers = Array.from(batch.ids, (_, slot) => player.pixel(player.scene.center(batch, slot)));
    const [sums, counts] = [new Float64Array(n), new Uint32Array(n)];
    batch.slots.forEach((slot, row) => {
      if (slot === NO_CLUSTER) return;
      const [x, y] = centers[slot];
      sums[slot] += (player.toX(xs ? xs[row] : batch.time) - x) ** 2 + (player.toY(ys ? ys[row] : batch.time) - y) ** 2;
      counts[slot] += 1;
    });
    return sums.map((sum, slot) => (counts[slot] > 2 ? Math.sqrt(sum / counts[slot]) : Infinity));
  }

  tracePoints(context, batch) {
    const { player } = this;
    const paths = new Map();
    for (let row = 0; row < batch.slots.length; row += 1) {
      if (!player.view.rows.passes(batch, row)) continue;
      const id = batch.slots[row] === NO_CLUSTER ? -1 : batch.ids[batch.slots[row]];
      if (!paths.has(id)) paths.set(id, context.newPath());
      player.looks.trace(paths.get(id), id, ...player.pixel(player.scene.point(batch, row)), pointRadius(player, batch));
    }
    for (const [id, path] of paths) {
      context.globalAlpha = this.isFaint(id) ? 0.13 : 0.6;
      context.fillStyle = player.looks.color(id);
      context.fill(path);
    }
  }

  // All pieces of one color and age in one stroke; dotted where the cluster was not seen.
  drawTails(context, clusters) {
    const { view, scene, looks, store } = this.player;
    const strokes = new Map();
    const first = view.index - view.tail;
    for (const cluster of clusters) {
      if (cluster.id === view.selected) continue;
      const opacity = this.isFaint(cluster.id) ? 0.25 : 1;
      let row = cluster.seenUntil(view.index) - 1;
      let here = scene.place(cluster, row);
      for (; row > 0 && cluster.batches[row - 1] >= first; row -= 1) {
        const before = scene.place(cluster, row - 1);
        const shade = Math.floor((TAIL_SHADES * (view.index - cluster.batches[row])) / (view.tail + 1));
        const isNext = store.areNext(cluster.batches[row - 1], cluster.batches[row]);
        const color = looks.color(cluster.id);
        const key = `${color} ${shade} ${isNext} ${opacity}`;
        if (!strokes.has(key)) strokes.set(key, { path: newPath(context), color, shade, isNext, opacity });
        traceWays(this.player, strokes.get(key).path, before, here);
        here = before;
      }
    }
    context.lineWidth = 2.2;
    context.lineCap = "round";
    for (const { path, color, shade, isNext, opacity } of strokes.values()) {
      context.strokeStyle = color;
      context.globalAlpha = opacity * (1 - (0.85 * (shade + 0.3)) / TAIL_SHADES);
      context.setLineDash(isNext ? [] : [2, 5]);
      context.stroke(path);
    }
    context.setLineDash([]);
  }

  // Where it came from, and, thin, where it will go.
  drawWholeTrack(context, cluster) {
    const { scene, view, looks, ink, store } = this.player;
    const places = cluster.batches.map((_, row) => scene.place(cluster, row));
    const n = cluster.seenUntil(view.index);
    const color = looks.color(cluster.id);
    context.lineJoin = context.lineCap = "round";
    for (const [stroke, past, future] of [[ink.card, 6, 4], [color, 2.6, 1.3]]) {
      context.strokeStyle = stroke;
      for (let row = 1; row < places.length; row += 1) {
        context.lineWidth = row < n ? past : future;
        context.globalAlpha = row < n ? 1 : 0.7;
        context.setLineDash(store.areNext(cluster.batches[row - 1], cluster.batches[row]) ? [] : [2, 6]);
        const path = newPath(context);
        traceWays(this.player, path, places[row - 1], places[row]);
        context.stroke(path);
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    context.lineWidth = 1.6;
    context.fillStyle = ink.card;
    for (const end of new Set([places[0], places[places.length - 1]])) {
      const path = newPath(context);
      looks.trace(path, cluster.id, ...this.player.pixel(end), end === places[0] ? 4 : 2.6);
      context.fill(path);
      context.stroke(path);
    }
  }

  // A mark for each cluster in the batch, and a hollow one where the others were last seen.
  centerMarks(clusters, chosen, share) {
    const { view, scene, store } = this.player;
    const all = chosen && !clusters.includes(chosen) && chosen.seenUntil(view.index) ? [...clusters, chosen] : clusters;
    const before = this.player.from && store.batches[this.player.from.index];
    const marks = all.map((cluster) => {
      const row = cluster.seenUntil(view.index) - 1;
      const isSeen = cluster.batches[row] === view.index;
      const to = scene.place(cluster, row);
      const old = before && isSeen ? slotOf(before, cluster.id) : -1;
      const [x, y] = this.player.pixel(old < 0 ? to : scene.between(scene.center(before, old), to, share));
      return { id: cluster.id, x, y, count: cluster.counts[row], isSeen, slot: cluster.slots[row] };
    });
    return marks.sort((a, b) => a.isSeen - b.isSeen || a.count - b.count || a.id - b.id);
  }

  // The same for the clusters of the batch alone, where there are very many: places in arrays that are
  // used again, and marks for those in sight if these are few, else for the largest.
  crowdMarks(share, isVector) {
    const { view, box } = this.player;
    const { batch } = view;
    this.placeCenters(batch, share);
    const [left, right, top, bottom] = [box.left - EDGE, box.right + EDGE, box.top - EDGE, box.bottom + EDGE];
    const isWhole = !view.camera && !isVector;
    const slots = [];
    this.nInside = 0;
    for (let slot = 0; slot < batch.ids.length; slot += 1) {
      const [x, y] = [this.xs[slot], this.ys[slot]];
      if (x <= left || x >= right || y <= top || y >= bottom) continue;
      this.nInside += 1;
      if (!isWhole || this.nInside <= MAX_MARKED) slots.push(slot);
    }
    const isDense = isWhole && this.nInside > MAX_MARKED;
    if (isDense) batch.largest ??= largest(batch.counts, N_CANDIDATES, () => true);
    return (isDense ? batch.largest : slots).map((slot) => this.crowdMark(batch, slot));
  }

  crowdMark(batch, slot) {
    return { id: batch.ids[slot], x: this.xs[slot], y: this.ys[slot], count: batch.counts[slot], isSeen: true, slot };
  }

  placeCenters(batch, share) {
    const { view, store, scene, from, toX, toY } = this.player;
    const n = batch.ids.length;
    if (this.xs.length < n) [this.xs, this.ys] = [new Float32Array(n), new Float32Array(n)];
    const before = from && share < 1 ? store.batches[from.index] : null;
    const olds = before ? slotsBefore(batch, before) : null;
    for (const [axis, to, places] of [[view.x, toX, this.xs], [view.y, toY, this.ys]]) {
      const values = axis === TIME_AXIS ? null : batch.centers[axis];
      const past = values && before ? before.centers[axis] : null;
      for (let slot = 0; slot < n; slot += 1) {
        let value = values ? values[slot] : batch.time;
        if (past && olds[slot] >= 0) value = scene.glided(past[olds[slot]], value, share, axis);
        places[slot] = to(value);
      }
    }
  }

  // The cluster whose mark is nearest to a place, within so many pixels.
  nearest(x, y, within) {
    let [best, distance] = [null, within];
    const look = (id, markX, markY) => {
      const away = Math.hypot(markX - x, markY - y);
      if (away < distance) [best, distance] = [id, away];
    };
    const { batch } = this.player.view;
    if (this.isCrowded) batch.ids.forEach((id, slot) => look(id, this.xs[slot], this.ys[slot]));
    else for (const mark of this.player.marks ?? []) look(mark.id, mark.x, mark.y);
    return best;
  }

  drawArrows(context, marks) {
    const { view, scene, ink } = this.player;
    const { batch } = view;
    if (!batch.velocities) return;
    for (const { id, x, y, isSeen } of marks) {
      if (!isSeen || !view.isConfirmed(id)) continue;
      const slot = slotOf(batch, id);
      const [[cx, cy], [dx, dy]] = [scene.center(batch, slot), scene.velocity(batch, slot)];
      const [from, to] = [this.player.pixel([cx, cy]), this.player.pixel([cx + dx, cy + dy])];
      context.globalAlpha = this.isFaint(id) ? 0.3 : 0.9;
      drawArrow(context, [x, y], [x + to[0] - from[0], y + to[1] - from[1]], ink.ink);
    }
  }

  // No larger than the heart of its points, which stay in sight around it at any zoom.
  radius({ id, isSeen, slot }) {
    const { view, box } = this.player;
    const spread = this.spreads?.[slot] ?? Infinity;
    const crowd = clamp(MAX_NAMES / Math.max(this.nInside, 1), 0.35, 1);
    const room = clamp((box.right - box.left) / 600, 0.75, 1) * Math.sqrt(crowd);
    const isSolid = isSeen && view.isConfirmed(id);
    if (id === view.selected) return 1.25 * LARGEST_MARK * room;
    return isSolid ? clamp(0.6 * spread, SMALLEST_MARK, LARGEST_MARK * room) : 4.6 * room;
  }

  drawCenter(context, mark) {
    const { looks, ink, view } = this.player;
    const isSolid = mark.isSeen && view.isConfirmed(mark.id);
    const path = newPath(context);
    looks.trace(path, mark.id, mark.x, mark.y, this.radius(mark));
    context.globalAlpha = this.isFaint(mark.id) ? 0.3 : 1;
    context.fillStyle = isSolid ? looks.color(mark.id) : ink.card;
    context.strokeStyle = isSolid ? ink.ink : looks.color(mark.id);
    context.lineWidth = isSolid ? 1.2 : 1.6;
    context.fill(path);
    context.stroke(path);
  }
}

// The row of each cluster in the batch it is drawn from; worked out once for a pair.
function slotsBefore(batch, before) {
  if (batch.before !== before) {
    batch.before = before;
    batch.oldSlots = Int32Array.from(batch.ids, (id) => slotOf(before, id));
  }
  return batch.oldSlots;
}

const newPath = (context) => (context.isVector ? context.newPath() : new Path2D());
