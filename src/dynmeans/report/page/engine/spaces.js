// Rows as points of the space they were clustered in, and centers as rows again.

const EARTH_RADIUS = 6371.0088; // km

// How many coordinates a piece of a space has, and both ways between its features and these.
const PIECES = {
  scaled: {
    size: ({ features }) => features.length,
    to: ({ scales }, values) => values.map((value, j) => value / scales[j]),
    back: ({ scales }, point) => point.map((value, j) => value * scales[j]),
  },
  geo: {
    size: () => 3,
    to: (_, [latitude, longitude]) => onGlobe([longitude, latitude]).map((value) => EARTH_RADIUS * value),
    back: (_, [x, y, z]) => [Math.atan2(z, Math.hypot(x, y)), Math.atan2(y, x)].map((angle) => (angle * 180) / Math.PI),
  },
  direction: {
    size: ({ features }) => features.length,
    to: (_, values) => {
      // As in spaces/cosine.py: visiting orders follow the bits.
      const largest = Math.max(...values.map(Math.abs)) || 1;
      const scaled = values.map((value) => value / largest);
      const length = Math.sqrt(scaled.reduce((sum, value) => sum + value * value, 0)) || 1;
      return scaled.map((value) => value / length);
    },
    back: (_, point) => point,
    tell: (distance) => (distance < 2 ? `cosine ${formatNumber(1 - distance ** 2 / 2, 3)}` : "the opposite direction"),
  },
  angle: {
    size: () => 2,
    to: ({ period }, [value]) => [Math.cos, Math.sin].map((of) => (period / (2 * Math.PI)) * of((2 * Math.PI * value) / period)),
    back: ({ period }, [x, y]) => [(Math.atan2(y, x) / (2 * Math.PI)) * period],
  },
};

class EngineSpace {
  constructor(pieces) {
    this.pieces = pieces.map((piece) => ({ ...piece, ...PIECES[piece.kind] }));
    this.size = this.pieces.reduce((n, piece) => n + piece.size(piece), 0);
    this.nFeatures = this.pieces.reduce((n, { features }) => n + features.length, 0);
  }

  // Features to coordinates.
  to(values) {
    return this.pieces.flatMap((piece) => piece.to(piece, piece.features.map((j) => values[j])).map((value) => value * piece.weight));
  }

  back(point) {
    const values = new Array(this.nFeatures);
    let first = 0;
    for (const piece of this.pieces) {
      const part = point.slice(first, first + piece.size(piece)).map((value) => value / piece.weight);
      piece.back(piece, part).forEach((value, j) => { values[piece.features[j]] = value; });
      first += part.length;
    }
    return values;
  }

  // A distance in the unit of each piece: how far it alone may be apart.
  tell(distance) {
    const plain = (far, unit) => `${formatNumber(far, 3)} ${unit}`.trim();
    return this.pieces.map(({ weight, unit, tell = plain }) => tell(distance / weight, unit)).join(" or ");
  }
}
