// Where clusters go, if they keep a course: arrows in the picture, speeds in words.

const SHORTEST_ARROW = 5; // pixels
const KM_PER_DEGREE = 111.195;
const HEADINGS = ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"];
// Up to steps of so many seconds, a speed is told for this time.
const SPEED_UNITS = [[30, 1, "second"], [1800, 60, "minute"], [43200, 3600, "hour"], [Infinity, 86400, "day"]];

// From the center to where the cluster is expected a step of time later.
function drawArrow(context, [x, y], [toX, toY], color) {
  const length = Math.hypot(toX - x, toY - y);
  if (!(length > SHORTEST_ARROW)) return;
  const [ux, uy] = [(toX - x) / length, (toY - y) / length];
  const head = clamp(length / 2, 4, 8);
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = 1.6;
  line(context, x, y, toX - ux * head, toY - uy * head);
  context.beginPath();
  context.moveTo(toX, toY);
  context.lineTo(toX - ux * head - uy * head * 0.45, toY - uy * head + ux * head * 0.45);
  context.lineTo(toX - ux * head + uy * head * 0.45, toY - uy * head - ux * head * 0.45);
  context.closePath();
  context.fill();
}

// Speed in the units of the features, or in kilometers on a map; none without a course.
function speedText(store, batch, slot) {
  if (!batch.velocities) return null;
  const { lon_lat: map, is_dated: isDated } = store.header;
  const seconds = isDated ? store.timePerStep : null;
  const along = (axis) => batch.velocities[axis][slot];
  if (map) {
    const latitude = batch.centers[map[1]][slot];
    const east = along(map[0]) * KM_PER_DEGREE * Math.cos((latitude * Math.PI) / 180);
    const north = along(map[1]) * KM_PER_DEGREE;
    const speed = Math.hypot(east, north);
    const heading = speed > 0 ? `, ${HEADINGS[Math.round((Math.atan2(east, north) / Math.PI) * 4 + 8) % 8]}` : "";
    return seconds ? `${formatNumber((speed * 3600) / seconds, 3)} km/h${heading}` : `${formatNumber(speed, 3)} km a step${heading}`;
  }
  const features = store.header.axes.flatMap(({ kind }, axis) => (kind === "feature" ? [axis] : []));
  const axes = features.length ? features : store.header.axes.map((_, axis) => axis);
  const speed = Math.hypot(...axes.map(along));
  if (!seconds) return `${formatNumber(speed, 3)} a step`;
  const [, unit, name] = SPEED_UNITS.find(([longest]) => seconds < longest);
  return `${formatNumber((speed * unit) / seconds, 3)} per ${name}`;
}
