// Where the numbers of the clusters stand in the picture, each where it covers no other.

const MAX_NAMES = 40; // More numbers than these cannot be told apart in one picture.
const NAME_HEIGHT = 14;
const MAX_WIDTHS = 20000;

// The chosen cluster first, then the largest; a number without a free place is left out.
function placeNames(marks, chosen, box, measure) {
  const inside = marks.filter(({ x, y }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
  const counts = inside.map(({ id, count }) => (id === chosen ? Infinity : count));
  const named = largest(counts, MAX_NAMES, () => true).map((row) => inside[row]);
  const placed = [];
  for (const { id, x, y } of named) {
    const isFree = (place) => isInside(place, box) && !placed.some((other) => overlaps(place, other));
    const place = nameBoxes(x, y, measure(id)).find(isFree);
    if (place) placed.push({ id, ...place });
  }
  return placed;
}

// Places beside a mark, best first.
function nameBoxes(x, y, width) {
  const [right, left] = [x + 9, x - 9 - width];
  return [[right, y - 16], [right, y + 2], [left, y - 16], [left, y + 2]].map(([boxLeft, top]) => ({
    left: boxLeft,
    top,
    right: boxLeft + width,
    bottom: top + NAME_HEIGHT,
  }));
}

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const isInside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;

// How wide texts are; measured once.
class TextWidths {
  constructor() {
    this.context = document.createElement("canvas").getContext("2d");
    this.known = new Map();
  }

  of(text, font) {
    const key = `${font} ${text}`;
    if (!this.known.has(key)) {
      if (this.known.size > MAX_WIDTHS) this.known.clear();
      this.context.font = font;
      this.known.set(key, this.context.measureText(text).width);
    }
    return this.known.get(key);
  }
}
