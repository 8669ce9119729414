// The player: points, centers and tails of one batch on a canvas.

const PLOT_MARGIN = { left: 54, right: 14, top: 12, bottom: 40 };
const GLIDE = 220; // milliseconds from one batch to the next

class Player {
  constructor(store, view, looks, text) {
    Object.assign(this, { store, view, looks, text, scene: new Scene(store, view) });
    this.canvas = byId("scene");
    this.context = this.canvas.getContext("2d");
    this.tip = byId("scene-tip");
    this.ask = oncePerFrame(() => this.draw());
    this.from = null; // the batch the picture glides from, while it does
    watchSize(this.canvas, this.ask);
    view.onChange((changed) => this.onChange(changed));
    looks.onChange(this.ask);
    this.shownIndex = view.index;
    this.canvas.addEventListener("pointermove", (event) => this.onPointer(event));
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
    this.canvas.addEventListener("click", (event) => view.select(this.clusterAt(event)));
  }

  onChange(changed) {
    if (changed.has("index")) {
      const isNext = Math.abs(this.view.index - this.shownIndex) === 1;
      const isSmooth = isNext && !this.view.fitsBatch && !wantsLessMotion();
      this.from = isSmooth ? { index: this.shownIndex, start: performance.now() } : null;
      this.shownIndex = this.view.index;
      this.hideTip();
    } else {
      this.from = null;
    }
    this.ask();
  }

