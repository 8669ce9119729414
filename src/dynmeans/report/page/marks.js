// Points, tails, tracks, centers and numbers of one batch, drawn on a canvas or into an SVG.

const MAX_MARKED = 800; // Of more centers than these, outlines and tails could not be told apart.
const TAIL_SHADES = 4;
const EDGE = 20; // pixels around the picture in which a mark is still seen
const N_LOOKS = 56; // colors times markers
const [LARGEST_MARK, SMALLEST_MARK] = [7.2, 2.6];

class Marks {
  constructor(player) {
    this.player = player;
    this.layer = new PointLayer(player.looks);
  }

  // From all of which the player asks for, the marks of the centers.
  draw(context, share) {
    const { view, scene, store } = this.player;
    this.spreads = null;
    const clusters = scene.clusters(view.index, view.batch.ids.length > MAX_MARKED ? 0 : view.tail);
    const chosen = view.selected === null ? null : store.clusters.get(view.selected);
    this.marks = view.batch.ids.length > MAX_MARKED ? this.batchMarks(share) : this.centerMarks(clusters, chosen, share);
    const inside = this.marks.filter((mark) => this.isInside(mark));
    this.nInside = inside.length;
    const isDense = this.nInside > MAX_MARKED && !context.isVector;
    this.drawPoints(context, share, isDense ? inside : []);
    if (clusters.length <= MAX_MARKED) this.drawTails(context, clusters);
    if (chosen?.batches.length) this.drawWholeTrack(context, chosen);
    if (isDense) return this.marks;
    this.drawArrows(context, inside);
    for (const mark of inside) this.drawCenter(context, mark);
    return this.marks;
  }

  isInside({ x, y }) {
    const { left, right, top, bottom } = this.player.box;
    return x > left - EDGE && x < right + EDGE && y > top - EDGE && y < bottom + EDGE;
  }

  isFaint(id) {
    const { view } = this.player;
    return (view.selected !== null && id !== view.selected) || !view.isWanted(id);
  }

  // The points, and where there are too many centers for marks of their own, these too.
  drawPoints(context, share, centers) {
    const { player } = this;
    const { from, view, store } = player;
    const batches = from ? [[store.batches[from.index], 1 - share], [view.batch, share]] : [[view.batch, 1]];
    if (context.isVector) {
      this.tracePoints(context, view.batch);
      return;
    }
    const { width, height } = player.canvas;
    this.layer.begin(width, height);
    this.paints = new Map(); // by radius
    for (const [batch, opacity] of batches) this.stampPoints(batch, opacity);
    this.stampCenters(centers);
    this.layer.end(context, player.width, player.height);
  }

  pointRadius(batch) {
    const { domain, whole } = this.player;
    const share = (spanOf(domain.x) * spanOf(domain.y)) / (spanOf(whole.x) * spanOf(whole.y));
    const n = batch.slots.length * Math.min(1, share);
    return n > 6000 ? 1.4 : n > 1500 ? 2 : n > 400 ? 2.6 : 3.2;
  }

  stampPoints(batch, opacity) {
    const { player, layer } = this;
    const { view, ratio } = player;
    const radius = this.pointRadius(batch) * ratio;
    const paints = batch.clusters.map((cluster) => this.paint(cluster, radius));
    const nobody = this.paint(null, radius);
    const [xs, ys] = [view.x, view.y].map((axis) => (axis === TIME_AXIS ? null : batch.points[axis]));
    for (let row = 0; row < batch.slots.length; row += 1) {
      const paint = batch.slots[row] === NO_CLUSTER ? nobody : paints[batch.slots[row]];
      const x = player.toX(xs ? xs[row] : batch.time);
      const y = player.toY(ys ? ys[row] : batch.time);
      layer.stamp(paint.mask, x * ratio, y * ratio, paint.color, opacity * (paint.isFaint ? 0.13 : 0.6));
    }
    if (batch === view.batch) this.spreads = this.spreadsOf(batch, xs, ys);
  }

  // The look of a cluster's points or center: few differ, so each is made once for a picture.
  paint(cluster, radius) {
    const { looks } = this.player;
    const bearer = cluster ? looks.bearerOf(cluster) : -1;
    const isFaint = this.isFaint(cluster?.id ?? -1);
    if (!this.paints.has(radius)) this.paints.set(radius, new Array(2 * N_LOOKS + 2));
    const paints = this.paints.get(radius);
    const key = 2 * (bearer < 0 ? N_LOOKS : bearer % N_LOOKS) + (isFaint ? 1 : 0);
    if (!paints[key]) {
      const id = cluster?.id ?? -1;
      paints[key] = { mask: this.layer.mask(looks.marker(id), radius), color: pixelColor(looks.color(id)), isFaint };
    }
    return paints[key];
  }

