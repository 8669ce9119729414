// The globe and circles in a plane: coasts and borders, ways along great circles, seams, clock faces.

const SMALLEST_MAP = 10; // degrees: coasts of 1:110 million put ships on land on a map below this
const LONGEST_PIECE = 0.03; // radians of a great circle, about 200 km
const DEGREE_STEPS = [5, 10, 15, 30, 45, 60, 90];
// Steps that clocks and compasses are read in, by period.
const CLOCK_STEPS = { 24: [1, 2, 3, 6, 12], 360: [1, 5, 10, 15, 30, 45, 90], 7: [1], 12: [1, 2, 3, 6], 60: [1, 5, 10, 15, 30] };

// A value of an axis that comes round again, from its seam to a period beyond it.
const unwrapped = (value, { period, seam }) => (period ? value - period * Math.floor((value - seam) / period) : value);

// As the data write it: hours from 0 to 24, longitudes from -180 to 180 or from 0 to 360.
const ownValue = (value, { period, start }) => (period ? value - period * Math.floor((value - start) / period) : value);

// How many places a line has, then the steps between them: zigzag, seven bits a byte.
function earthLines(text, step) {
  const numbers = [];
  let [rest, shift] = [0, 0];
  for (const sign of atob(text)) {
    const byte = sign.charCodeAt(0);
    rest |= (byte & 127) << shift;
    shift += 7;
    if (byte > 127) continue;
    numbers.push((rest >>> 1) ^ -(rest & 1));
    [rest, shift] = [0, 0];
  }
  const lines = [];
  for (let at = 0; at < numbers.length; at += 1 + 2 * numbers[at]) {
    const line = [];
    let [x, y] = [0, 0];
    for (let row = 0; row < numbers[at]; row += 1) {
      x += numbers[at + 1 + 2 * row];
      y += numbers[at + 2 + 2 * row];
      line.push([x * step, y * step]);
    }
    lines.push(line);
  }
  return lines;
}

// Land in a tone of its own, with its coasts and borders.
function drawEarth(player, context) {
  const { earth } = player.store.header;
  const { x, y } = player.domain;
  if (!earth || !player.isMap || Math.max(spanOf(x), spanOf(y)) < SMALLEST_MAP) return;
  player.earth ??= { land: earthLines(earth.land, earth.step), borders: earthLines(earth.borders, earth.step) };
  const turns = [];
  for (let turn = Math.floor((x[0] - 190) / 360); turn <= Math.ceil((x[1] + 180) / 360); turn += 1) turns.push(360 * turn);
  const trace = (line) => {
    for (const turn of turns) {
      if (line.every(([lon]) => lon + turn < x[0]) || line.every(([lon]) => lon + turn > x[1])) continue;
      line.forEach(([lon, lat], row) => {
        const place = player.pixel([lon + turn, lat]);
        if (row) context.lineTo(...place);
        else context.moveTo(...place);
      });
    }
  };
  context.strokeStyle = context.fillStyle = player.ink.muted;
  for (const [name, width, alpha] of [["land", 1, 0.55], ["borders", 0.6, 0.4]]) {
    context.beginPath();
    player.earth[name].forEach(trace);
    if (name === "land") {
      context.globalAlpha = 0.1;
      context.fill();
    }
    context.lineWidth = width;
    context.globalAlpha = alpha;
    context.stroke();
  }
  context.globalAlpha = 1;
}

const radians = (degree) => (degree * Math.PI) / 180;

const onGlobe = ([lon, lat]) => [
  Math.cos(radians(lat)) * Math.cos(radians(lon)), Math.cos(radians(lat)) * Math.sin(radians(lon)), Math.sin(radians(lat)),
];

// The shortest way over the globe, ends included.
function greatCircle(from, to) {
  const [a, b] = [onGlobe(from), onGlobe(to)];
  const angle = Math.acos(clamp(a[0] * b[0] + a[1] * b[1] + a[2] * b[2], -1, 1));
  const n = Math.ceil(angle / LONGEST_PIECE);
  const places = [from];
  for (let k = 1; k < n && Math.sin(angle) > 1e-6; k += 1) {
    const [s, t] = [Math.sin((1 - k / n) * angle) / Math.sin(angle), Math.sin((k / n) * angle) / Math.sin(angle)];
    const [x, y, z] = [0, 1, 2].map((j) => s * a[j] + t * b[j]);
    places.push([(Math.atan2(y, x) * 180) / Math.PI, (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI]);
  }
  return [...places, to];
}

// The way from one place to another as lines that no seam crosses.
function waysBetween(player, from, to) {
  const axes = [player.view.x, player.view.y].map((axis) => player.store.header.axes[axis] ?? {});
  if (!axes.some(({ period }) => period)) return [[from, to]];
  const places = player.isMap ? greatCircle(from, to) : [from, to];
  const ways = [[from]];
  for (let row = 1; row < places.length; row += 1) {
    const before = ways.at(-1).at(-1);
    const here = places[row].map((value, j) => unwrapped(value, axes[j]));
    const near = here.map((value, j) => before[j] + shortest(value - before[j], axes[j]));
    ways.at(-1).push(near);
    const isAcross = near.some((value, j) => Math.abs(value - here[j]) > 1e-6);
    if (isAcross) ways.push([before.map((value, j) => value + here[j] - near[j]), here]);
  }
  return ways;
}

// A difference, the short way round.
const shortest = (difference, { period }) => (period ? difference - period * Math.round(difference / period) : difference);

function traceWays(player, path, from, to) {
  for (const way of waysBetween(player, from, to)) {
    path.moveTo(...player.pixel(way[0]));
    for (const place of way.slice(1)) path.lineTo(...player.pixel(place));
  }
}

// Ticks of degrees on the globe, or of a clock face; none beyond a pole.
function roundTicksOf(axis, low, high, n, isLatitude) {
  const rough = (high - low) / Math.max(n, 1);
  const steps = CLOCK_STEPS[axis.period] ?? [];
  const step = (isLatitude || axis.period === 360 ? DEGREE_STEPS : steps).find((size) => size >= rough * 0.999);
  if (rough < (steps[0] ?? 2.5) || step === undefined) return roundTicks(low, high, n).filter((value) => !isLatitude || Math.abs(value) <= 90);
  const ticks = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + 1e-9; value += step) ticks.push(value);
  return ticks.filter((value) => !isLatitude || Math.abs(value) <= 90);
}

// An angle as its axis is read: 06:30 on a day, degrees on a compass, numbers else.
function angleText(value, axis) {
  const own = ownValue(value, axis);
  if (axis.period === 24) {
    const minutes = Math.round(own * 60) % 1440;
    return `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
  }
  return `${formatNumber(own, 4)}${axis.period === 360 ? "°" : ""}`;
}

// A value in the user's own column.
function featureText(store, axis, value) {
  const [east, north] = store.header.lon_lat ?? [];
  const look = store.header.axes[axis];
  if (axis === east) return degrees(unwrapped(value, { period: 360, seam: -180 }), "EW");
  if (axis === north) return degrees(value, "NS");
  return look.period ? angleText(value, look) : formatNumber(value, 5);
}