  draw() {
    const { canvas, context } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    this.ink = Object.fromEntries(["ink", "muted", "grid", "card"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.font = style.fontFamily;
    this.scale(width, height);
    this.drawAxes(width, height);
    context.save();
    context.beginPath();
    context.rect(this.box.left, this.box.top, this.box.right - this.box.left, this.box.bottom - this.box.top);
    context.clip();
    this.drawBackdrop();
    this.drawMarks();
    context.restore();
    if (this.from) this.ask();
  }

  scale(width, height) {
    const [[xLow, xHigh], [yLow, yHigh]] = this.scene.limits();
    const { left, right, top, bottom } = PLOT_MARGIN;
    this.box = { left, top, right: width - right, bottom: height - bottom };
    this.toX = (value) => left + ((value - xLow) / (xHigh - xLow)) * (width - left - right);
    this.toY = (value) => height - bottom - ((value - yLow) / (yHigh - yLow)) * (height - top - bottom);
    this.domain = { xLow, xHigh, yLow, yHigh };
  }

  drawAxes(width, height) {
    const { context, box, ink } = this;
    const { xLow, xHigh, yLow, yHigh } = this.domain;
    context.font = `12px ${this.font}`;
    context.lineWidth = 1;
    context.strokeStyle = ink.grid;
    context.fillStyle = ink.muted;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const [value, name] of this.ticks(this.view.y, yLow, yHigh, (box.bottom - box.top) / 50)) {
      const y = Math.round(this.toY(value)) + 0.5;
      line(context, box.left, y, box.right, y);
      context.fillText(name, box.left - 8, y);
    }
    context.textAlign = "center";
    for (const [value, name] of this.ticks(this.view.x, xLow, xHigh, (box.right - box.left) / 90)) {
      const x = Math.round(this.toX(value)) + 0.5;
      line(context, x, box.top, x, box.bottom);
      context.fillText(name, x, box.bottom + 12);
    }
    context.fillStyle = ink.ink;
    context.font = `600 12px ${this.font}`;
    context.fillText(this.store.axisName(this.view.x), (box.left + box.right) / 2, height - 9, box.right - box.left);
    context.save();
    context.translate(11, (box.top + box.bottom) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(this.store.axisName(this.view.y), 0, 0, box.bottom - box.top);
    context.restore();
  }

  // Coasts and the like, where the axes are theirs.
  drawBackdrop() {
    const { context, view } = this;
    const backdrop = this.store.header.backdrop;
    if (!backdrop || backdrop.axes[0] !== view.x || backdrop.axes[1] !== view.y) return;
    context.strokeStyle = this.ink.muted;
    context.globalAlpha = 0.45;
    context.lineWidth = 1;
    for (const places of backdrop.lines) {
      context.beginPath();
      for (const place of places) context.lineTo(...this.pixel(place));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  ticks(axis, low, high, n) {
    if (axis === TIME_AXIS) return this.text.ticks(low, high, n);
    return roundTicks(low, high, n).map((value) => [value, formatNumber(value)]);
  }

  drawMarks() {
    const { view, context } = this;
    const share = this.glideShare();
    context.globalAlpha = 1;
    if (this.from) this.drawPoints(this.store.batches[this.from.index], 1 - share);
    this.drawPoints(view.batch, this.from ? share : 1);
    const tracks = this.scene.tracks(view.index, view.tail);
    const isFaint = (id) => view.selected !== null && id !== view.selected;
    for (const [id, track] of tracks) if (id !== view.selected) this.drawTail(id, track, isFaint(id) ? 0.25 : 1);
    const chosen = view.selected === null ? [] : this.scene.wholeTrack(view.selected, view.index);
    if (chosen.length) this.drawWholeTrack(view.selected, chosen);
    this.marks = this.centerMarks(tracks, chosen, share);
    this.drawArrows(isFaint);
    for (const mark of this.marks) this.drawCenter(mark, isFaint(mark.id) ? 0.3 : 1);
    this.drawNames(isFaint);
    context.globalAlpha = 1;
  }

  // From 0 where the picture leaves the last batch to 1 where it has come to this one.
  glideShare() {
    if (!this.from) return 1;
    const share = (performance.now() - this.from.start) / GLIDE;
    if (share >= 1) this.from = null;
    return clamp(share, 0, 1);
  }

  drawPoints(batch, opacity) {
    const { context, looks, view, scene } = this;
    const n = batch.slots.length;
    const radius = n > 6000 ? 1.4 : n > 1500 ? 2 : n > 400 ? 2.6 : 3.2;
    const paths = new Map();
    for (let row = 0; row < n; row += 1) {
      const slot = batch.slots[row];
      const id = slot === NO_CLUSTER ? -1 : batch.ids[slot];
      if (!paths.has(id)) paths.set(id, new Path2D());
      const [x, y] = scene.point(batch, row);
      looks.trace(paths.get(id), id, this.toX(x), this.toY(y), radius);
    }
    for (const [id, path] of paths) {
      const isFaint = view.selected !== null && view.selected !== id;
      context.globalAlpha = opacity * (isFaint ? 0.13 : 0.6);
      context.fillStyle = looks.color(id);
      context.fill(path);
    }
  }

  drawTail(id, track, opacity) {
    const { context } = this;
    context.strokeStyle = this.looks.color(id);
    context.lineWidth = 2.2;
    context.lineCap = "round";
    for (let row = 1; row < track.length; row += 1) {
      const [before, here] = [track[row - 1], track[row]];
      context.globalAlpha = opacity * (1 - (0.85 * (this.view.index - here.at)) / (this.view.tail + 1));
      context.setLineDash(this.store.areNext(before.at, here.at) ? [] : [2, 5]);
      line(context, ...this.pixel(before.place), ...this.pixel(here.place));
    }
    context.setLineDash([]);
  }

  drawWholeTrack(id, track) {
    const { context } = this;
    context.globalAlpha = 1;
    context.lineJoin = "round";
    for (const [color, width] of [[this.ink.card, 6], [this.looks.color(id), 2.6]]) {
      context.strokeStyle = color;
      context.lineWidth = width;
      for (let row = 1; row < track.length; row += 1) {
        context.setLineDash(this.store.areNext(track[row - 1].at, track[row].at) ? [] : [2, 6]);
        line(context, ...this.pixel(track[row - 1].place), ...this.pixel(track[row].place));
      }
    }
    context.setLineDash([]);
    const start = this.pixel(track[0].place);
    const path = new Path2D();
    this.looks.trace(path, id, ...start, 4);
    context.fillStyle = this.ink.card;
    context.fill(path);
    context.lineWidth = 1.6;
    context.stroke(path);
  }

  // A mark for each cluster in the batch, and a hollow one where the others were last seen.
  centerMarks(tracks, chosen, share) {
    const known = new Map(tracks);
    if (chosen.length) known.set(this.view.selected, chosen);
    const marks = [];
    for (const [id, track] of known) {
      const last = track[track.length - 1];
      const [x, y] = this.pixel(this.glided(id, last, share));
      marks.push({ id, x, y, count: last.count, isSeen: last.at === this.view.index });
    }
    return marks.sort((a, b) => a.isSeen - b.isSeen || a.count - b.count || a.id - b.id);
  }

  glided(id, last, share) {
    const before = this.from && this.store.batches[this.from.index];
    const slot = before && last.at === this.view.index ? before.ids.indexOf(id) : -1;
    if (slot < 0) return last.place;
    const start = this.scene.center(before, slot);
    return last.place.map((value, axis) => start[axis] + share * (value - start[axis]));
  }

  drawArrows(isFaint) {
    const { batch } = this.view;
    if (!batch.velocities) return;
    for (const { id, x, y, isSeen } of this.marks) {
      if (!isSeen || !this.view.isConfirmed(id)) continue;
      const slot = batch.ids.indexOf(id);
      const [[cx, cy], [dx, dy]] = [this.scene.center(batch, slot), this.scene.velocity(batch, slot)];
      const [from, to] = [this.pixel([cx, cy]), this.pixel([cx + dx, cy + dy])];
      this.context.globalAlpha = isFaint(id) ? 0.3 : 0.9;
      drawArrow(this.context, [x, y], [x + to[0] - from[0], y + to[1] - from[1]], this.ink.ink);
    }
  }

  drawCenter(mark, opacity) {
    const { context, looks } = this;
    const crowd = clamp(MAX_NAMES / Math.max(this.view.batch.nSeen, 1), 0.35, 1);
    const room = clamp((this.box.right - this.box.left) / 600, 0.75, 1);
    const isSolid = mark.isSeen && this.view.isConfirmed(mark.id);
    const radius = (isSolid ? 7.2 : 4.6) * room * Math.sqrt(crowd) * (mark.id === this.view.selected ? 1.25 : 1);
    const path = new Path2D();
    looks.trace(path, mark.id, mark.x, mark.y, radius);
    context.globalAlpha = opacity;
    context.fillStyle = isSolid ? looks.color(mark.id) : this.ink.card;
    context.strokeStyle = isSolid ? this.ink.ink : looks.color(mark.id);
    context.lineWidth = isSolid ? 1.2 : 1.6;
    context.fill(path);
    context.stroke(path);
  }

  drawNames(isFaint) {
    const { context, view } = this;
    const font = (isChosen) => `700 ${isChosen ? 14 : 12}px ${this.font}`;
    const measure = (id) => {
      context.font = font(id === view.selected);
      return context.measureText(this.store.label(id)).width;
    };
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineWidth = 3.5;
    context.lineJoin = "round";
    context.strokeStyle = this.ink.card;
    context.fillStyle = this.ink.ink;
    const named = this.marks.filter(({ id }) => id === view.selected || view.isConfirmed(id));
    for (const { id, left, top } of placeNames(named, view.selected, this.box, measure)) {
      context.font = font(id === view.selected);
      context.globalAlpha = isFaint(id) ? 0.35 : 1;
      context.strokeText(this.store.label(id), left, top + NAME_HEIGHT / 2);
      context.fillText(this.store.label(id), left, top + NAME_HEIGHT / 2);
    }
  }

  pixel([x, y]) {
    return [this.toX(x), this.toY(y)];
  }

  clusterAt(event) {
    const { offsetX, offsetY } = event;
    const near = (x, y) => Math.hypot(x - offsetX, y - offsetY);
    let [best, distance] = [null, event.pointerType === "touch" ? 24 : 14];
    for (const { id, x, y } of this.marks ?? []) if (near(x, y) < distance) [best, distance] = [id, near(x, y)];
    if (best !== null) return best;
    const { batch } = this.view;
    distance = 8;
    batch.slots.forEach((slot, row) => {
      const away = slot === NO_CLUSTER ? Infinity : near(...this.pixel(this.scene.point(batch, row)));
      if (away < distance) [best, distance] = [batch.ids[slot], away];
    });
    return best;
  }

  onPointer(event) {
    if (event.pointerType === "touch") return;
    const id = this.clusterAt(event);
    this.canvas.style.cursor = id === null ? "default" : "pointer";
    if (id === null) {
      this.hideTip();
      return;
    }
    const slot = this.view.batch.ids.indexOf(id);
    const size = slot < 0 ? "not in this batch" : plural(this.view.batch.counts[slot], "point");
    this.tip.replaceChildren(this.looks.badge(id, 14), make("strong", {}, this.store.fullName(id)), ` ${size}`);
    this.tip.hidden = false;
    const left = clamp(event.offsetX + 14, 4, this.canvas.clientWidth - this.tip.offsetWidth - 4);
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${Math.max(4, event.offsetY - 38)}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }
}

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}