  // How far the points of each cluster lie from its center, in pixels.
  spreadsOf(batch, xs, ys) {
    const { player } = this;
    const n = batch.ids.length;
    if (n > MAX_MARKED) return null;
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
      const id = batch.slots[row] === NO_CLUSTER ? -1 : batch.ids[batch.slots[row]];
      if (!paths.has(id)) paths.set(id, context.newPath());
      player.looks.trace(paths.get(id), id, ...player.pixel(player.scene.point(batch, row)), this.pointRadius(batch));
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
      let here = this.player.pixel(scene.place(cluster, row));
      for (; row > 0 && cluster.batches[row - 1] >= first; row -= 1) {
        const before = this.player.pixel(scene.place(cluster, row - 1));
        const shade = Math.floor((TAIL_SHADES * (view.index - cluster.batches[row])) / (view.tail + 1));
        const isNext = store.areNext(cluster.batches[row - 1], cluster.batches[row]);
        const color = looks.color(cluster.id);
        const key = `${color} ${shade} ${isNext} ${opacity}`;
        if (!strokes.has(key)) strokes.set(key, { path: newPath(context), color, shade, isNext, opacity });
        const { path } = strokes.get(key);
        path.moveTo(...before);
        path.lineTo(...here);
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
    const places = cluster.batches.map((_, row) => this.player.pixel(scene.place(cluster, row)));
    const n = cluster.seenUntil(view.index);
    const color = looks.color(cluster.id);
    context.lineJoin = context.lineCap = "round";
    for (const [stroke, past, future] of [[ink.card, 6, 4], [color, 2.6, 1.3]]) {
      context.strokeStyle = stroke;
      for (let row = 1; row < places.length; row += 1) {
        context.lineWidth = row < n ? past : future;
        context.globalAlpha = row < n ? 1 : 0.7;
        context.setLineDash(store.areNext(cluster.batches[row - 1], cluster.batches[row]) ? [] : [2, 6]);
        line(context, ...places[row - 1], ...places[row]);
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    context.lineWidth = 1.6;
    context.fillStyle = ink.card;
    for (const end of new Set([places[0], places[places.length - 1]])) {
      const path = newPath(context);
      looks.trace(path, cluster.id, ...end, end === places[0] ? 4 : 2.6);
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
      const [toX, toY] = scene.place(cluster, row);
      const old = before && isSeen ? slotOf(before, cluster.id) : -1;
      const [fromX, fromY] = old < 0 ? [toX, toY] : scene.center(before, old);
      const x = this.player.toX(fromX + share * (toX - fromX));
      const y = this.player.toY(fromY + share * (toY - fromY));
      return { id: cluster.id, x, y, count: cluster.counts[row], isSeen, slot: cluster.slots[row] };
    });
    return marks.sort((a, b) => a.isSeen - b.isSeen || a.count - b.count || a.id - b.id);
  }

  // The same for the clusters of the batch alone, where there are very many.
  batchMarks(share) {
    const { player } = this;
    const { view, store, from } = player;
    const { batch } = view;
    const before = from && share < 1 ? store.batches[from.index] : null;
    const column = (one, axis) => (axis === TIME_AXIS ? null : one.centers[axis]);
    const [xs, ys] = [column(batch, view.x), column(batch, view.y)];
    const marks = new Array(batch.ids.length);
    for (let slot = 0; slot < marks.length; slot += 1) {
      let [x, y] = [xs ? xs[slot] : batch.time, ys ? ys[slot] : batch.time];
      const old = before ? slotOf(before, batch.ids[slot]) : -1;
      if (old >= 0 && xs) x = before.centers[view.x][old] + share * (x - before.centers[view.x][old]);
      if (old >= 0 && ys) y = before.centers[view.y][old] + share * (y - before.centers[view.y][old]);
      marks[slot] = { id: batch.ids[slot], x: player.toX(x), y: player.toY(y), count: batch.counts[slot], isSeen: true, slot };
    }
    return marks;
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

  stampCenters(marks) {
    const { ratio } = this.player;
    const { clusters } = this.player.store;
    for (const { id, x, y, isSeen } of marks) {
      const paint = this.paint(clusters.get(id), (isSeen ? 2.4 : 1.4) * ratio);
      this.layer.stamp(paint.mask, x * ratio, y * ratio, paint.color, paint.isFaint ? 0.3 : 1);
    }
  }
}

const newPath = (context) => (context.isVector ? context.newPath() : new Path2D());
