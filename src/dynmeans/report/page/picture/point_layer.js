// Points as stamps in a picture of their own: tens of thousands are drawn within a frame, on any screen.

class PointLayer {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d", { willReadFrequently: true });
    this.masks = new Map();
  }

  begin(width, height) {
    if (this.image?.width !== width || this.image?.height !== height) {
      [this.canvas.width, this.canvas.height] = [width, height];
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      Object.assign(this, { width, height });
    }
    this.pixels.fill(0);
  }

  // A marker in a color: steps from its middle to its pixels, and what is put there once it is shaded.
  stampOf(marker, radius, color) {
    const key = `${marker}${radius}`;
    if (!this.masks.has(key)) this.masks.set(key, makeMask(marker, radius));
    const { half, across, down, cover } = this.masks.get(key);
    const steps = Int32Array.from(cover, (_, k) => down[k] * this.width + across[k]);
    return { half, steps, cover, color, values: new Uint32Array(cover.length) };
  }

  shade({ cover, color, values }, opacity) {
    for (let k = 0; k < cover.length; k += 1) values[k] = (((cover[k] * opacity) | 0) << 24) | color;
  }

  // Stamps all rows: the stamp of each by its number, its place in pixels from its values.
  stampRows(n, lookOf, stamps, { xs, ys, ax, bx, ay, by }) {
    const { pixels, width, height } = this;
    for (let row = 0; row < n; row += 1) {
      const { half, steps, values } = stamps[lookOf[row]];
      const left = Math.round(xs ? ax * xs[row] + bx : bx);
      const top = Math.round(ys ? ay * ys[row] + by : by);
      if (left < half || top < half || left + half >= width || top + half >= height) continue;
      const middle = top * width + left;
      // Where stamps overlap, the stronger is seen: as many points lie in one place, it is no darker.
      for (let k = 0; k < steps.length; k += 1) {
        if (values[k] > pixels[middle + steps[k]]) pixels[middle + steps[k]] = values[k];
      }
    }
  }

  end(context, width, height) {
    this.context.putImageData(this.image, 0, 0);
    context.drawImage(this.canvas, 0, 0, width, height);
  }
}

function makeMask(marker, radius) {
  const half = Math.ceil(1.3 * radius) + 1;
  const size = 2 * half + 1;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [size, size];
  const context = canvas.getContext("2d");
  const path = new Path2D();
  traceMarker(path, marker, half + 0.5, half + 0.5, radius);
  context.fill(path);
  const { data } = context.getImageData(0, 0, size, size);
  const rows = Array.from({ length: size * size }, (_, row) => row).filter((row) => data[4 * row + 3] > 0);
  return {
    half,
    across: Int8Array.from(rows, (row) => (row % size) - half),
    down: Int8Array.from(rows, (row) => Math.floor(row / size) - half),
    cover: Uint8Array.from(rows, (row) => data[4 * row + 3]),
  };
}

// #rrggbb as the lower three bytes of a pixel.
function pixelColor(color) {
  const value = parseInt(color.slice(1), 16);
  return ((value & 255) << 16) | (value & 0xff00) | (value >> 16);
}
