// A color and a marker for each identity: those of the package's figures. At a level of the tree
// the members of a family have those of the family; clusters that are not confirmed are gray.

const HALF = Math.sqrt(Math.PI) / 2; // half the side of a square as large as a disk of radius 1

// Corners of each marker for radius 1; all cover about the same area.
const CORNERS = {
  s: [[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF]],
  "^": [[0, -1.25], [1.2, 0.85], [-1.2, 0.85]],
  D: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  v: [[0, 1.25], [1.2, -0.85], [-1.2, -0.85]],
  P: plusCorners(1.15, 0.42, 0),
  X: plusCorners(1.2, 0.44, Math.PI / 4),
};

function plusCorners(long, short, turn) {
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const corners = [];
  for (const [ux, uy] of [[0, -1], [1, 0], [0, 1], [-1, 0]]) {
    corners.push([long * ux + short * uy, long * uy - short * ux]);
    corners.push([long * ux - short * uy, long * uy + short * ux]);
    corners.push([short * (ux - uy), short * (uy + ux)]);
  }
  return corners.map(([x, y]) => [x * cos - y * sin, x * sin + y * cos]);
}

function traceMarker(path, marker, x, y, radius) {
  const corners = CORNERS[marker];
  if (!corners) {
    path.moveTo(x + radius, y);
    path.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  corners.forEach(([dx, dy], row) => {
    if (row === 0) path.moveTo(x + radius * dx, y + radius * dy);
    else path.lineTo(x + radius * dx, y + radius * dy);
  });
  path.closePath();
}

class Looks {
  constructor(looks, view) {
    Object.assign(this, { looks, view, listeners: [], version: 0 });
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.darkness.addEventListener("change", () => this.notify());
    this.choosePalette();
    view.store.onAppend(() => { this.version += 1; }); // Clusters that grew may be confirmed.
    view.onChange((changed) => {
      if (["level", "minSize", "minLife", "onlyFamily"].some((name) => changed.has(name))) this.notify();
    });
  }

  // Calls back when colors or markers are others than before.
  onChange(callback) {
    this.listeners.push(callback);
  }

  choosePalette() {
    this.palette = this.darkness.matches ? this.looks.dark : this.looks.light;
  }

  notify() {
    this.version += 1;
    this.choosePalette();
    for (const callback of this.listeners) callback();
  }

  // Whose color and marker a cluster has: its family's, or nobody's.
  bearer(id) {
    return id < 0 ? -1 : this.bearerOf(this.view.store.clusters.get(id));
  }

  // The same, worked out once until looks change.
  bearerOf(cluster) {
    if (cluster.lookVersion !== this.version) {
      cluster.lookVersion = this.version;
      cluster.bearer = this.view.isConfirmed(cluster.id) ? this.view.family(this.view.store.shownAs(cluster.id)) : -1;
    }
    return cluster.bearer;
  }

  color(id) {
    const bearer = this.bearer(id);
    return bearer < 0 ? this.looks.unassigned : this.palette[bearer % this.palette.length];
  }

  marker(id) {
    const bearer = this.bearer(id);
    return bearer < 0 ? "o" : this.looks.markers[bearer % this.looks.markers.length];
  }

  // Adds the outline of a cluster's marker to a path.
  trace(path, id, x, y, radius) {
    traceMarker(path, this.marker(id), x, y, radius);
  }

  // The same as the d of an SVG path.
  outline(id, x, y, radius) {
    const corners = CORNERS[this.marker(id)];
    if (!corners) {
      const side = `${radius} ${radius} 0 1 0`;
      return `M${x - radius} ${y}a${side} ${2 * radius} 0a${side} ${-2 * radius} 0z`;
    }
    const places = corners.map(([dx, dy]) => `${(x + radius * dx).toFixed(2)} ${(y + radius * dy).toFixed(2)}`);
    return `M${places.join("L")}z`;
  }

  // A small picture of the marker, to stand in text.
  badge(id, size = 16) {
    const path = makeSvg("path", { d: this.outline(id, 0, 0, 5.6), fill: this.color(id), class: "mark" });
    return makeSvg("svg", { viewBox: "-8 -8 16 16", width: size, height: size, "aria-hidden": "true" }, path);
  }
}
