// Points as stamps in a picture of their own: tens of thousands are drawn within a frame, on any screen.

class PointLayer {
  constructor(looks) {
    this.looks = looks;
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

  // The pixels that a marker covers, and how much of each, from 0 to 255.
  mask(marker, radius) {
    const key = `${marker}${radius}`;
    if (!this.masks.has(key)) this.masks.set(key, makeMask(marker, radius));
    return this.masks.get(key);
  }

  // Where stamps overlap, the stronger one is seen: as many points lie in one place, it is no darker.
  stamp(mask, x, y, color, opacity) {
    const { pixels, width, height } = this;
    const { half, across, down, cover } = mask;
    const [left, top] = [Math.round(x), Math.round(y)];
    if (left < half || top < half || left + half >= width || top + half >= height) return;
    const middle = top * width + left;
    for (let k = 0; k < cover.length; k += 1) {
      const at = middle + down[k] * width + across[k];
      const alpha = (cover[k] * opacity) | 0;
      if (alpha > pixels[at] >>> 24) pixels[at] = (alpha << 24) | color;
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
