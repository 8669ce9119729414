// Three small pictures of the levels, and the tree of families: choosing one changes the whole page.

const MOST_DOTS = 3000;
const [TREE_ROWS, TREE_LEAVES] = [40, 400]; // levels and clusters drawn of the tree

class LevelPictures {
  constructor(store, view, looks, levels) {
    Object.assign(this, { store, view, looks, levels });
    this.part = byId("levels-part");
    this.place = byId("level-pictures");
    this.tree = byId("level-tree");
    this.ask = oncePerFrame(() => this.draw());
    watchDrag(this.tree, (event) => this.chooseRow(event));
    byId("level-keep").addEventListener("click", () => this.keep(this.levels.name));
    byId("level-python").addEventListener("click", () => this.copy(this.pythonText()));
    byId("level-command").addEventListener("click", () => this.copy(this.commandText()));
    view.onChange((changed) => {
      if (["levelName", "level", "x", "y", "isYDown", "rows"].some((name) => changed.has(name))) this.ask();
      if (changed.has("trial")) this.build();
    });
    looks.onChange(this.ask);
    watchSize(this.part, this.ask);
    this.build();
  }

  build() {
    const { levels } = this;
    this.part.hidden = levels.options.length === 0 || Boolean(this.store.header.isTrial);
    const [blocks, also] = this.view.tree ? ["family", ", or use [ and ]."] : ["cluster", "."];
    byId("tree-hint").textContent = `Cluster tree: each row is a level, each block a ${blocks}. The width of a block is its number of points. Choose a row${also}`;
    this.cards = levels.options.map((option) => this.card(option));
    this.place.replaceChildren(...this.cards.map(({ button }) => button));
    byId("level-keep").hidden = !(this.keep && this.store.header.levels); // set by a page that can edit its run
    this.ask();
  }

  card(option) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const noise = option.noise && !option.sentence.includes("noise") ? ` ${formatNumber(100 * option.noise, 2)} % noise.` : "";
    const button = make("button", { type: "button", class: "level-card", id: `level-${option.name}`, "aria-pressed": "false", onclick: () => this.levels.choose(option.name) },
      canvas, make("strong", {}, option.name), make("span", {}, `${option.sentence}${noise}`));
    return { option, canvas, button };
  }

  draw() {
    if (this.part.hidden) return;
    const sample = this.sample();
    for (const { option, canvas, button } of this.cards) {
      button.setAttribute("aria-pressed", String(option.name === this.levels.name));
      drawDots(canvas, sample, option.of, this.looks, this.view.isYDown);
    }
    this.drawTree();
  }

  // Rows at equal distances over the whole page, with the clusters of the finest level.
  sample() {
    const { view, store } = this;
    const { batches } = this.levels.base ?? store;
    const every = Math.max(1, Math.ceil(store.nRows / MOST_DOTS));
    const found = [];
    for (const batch of batches) {
      const value = (axis, row) => (axis === TIME_AXIS ? batch.time : batch.points[axis][row]);
      for (let row = 0; row < batch.slots.length; row += 1) {
        if ((batch.first + row) % every === 0 && batch.slots[row] !== NO_CLUSTER) found.push([value(view.x, row), value(view.y, row), batch.ids[batch.slots[row]]]);
      }
    }
    return found;
  }

  // An icicle: a row for each level, a piece for each family as wide as its points are many.
  drawTree() {
    const shown = this.shownTree();
    this.tree.parentElement.hidden = !shown;
    if (!shown) return;
    const { clusters } = this.levels.base ?? this.store;
    const [context, width, height] = sizedContext(this.tree);
    const leaves = [...clusters.values()].sort((a, b) => b.total - a.total).slice(0, TREE_LEAVES);
    const sizes = new Map(leaves.map(({ id, total }) => [id, total]));
    const order = shown.order(leaves.map(({ id }) => id), sizes);
    const all = leaves.reduce((sum, { total }) => sum + total, 0) || 1;
    const tall = height / shown.rows.length;
    shown.rows.forEach(({ of }, at) => {
      let [x, from] = [0, 0];
      for (let k = 0; k < order.length; k += 1) {
        x += (width * sizes.get(order[k])) / all;
        const family = of(order[k]);
        if (k < order.length - 1 && family === of(order[k + 1])) continue;
        context.fillStyle = family < 0 ? this.looks.looks.unassigned : this.looks.palette[family % this.looks.palette.length];
        context.globalAlpha = at === shown.chosen ? 1 : 0.55;
        context.fillRect(from, height - (at + 1) * tall, Math.max(0.5, x - from - 0.6), Math.max(1, tall - 0.6));
        from = x;
      }
    });
    context.globalAlpha = 1;
    context.strokeStyle = getComputedStyle(this.tree).color;
    context.lineWidth = 2;
    context.strokeRect(1, height - (shown.chosen + 1) * tall, width - 2, tall);
    this.nameRows(context, shown.rows, height);
  }

  // The tree of families, or the three levels one above the other; null where there is one level.
  shownTree() {
    const { tree } = this.view;
    if (tree && tree.levels.length > 1) {
      const rows = treeRows(tree.levels.length);
      const chosen = rows.findLastIndex((row) => row <= this.chosenRow);
      return { rows: rows.map((row) => ({ row, of: tree.at(row) })), chosen, order: (ids) => leafOrder(tree, ids) };
    }
    const { options, name } = this.levels;
    if (tree || options.length < 2) return null;
    const finest = options[0].name === "fine" ? options : [...options].reverse();
    return { rows: finest, chosen: finest.findIndex((one) => one.name === name), order: (ids, sizes) => nestedOrder(finest, ids, sizes) };
  }

  // Names of the levels, at the left of their rows.
  nameRows(context, rows, height) {
    const style = getComputedStyle(this.tree);
    const tall = height / rows.length;
    Object.assign(context, { font: `600 12px ${style.fontFamily}`, textBaseline: "middle", lineWidth: 3.5, lineJoin: "round" });
    context.strokeStyle = style.getPropertyValue("--card");
    context.fillStyle = style.color;
    rows.forEach(({ name }, at) => {
      if (!name) return;
      const y = height - (at + 0.5) * tall;
      context.strokeText(name, 9, y);
      context.fillText(name, 9, y);
    });
  }

  get chosenRow() {
    const option = this.levels.option(this.levels.name);
    return Math.max(this.view.level, option?.row ?? 0);
  }

  chooseRow(event) {
    const shown = this.shownTree();
    const box = this.tree.getBoundingClientRect();
    const share = clamp(1 - (event.clientY - box.top) / box.height, 0, 0.999);
    const { row, name } = shown.rows[Math.floor(share * shown.rows.length)];
    if (name) this.levels.choose(name);
    else this.view.set({ level: row });
  }

  say(text) {
    byId("level-copied").textContent = text;
    byId("level-copied").hidden = false;
  }

  async copy(text) {
    this.say(text);
    await navigator.clipboard?.writeText(text).catch(() => {});
  }

  get family() {
    return this.levels.option(this.levels.name)?.n_per_window ?? 0;
  }

  pythonText() {
    const { levels, calls } = this.store.header;
    const call = calls?.run.python ?? "dynmeans.cluster(frame, ...)";
    if (levels) return `found = ${withArgument(call, "level", `"${this.levels.name}"`)}`;
    const found = withArgument(call, "families", "True");
    return `found = ${found}\nfound.families.cut_to(${Math.max(1, Math.round(this.family))})`;
  }

  commandText() {
    const { levels, calls } = this.store.header;
    if (levels) return `${calls?.run.command ?? "dynmeans cluster INPUT"} --level ${this.levels.name}`;
    return `dynmeans families ${calls?.folder ?? "RUN"} --n-families ${Math.max(1, Math.round(this.family))}`;
  }
}

