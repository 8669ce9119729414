// Which clusters belong together, at every level of their tree.

const APART = -8; // the level at which nothing is joined

class FamilyTree {
  constructor({ joined, heights, level }) {
    this.joined = readColumn(joined, Uint32Array);
    this.heights = readColumn(heights, Float32Array);
    this.levels = [APART, ...new Set(this.heights)];
    this.start = this.rowOfLevel(level);
  }

  // The level to join at: the one shown at first, or the first that joins anything.
  get joinedRow() {
    return this.start || Math.min(1, this.levels.length - 1);
  }

  // The last of the levels that is not above the given one.
  rowOfLevel(level) {
    const rounded = Math.fround(level); // as the heights are
    return Math.max(0, this.levels.findLastIndex((height) => height <= rounded));
  }

  // These clusters in an order in which every family of every level lies together.
  members(ids) {
    const groups = new Map();
    const of = (id) => {
      if (!groups.has(id)) groups.set(id, []);
      return groups.get(id);
    };
    for (const id of ids) of(id).push(id);
    for (let row = 0; row < this.heights.length; row += 1) {
      const [stays, goes] = [this.joined[2 * row], this.joined[2 * row + 1]];
      of(stays).push(...of(goes));
      groups.delete(goes);
    }
    return [...groups.values()].flat();
  }

  // A function from cluster to family, which is named after its oldest member.
  at(position) {
    const parent = new Map();
    const nameOf = (id) => {
      let name = id;
      while (parent.has(name)) name = parent.get(name);
      return name;
    };
    for (let row = 0; row < this.heights.length && this.heights[row] <= this.levels[position]; row += 1) {
      parent.set(this.joined[2 * row + 1], this.joined[2 * row]);
    }
    return nameOf;
  }
}
