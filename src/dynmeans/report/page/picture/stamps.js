// The points of a batch, and its centers where they are too many for marks of their own, as stamps.

const N_LOOKS = 56; // colors times markers
const SKIPPED = 2 * N_LOOKS + 2; // the look of a row that does not pass the filters
const FIRST_BIN = SKIPPED + 1; // looks of the bins of the column that colors the points
const [POINT_OPACITY, FAINT] = [0.6, 0.13];
const PAST = 0.8; // of the opacity of the batch looked at

class Stamps {
  constructor(player) {
    this.player = player;
    this.layer = new PointLayer();
    this.stamps = new Map(); // by radius
  }

  begin() {
    const { width, height } = this.player.canvas;
    this.layer.begin(width, height);
  }

  end(context) {
    this.layer.end(context, this.player.width, this.player.height);
  }

  // All batches of the window of time that is shown, the oldest first.
  drawWindow(opacity) {
    const { view, store } = this.player;
    if (view.nShown === Infinity) this.drawPast(PAST * opacity);
    else for (let at = firstShown(view); at < view.index; at += 1) this.drawPoints(store.batches[at], PAST * opacity);
    this.drawPoints(view.batch, opacity);
  }

  // All batches before this one, stamped once: while the page plays, a batch is added to them.
  drawPast(opacity) {
    const { layer } = this;
    const { view, store, ratio, affine, looks } = this.player;
    const { rows } = view;
    const radius = pointRadius(this.player, view.batch);
    const key = [opacity, radius, ratio, layer.width, layer.height, ...affine, view.x, view.y, looks.version, view.selected, view.colorBy, rows.version, rows.filterVersion].join();
    if (this.pastKey !== key || this.pastEnd > view.index) {
      Object.assign(this, { pastKey: key, pastEnd: 0, past: new Uint32Array(layer.pixels.length) });
    }
    const { pixels } = layer;
    layer.pixels = this.past;
    for (; this.pastEnd < view.index; this.pastEnd += 1) this.drawPoints(store.batches[this.pastEnd], opacity);
    layer.pixels = pixels;
    pixels.set(this.past);
  }

  drawPoints(batch, opacity) {
    const { view, ratio } = this.player;
    const stamps = this.stampsFor(pointRadius(this.player, batch) * ratio, opacity * POINT_OPACITY, opacity * FAINT);
    const values = (axis) => (axis === TIME_AXIS ? null : batch.points[axis]);
    this.layer.stampRows(batch.slots.length, this.rowLooksOf(batch), stamps, this.line(values(view.x), values(view.y), batch.time));
  }

  // The look of each row of a batch; worked out once until looks, filters or colors change.
  rowLooksOf(batch) {
    const { view, looks: { version } } = this.player;
    const { rows, selected, colorBy } = view;
    const state = [version, selected, colorBy, rows.version, rows.filterVersion].join();
    if (batch.rowLooksState === state) return batch.rowLooks;
    const { first, slots } = batch;
    const { fails } = rows;
    const looks = this.looksOf(batch);
    const nobody = 2 * N_LOOKS + (isFaint(view, -1) ? 1 : 0);
    const column = colorBy ? rows.column(colorBy) : null;
    const bins = column ? rows.binsOf(column).of : null;
    const found = new Uint8Array(slots.length);
    for (let row = 0; row < found.length; row += 1) {
      if (fails[first + row]) found[row] = SKIPPED;
      else if (bins) found[row] = bins[first + row] === MISSING ? nobody : FIRST_BIN + bins[first + row];
      else found[row] = slots[row] === NO_CLUSTER ? nobody : looks[slots[row]];
    }
    Object.assign(batch, { rowLooks: found, rowLooksState: state });
    return found;
  }

  // Centers that were placed in pixels.
  drawCenters(batch, xs, ys) {
    const { ratio } = this.player;
    const stamps = this.stampsFor(2.4 * ratio, 1, 0.3);
    this.layer.stampRows(batch.ids.length, this.looksOf(batch), stamps, { xs, ys, ax: ratio, bx: 0, ay: ratio, by: 0 });
  }

