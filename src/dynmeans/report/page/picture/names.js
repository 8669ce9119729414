// Where the numbers of the clusters stand in the picture, each where it covers no other.

const MAX_NAMES = 40; // More numbers than these cannot be told apart in one picture.
const ROOM = 9000; // square pixels for a name: fewer names on a phone
const FEWEST_NAMES = 8;
const N_TRIED = 2; // names for each that there is room for
const NAME_HEIGHT = 14;
const NAME_GAP = 5; // pixels between names side by side
const MOST_COVERED = 1; // marks of other clusters that a name may cover
const MAX_WIDTHS = 20000;

// The chosen cluster first, then the largest; a name without a place that is free of other names and
// of nearly all marks is left out.
function placeNames(marks, chosen, box, measure, all = marks, radius = () => 0) {
  const inside = marks.filter(({ x, y }) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
  const counts = inside.map(({ id, count }) => (id === chosen ? Infinity : count));
  const most = clamp(Math.floor(((box.right - box.left) * (box.bottom - box.top)) / ROOM), FEWEST_NAMES, MAX_NAMES);
  const named = largest(counts, N_TRIED * MAX_NAMES, () => true).map((row) => inside[row]);
  const covers = all.map((mark) => square(mark, radius(mark)));
  const placed = [];
  for (const { id, x, y } of named) {
    if (placed.length === most) break;
    let [best, fewest] = [null, id === chosen ? Infinity : MOST_COVERED + 1];
    for (const place of nameBoxes(x, y, measure(id))) {
      if (fewest === 0) break;
      if (!isInside(place, box) || placed.some((other) => overlaps(place, other, NAME_GAP))) continue;
      const n = countCovered(place, covers, id, fewest);
      if (n < fewest) [best, fewest] = [place, n];
    }
    if (best) placed.push({ id, ...best });
  }
  return placed;
}

// Places beside a mark, best first.
function nameBoxes(x, y, width) {
  const [right, left] = [x + 9, x - 9 - width];
  const middle = x - width / 2;
  return [[right, y - 16], [right, y + 2], [left, y - 16], [left, y + 2], [right, y - 7], [left, y - 7], [middle, y - 23], [middle, y + 9]].map(([boxLeft, top]) => ({
    left: boxLeft,
    top,
    right: boxLeft + width,
    bottom: top + NAME_HEIGHT,
  }));
}

// Marks of others under a place, up to so many: it is called for each place of each name in each frame.
function countCovered(place, covers, id, most) {
  let n = 0;
  for (let row = 0; row < covers.length && n < most; row += 1) if (covers[row].id !== id && overlaps(place, covers[row])) n += 1;
  return n;
}

const square = ({ id, x, y }, half) => ({ id, left: x - half, right: x + half, top: y - half, bottom: y + half });
const overlaps = (a, b, gap = 0) => a.left - gap < b.right && b.left < a.right + gap && a.top < b.bottom && b.top < a.bottom;
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
