// The player: one batch as a picture that can be played, zoomed and saved.

const PLOT_MARGIN = { right: 14, top: 12, bottom: 40 };
const CLOSE_UP = 16; // at most: so much of the plane stays in sight around a cluster looked at
const GLIDE = 220; // milliseconds from one batch to the next
const MOST_GLIDING = 4000; // clusters: of more, no eye follows one, and each frame takes long

class Player {
  constructor(store, view, looks, text) {
    Object.assign(this, { store, view, looks, text, scene: new Scene(store, view) });
    this.canvas = byId("scene");
    this.context = this.canvas.getContext("2d");
    this.ask = oncePerFrame(() => this.draw());
    this.from = null; // the batch the picture glides from, while it does
    this.glide = GLIDE;
    this.shownIndex = view.index;
    this.drawing = new Marks(this);
    this.widths = new TextWidths();
    this.frame = new Frame(this);
    this.pointer = new ScenePointer(this);
    watchSize(this.canvas, this.ask);
    view.onChange((changed) => this.onChange(changed));
    looks.onChange(this.ask);
  }

  onChange(changed) {
    const { view } = this;
    this.from = null;
    if (changed.has("index")) {
      const isNext = Math.abs(view.index - this.shownIndex) === 1;
      this.glide = view.isPlaying ? Math.min(GLIDE, 800 / view.speed) : GLIDE;
      const isSmooth = isNext && view.nShown === 1 && !view.fitsBatch && this.glide > 50 && view.batch.ids.length <= MOST_GLIDING && !wantsLessMotion();
      if (isSmooth) this.from = { index: this.shownIndex, start: performance.now() };
      this.shownIndex = view.index;
    }
    this.ask();
  }

  draw() {
    const { canvas, context } = this;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    this.ratio = devicePixelRatio || 1;
    const [across, down] = [Math.round(width * this.ratio), Math.round(height * this.ratio)];
    if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    if (this.themeVersion !== this.looks.version) this.readTheme();
    this.paint(context, width, height);
    if (!this.isDrawn) performance.mark("first picture");
    this.isDrawn = true;
    if (this.from) this.ask();
  }