  // From values to pixels of the layer; an axis of time has one value.
  line(xs, ys, time) {
    const { affine, ratio, toX, toY } = this.player;
    const [ax, bx, ay, by] = affine.map((number) => number * ratio);
    return { xs, ys, ax, ay, bx: xs ? bx : toX(time) * ratio, by: ys ? by : toY(time) * ratio };
  }

  // The look of each cluster of a batch as a number; worked out once until looks change.
  looksOf(batch) {
    const { looks, view } = this.player;
    const state = `${looks.version} ${view.selected}`;
    if (batch.looksState !== state) {
      batch.looksState = state;
      batch.looks = Uint8Array.from(batch.clusters, (cluster) => {
        const bearer = looks.bearerOf(cluster);
        return 2 * (bearer < 0 ? N_LOOKS : bearer % N_LOOKS) + (isFaint(view, cluster.id) ? 1 : 0);
      });
    }
    return batch.looks;
  }

  // A stamp for each look, plain and faint; made once for a radius, shaded anew for an opacity.
  stampsFor(radius, opacity, faint) {
    const { layer } = this;
    const { version } = this.player.looks;
    const { colorBy } = this.player.view;
    if (this.version !== version || this.layerWidth !== layer.width || this.colorBy !== colorBy) {
      Object.assign(this, { version, layerWidth: layer.width, colorBy });
      this.stamps.clear();
    }
    if (!this.stamps.has(radius)) this.stamps.set(radius, this.newStamps(radius));
    const stamps = this.stamps.get(radius);
    if (stamps.opacity !== opacity || stamps.faint !== faint) {
      Object.assign(stamps, { opacity, faint });
      stamps.forEach((stamp, look) => layer.shade(stamp, look < FIRST_BIN && look % 2 ? faint : opacity));
    }
    return stamps;
  }

  newStamps(radius) {
    const { palette, looks } = this.player.looks;
    const { view } = this.player;
    const column = view.colorBy ? view.rows.column(view.colorBy) : null;
    const colors = column ? binColors(this.player.looks, view.rows.binsOf(column)) : [];
    return Array.from({ length: FIRST_BIN + colors.length }, (_, at) => {
      const look = at >> 1;
      if (at === SKIPPED) return { half: 0, steps: new Int32Array(0), cover: [], color: 0, values: new Uint32Array(0) };
      if (at >= FIRST_BIN) return this.layer.stampOf("o", radius, pixelColor(colors[at - FIRST_BIN]));
      if (look === N_LOOKS) return this.layer.stampOf("o", radius, pixelColor(looks.unassigned));
      return this.layer.stampOf(looks.markers[look % looks.markers.length], radius, pixelColor(palette[look % palette.length]));
    });
  }
}

// From dark to light through the hues for numbers, as viridis; those of clusters for values.
const RAMP = ["#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6dcd59", "#b4de2c", "#fde725"];

function binColors({ palette, darkness }, bins) {
  const isOrdered = bins.isNumber || bins.column.kind === "hour";
  if (!isOrdered) return bins.labels.map((_, bin) => palette[bin % palette.length]);
  const ramp = darkness.matches ? RAMP.slice(2) : RAMP.slice(0, 9);
  return bins.labels.map((_, bin) => ramp[Math.round((bin / Math.max(1, bins.n - 1)) * (ramp.length - 1))]);
}

const firstShown = (view) => Math.max(0, view.index - view.nShown + 1);

function pointRadius({ domain, whole, view, store }, batch) {
  const share = (spanOf(domain.x) * spanOf(domain.y)) / (spanOf(whole.x) * spanOf(whole.y));
  const nDrawn = view.nShown > 1 ? view.batch.first + view.batch.slots.length - store.batches[firstShown(view)].first : batch.slots.length;
  const n = nDrawn * Math.min(1, share);
  return n > 6000 ? 1.4 : n > 1500 ? 2 : n > 400 ? 2.6 : 3.2;
}

// Whether a cluster is drawn faintly: another is chosen, or another family.
function isFaint(view, id) {
  return (view.selected !== null && id !== view.selected) || !view.isWanted(id);
}