// At most so many levels, the first and the last among them.
function treeRows(n) {
  const m = Math.min(n, TREE_ROWS);
  return [...new Set(Array.from({ length: m }, (_, k) => Math.round((k * (n - 1)) / Math.max(1, m - 1))))];
}

// Clusters in an order in which every family of every level lies together.
function leafOrder(tree, ids) {
  const members = new Map(ids.map((id) => [id, [id]]));
  const top = tree.members(ids);
  return top.length === ids.length ? top : [...members.keys()];
}

// Clusters of a coarse level beside each other, the largest first, and within them those of finer levels.
function nestedOrder(levels, ids, sizes) {
  const totals = levels.map(({ of }) => {
    const sums = new Map();
    for (const id of ids) sums.set(of(id), (sums.get(of(id)) ?? 0) + sizes.get(id));
    return sums;
  });
  const compare = (a, b) => {
    for (let row = levels.length - 1; row >= 0; row -= 1) {
      const [one, two] = [levels[row].of(a), levels[row].of(b)];
      if (one !== two) return (one < 0) - (two < 0) || totals[row].get(two) - totals[row].get(one) || one - two;
    }
    return a - b;
  };
  return [...ids].sort(compare);
}

function sizedContext(canvas) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return [context, width, height];
}

function drawDots(canvas, sample, of, looks, isDown) {
  const [context, width, height] = sizedContext(canvas);
  if (!width || !sample.length) return;
  const ends = [0, 1].map((axis) => {
    const values = sample.map((one) => one[axis]).sort((a, b) => a - b);
    const few = Math.floor(0.005 * values.length);
    return [values[few], values[values.length - 1 - few]];
  });
  const share = (value, [low, high]) => (high > low ? (value - low) / (high - low) : 0.5);
  context.globalAlpha = 0.75;
  for (const [x, y, id] of sample) {
    const shown = of(id);
    context.fillStyle = shown < 0 ? looks.looks.unassigned : looks.palette[shown % looks.palette.length];
    const down = isDown ? share(y, ends[1]) : 1 - share(y, ends[1]);
    context.fillRect(4 + share(x, ends[0]) * (width - 8) - 1, 4 + down * (height - 8) - 1, 2.2, 2.2);
  }
}
