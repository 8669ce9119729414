// The frame of the picture: grid, ticks, names of the axes, lines under the points, a scale on maps.

const SCALE_BAR = 120; // the longest, in pixels

// What does not move while the page plays: drawn once, then copied.
class Frame {
  constructor(player) {
    this.player = player;
    this.canvas = document.createElement("canvas");
    this.known = new Map(); // ticks
  }

  draw(context) {
    const { width, height, ratio, domain, view, box, themeVersion, canvas } = this.player;
    if (context.isVector) {
      this.paint(context);
      return;
    }
    const key = JSON.stringify([width, height, ratio, domain, view.x, view.y, box, themeVersion]);
    if (this.key !== key) {
      this.key = key;
      [this.canvas.width, this.canvas.height] = [canvas.width, canvas.height];
      const still = this.canvas.getContext("2d");
      still.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.paint(still);
    }
    context.drawImage(this.canvas, 0, 0, width, height);
  }

  paint(context) {
    const { left, top, right, bottom } = this.player.box;
    drawAxes(this.player, context, this.player.height);
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, bottom - top);
    context.clip();
    drawEarth(this.player, context);
    drawBackdrop(this.player, context);
    context.restore();
  }

  ticks(axis, limits, n) {
    const key = `${axis} ${limits} ${n}`;
    if (!this.known.has(key)) {
      this.known.clear();
      this.known.set(key, axisTicks(this.player, axis, limits, n));
    }
    return this.known.get(key);
  }
}

function drawAxes(player, context, height) {
  const { box, ink, view, store, domain } = player;
  context.font = `12px ${player.font}`;
  context.lineWidth = 1;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.muted;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const [value, name] of axisTicks(player, view.y, domain.y, (box.bottom - box.top) / 50)) {
    const y = Math.round(player.toY(value)) + 0.5;
    line(context, box.left, y, box.right, y);
    context.fillText(name, box.left - 8, y);
  }
  context.textAlign = "center";
  for (const [value, name] of axisTicks(player, view.x, domain.x, (box.right - box.left) / 90)) {
    const x = Math.round(player.toX(value)) + 0.5;
    const end = (edge, pole) => (player.isMap ? clamp(player.toY(pole), box.top, box.bottom) : edge);
    line(context, x, end(box.top, 90), x, end(box.bottom, -90));
    context.fillText(name, x, box.bottom + 12);
  }
  context.fillStyle = ink.ink;
  context.font = `600 12px ${player.font}`;
  context.fillText(store.axisName(view.x), (box.left + box.right) / 2, height - 9);
  context.save();
  context.translate(11, (box.top + box.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(store.axisName(view.y), 0, 0);
  context.restore();
}

function axisTicks(player, axis, [low, high], n) {
  if (axis === TIME_AXIS) return player.text.ticks(low, high, n);
  const { store } = player;
  const look = store.header.axes[axis];
  const isLatitude = axis === store.header.lon_lat?.[1];
  if (!isLatitude && !look.period) return roundTicks(low, high, n).map((value) => [value, formatNumber(value, 6)]);
  return roundTicksOf(look, low, high, n, isLatitude).map((value) => [value, featureText(store, axis, value)]);
}

function degrees(value, [positive, negative]) {
  const sign = value === 0 || Math.abs(value) === 180 ? "" : ` ${value > 0 ? positive : negative}`;
  return `${formatNumber(Math.abs(value), 5)}°${sign}`;
}

// Coasts and the like, where the axes are theirs.
function drawBackdrop(player, context) {
  const { backdrop } = player.store.header;
  if (!backdrop || backdrop.axes[0] !== player.view.x || backdrop.axes[1] !== player.view.y) return;
  context.strokeStyle = player.ink.muted;
  context.globalAlpha = 0.45;
  context.lineWidth = 1;
  for (const places of backdrop.lines) {
    context.beginPath();
    for (const place of places) context.lineTo(...player.pixel(place));
    context.stroke();
  }
  context.globalAlpha = 1;
}

// How long a round number of kilometers is, where the picture is a map.
function drawScaleBar(player, context) {
  if (!player.isMap) return;
  const { box, domain, ink } = player;
  const kmPerPixel = (spanOf(domain.y) * KM_PER_DEGREE) / (box.bottom - box.top);
  const most = SCALE_BAR * kmPerPixel;
  const power = 10 ** Math.floor(Math.log10(most));
  const km = [5, 2, 1].map((times) => times * power).find((length) => length <= most);
  const [x, y, width] = [box.right - 12 - km / kmPerPixel, box.bottom - 12, km / kmPerPixel];
  context.strokeStyle = context.fillStyle = ink.muted;
  context.lineWidth = 1.5;
  line(context, x, y, x + width, y);
  for (const end of [x, x + width]) line(context, end, y - 4, end, y + 4);
  context.font = `12px ${player.font}`;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillText(km >= 1 ? `${formatNumber(km)} km` : `${formatNumber(1000 * km)} m`, x + width / 2, y - 6);
}

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}
