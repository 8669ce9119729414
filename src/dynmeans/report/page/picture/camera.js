// The part of the plane that is looked at: zoomed about a place, moved, and true to scale on a map.

const DEEPEST = 5000; // times; places are stored in 65,536 steps of an axis

const spanOf = ([low, high]) => high - low;

// Both axes of a domain, smaller by the factor about a place; none if it is the whole again.
function zoomedDomain(domain, whole, factor, [x, y]) {
  const zoomed = [domain.x, domain.y].map((limits, axis) => {
    const [about, most] = [[x, y][axis], spanOf([whole.x, whole.y][axis])];
    const span = clamp(spanOf(limits) * factor, most / DEEPEST, most);
    const share = (about - limits[0]) / spanOf(limits);
    return [about - share * span, about + (1 - share) * span];
  });
  const isWhole = spanOf(zoomed[0]) >= 0.999 * spanOf(whole.x) && spanOf(zoomed[1]) >= 0.999 * spanOf(whole.y);
  return isWhole ? null : keptInside({ x: zoomed[0], y: zoomed[1] }, whole);
}

// The same view elsewhere, its middle never outside of the whole.
function movedDomain(domain, whole, dx, dy) {
  const move = ([low, high], by) => [low + by, high + by];
  return keptInside({ x: move(domain.x, dx), y: move(domain.y, dy) }, whole);
}

function keptInside(domain, whole) {
  const keep = ([low, high], [first, last]) => {
    const middle = (low + high) / 2;
    const by = clamp(middle, first, last) - middle;
    return [low + by, high + by];
  };
  return { x: keep(domain.x, whole.x), y: keep(domain.y, whole.y) };
}

// No farther than a pole, as long as there is room.
function onTheGlobe({ x, y: [south, north] }) {
  const by = north - south >= 180 ? -(south + north) / 2 : Math.max(0, -90 - south) - Math.max(0, north - 90);
  return { x, y: [south + by, north + by] };
}

// Once around, and from pole to pole: no more than there is.
function onOneGlobe({ x, y }) {
  const middle = (x[0] + x[1]) / 2;
  return { x: spanOf(x) > 360 ? [middle - 180, middle + 180] : x, y: [Math.max(y[0], -90), Math.min(y[1], 90)] };
}

// A degree of longitude as wide as it is on the ground, at the middle latitude of the data.
function trueToScale(domain, latitudes, width, height) {
  const ratio = Math.cos((clamp((latitudes[0] + latitudes[1]) / 2, -85, 85) * Math.PI) / 180);
  const [across, up] = [(spanOf(domain.x) * ratio) / width, spanOf(domain.y) / height];
  const widen = ([low, high], times) => {
    const [middle, half] = [(low + high) / 2, ((high - low) * times) / 2];
    return [middle - half, middle + half];
  };
  return across < up ? { x: widen(domain.x, up / across), y: domain.y } : { x: domain.x, y: widen(domain.y, across / up) };
}