  readTheme() {
    const style = getComputedStyle(this.canvas);
    this.ink = Object.fromEntries(["ink", "muted", "grid", "card", "accent"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.font = style.fontFamily;
    this.themeVersion = this.looks.version;
  }

  // On a canvas, or into an SVG.
  paint(context, width, height) {
    Object.assign(this, { width, height });
    this.scale(width, height);
    if (!context.isVector && this.fitHeight()) return; // It is drawn at its new height.
    const { left, top, right, bottom } = this.box;
    this.frame.draw(context);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    this.marks = this.drawing.draw(context, this.glideShare());
    this.drawNames(context);
    context.globalAlpha = 1;
    drawScaleBar(this, context);
    this.drawRegion(context);
    context.restore();
  }

  scale(width, height) {
    const { right, top, bottom } = PLOT_MARGIN;
    const left = this.leftMargin(height - top - bottom);
    this.box = { left, top, right: width - right, bottom: height - bottom };
    const [east, north] = this.store.header.lon_lat ?? [];
    this.isMap = east !== undefined && this.view.x === east && this.view.y === north;
    byId("y-down").disabled = this.isMap;
    this.whole = this.fitted(this.scene.limits(true));
    this.home = this.fitted(this.scene.limits());
    const { camera } = this.view;
    this.domain = camera ? this.fitted([camera.x, camera.y]) : this.home;
    const [[xLow, xHigh], [yLow, yHigh]] = [this.domain.x, this.domain.y];
    const xScale = (width - left - right) / (xHigh - xLow);
    this.isDown = this.view.isYDown && !this.isMap;
    const yScale = ((this.isDown ? 1 : -1) * (height - top - bottom)) / (yHigh - yLow);
    const origin = this.isDown ? top - yLow * yScale : height - bottom - yLow * yScale;
    this.affine = [xScale, left - xLow * xScale, yScale, origin];
    this.toX = (value) => left + (value - xLow) * xScale;
    this.toY = (value) => origin + value * yScale;
    this.fromPixel = (x, y) => [xLow + (x - left) / xScale, (y - origin) / yScale];
  }

  // Room for the longest number at the axis, and for the name beside it.
  leftMargin(height) {
    const ticks = this.frame.ticks(this.view.y, this.view.camera?.y ?? this.scene.limits()[1], height / 50);
    const longest = ticks.reduce((most, [, name]) => Math.max(most, this.widths.of(name, `12px ${this.font}`)), 20);
    return Math.ceil(longest) + 30;
  }

  fitted([x, y]) {
    const { left, right, top, bottom } = this.box;
    const domain = { x, y };
    if (!this.isMap) return domain;
    return onTheGlobe(trueToScale(onOneGlobe(domain), this.store.limits[this.view.y], right - left, bottom - top));
  }

  // A map of the whole world is as high as it is from pole to pole, so that it fills its box.
  fitHeight() {
    const { left, top, right, bottom } = this.box;
    const over = this.isMap && !this.view.camera ? spanOf(this.home.y) / 180 : 1;
    const { parentElement: place } = this.canvas;
    if (over > 1.01) place.style.height = `${Math.ceil((bottom - top) / over) + this.height - bottom + top}px`;
    else if (!this.isMap) place.style.height = "";
    place.classList.toggle("is-fitted", place.style.height !== "");
    return left < right && over > 1.01;
  }

  // From 0 where the picture leaves the last batch to 1 where it has come to this one.
  glideShare() {
    if (!this.from) return 1;
    const share = (performance.now() - this.from.start) / this.glide;
    if (share >= 1) this.from = null;
    return clamp(share, 0, 1);
  }

  drawNames(context) {
    const { view, store } = this;
    const font = (id) => `700 ${id === view.selected ? 14 : 12}px ${this.font}`;
    const { rows } = view;
    const isNamed = ({ id, isSeen }) => id === view.selected || (isSeen && this.looks.bearer(id) >= 0 && (!rows.isActive || rows.count(id) > 0));
    const named = this.marks.filter((mark) => this.drawing.isInside(mark) && isNamed(mark));
    const measure = (id) => this.widths.of(store.label(id), font(id));
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineWidth = 3.5;
    context.lineJoin = "round";
    context.strokeStyle = this.ink.card;
    context.fillStyle = this.ink.ink;
    for (const { id, left, top } of placeNames(named, view.selected, this.box, measure, this.drawing.isCrowded ? [] : this.marks, (mark) => this.drawing.radius(mark))) {
      context.font = font(id);
      context.globalAlpha = this.drawing.isFaint(id) ? 0.35 : 1;
      context.strokeText(store.label(id), left, top + NAME_HEIGHT / 2);
      context.fillText(store.label(id), left, top + NAME_HEIGHT / 2);
    }
  }

  drawRegion(context) {
    const { region } = this.view;
    if (!region) return;
    const [left, bottom] = this.pixel([region.x[0], region.y[0]]);
    const [right, top] = this.pixel([region.x[1], region.y[1]]);
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.fillStyle = context.strokeStyle = this.ink.accent;
    context.globalAlpha = 0.08;
    context.fill();
    context.globalAlpha = 1;
    context.lineWidth = 1.4;
    context.setLineDash([5, 4]);
    context.stroke();
    context.setLineDash([]);
  }

  pixel([x, y]) {
    return [this.toX(x), this.toY(y)];
  }

  // It may have changed since it was drawn, or was never drawn: a frame of a notebook out of sight.
  rescale() {
    if (!this.ink) this.readTheme();
    this.scale(this.canvas.clientWidth, this.canvas.clientHeight);
  }

  // Closer by a factor below 1, farther by one above; about the middle, or a place in pixels.
  zoom(factor, x = (this.box.left + this.box.right) / 2, y = (this.box.top + this.box.bottom) / 2) {
    this.rescale();
    const zoomed = zoomedDomain(this.domain, this.whole, factor, this.fromPixel(x, y));
    this.view.set({ camera: zoomed ?? (this.isHomeWhole ? null : this.whole) });
  }

  // About the center of the cluster that is chosen, where it was last seen; else about the middle.
  zoomToChosen(factor) {
    const { view, store } = this;
    const cluster = view.selected === null ? null : store.clusters.get(view.selected);
    const n = cluster?.seenUntil(view.index) ?? 0;
    if (!n) return this.zoom(factor);
    const { centers, time } = store.batches[cluster.batches[n - 1]];
    const at = (axis) => (axis === TIME_AXIS ? time : centers[axis][cluster.slots[n - 1]]);
    this.rescale();
    const [x, y] = [at(view.x), at(view.y)];
    const half = { x: spanOf(this.domain.x) / 2, y: spanOf(this.domain.y) / 2 };
    const about = { x: [x - half.x, x + half.x], y: [y - half.y, y + half.y] };
    const zoomed = zoomedDomain(about, this.whole, factor, [x, y]);
    return view.set({ camera: zoomed ?? (this.isHomeWhole ? null : this.whole) });
  }

  // To where clusters are in this batch, or were last, with their points.
  lookAt(ids) {
    const { view, store } = this;
    const [xs, ys] = [[], []];
    for (const id of ids) {
      const cluster = store.clusters.get(id);
      const n = cluster.seenUntil(view.index);
      if (!n) continue;
      const [batch, slot] = [store.batches[cluster.batches[n - 1]], cluster.slots[n - 1]];
      const places = [this.scene.center(batch, slot)];
      batch.slots.forEach((one, row) => { if (one === slot) places.push(this.scene.point(batch, row)); });
      for (const [x, y] of places) { xs.push(x); ys.push(y); }
    }
    if (!xs.length) return;
    this.rescale();
    const around = (values, whole) => {
      const [low, high] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
      const half = Math.max(0.75 * (high - low), spanOf(whole) / CLOSE_UP);
      return [(low + high) / 2 - half, (low + high) / 2 + half];
    };
    view.set({ camera: { x: around(xs, this.home.x), y: around(ys, this.home.y) } });
  }

  get isHomeWhole() {
    return spanOf(this.home.x) >= spanOf(this.whole.x) && spanOf(this.home.y) >= spanOf(this.whole.y);
  }

  clusterAt(event) {
    const { offsetX, offsetY } = event;
    const near = (x, y) => Math.hypot(x - offsetX, y - offsetY);
    let best = this.drawing.nearest(offsetX, offsetY, event.pointerType === "touch" ? 24 : 14);
    if (best !== null) return best;
    const { batch } = this.view;
    let distance = 8;
    batch.slots.forEach((slot, row) => {
      const away = slot === NO_CLUSTER ? Infinity : near(...this.pixel(this.scene.point(batch, row)));
      if (away < distance) [best, distance] = [batch.ids[slot], away];
    });
    return best;
  }
}
