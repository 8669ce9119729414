// Numbers over time below the timeline: clusters, points and cost, with the value at the playhead.

const CHART = 92; // height of a chart
const CHART_TOP = 8;

class Charts {
  constructor(store, view, looks, scale) {
    Object.assign(this, { store, view, scale });
    this.charts = [
      new Chart("chart-clusters", [
        { value: (batch) => batch.nRemembered, class: "line is-second", isArea: true },
        { value: (batch) => batch.nSeen, class: "line is-first" },
      ], (batch) => `${formatCount(batch.nSeen)} seen, ${formatCount(batch.nRemembered)} remembered`),
      new Chart("chart-points", [{ value: (batch) => batch.nPoints, class: "line is-first", isArea: true }], (batch) => formatCount(batch.nPoints)),
      new Chart("chart-cost", [{ value: (batch) => batch.cost, class: "line is-first", isArea: true }], (batch) => formatNumber(batch.cost)),
    ];
    for (const chart of this.charts) watchDrag(chart.svg, (event) => this.seek(chart, event));
    this.draw = oncePerFrame(() => this.charts.forEach((chart) => chart.draw(store, scale)));
    this.read = view.nowAndThen(() => this.charts.forEach((chart) => chart.read(view.batch)));
    store.onAppend(this.draw); // another level has other numbers
    view.onChange((changed) => {
      if (changed.has("scale")) this.draw();
      this.read();
    });
  }

  seek(chart, event) {
    const left = chart.svg.getBoundingClientRect().left;
    this.view.set({ isPlaying: false });
    this.view.goTo(this.scale.indexAt(event.clientX - left));
  }
}

class Chart {
  constructor(id, lines, describe) {
    this.svg = byId(id);
    this.value = byId(`${id}-now`);
    this.high = byId(`${id}-high`);
    this.lines = lines;
    this.describe = describe;
  }

  read(batch) {
    this.value.textContent = this.describe(batch);
  }

  draw(store, scale) {
    const values = this.lines.map((row) => store.batches.map(row.value));
    const most = Math.max(...values.map((row) => row.reduce((a, b) => (b > a ? b : a), 0))) || 1;
    const high = roundTicks(0, most, 1).find((tick) => tick >= most) ?? most;
    const y = (value) => CHART - 1 - (value / high) * (CHART - CHART_TOP);
    sizeDrawing(this.svg, scale.right, CHART);
    this.high.textContent = formatNumber(high, 3);
    const parts = [CHART_TOP, (CHART + CHART_TOP) / 2, CHART - 0.5].map((height) =>
      makeSvg("line", { x1: 0, x2: scale.right, y1: height, y2: height, class: "grid" }));
    this.lines.forEach((row, number) => {
      const path = stepPath(store, values[number], scale, y);
      if (row.isArea) parts.push(makeSvg("path", { d: path.area, class: `${row.class} area` }));
      parts.push(makeSvg("path", { d: path.line, class: row.class }));
    });
    this.svg.replaceChildren(...parts);
  }
}

// Steps, one for each batch; where several fall on one pixel, from the least of them to the most.
// Where windows without rows lie between, the line stops and begins again.
function stepPath(store, values, scale, y) {
  const pieces = [];
  let [piece, left, least, most] = [[], scale.begin(0), Infinity, -Infinity];
  values.forEach((value, index) => {
    if (Number.isFinite(value)) [least, most] = [Math.min(least, value), Math.max(most, value)];
    const isLast = !store.isNext(index + 1);
    const right = isLast ? Math.max(scale.end(index), left + 1) : scale.end(index);
    if (right - left < 1 && !isLast) return;
    if (most >= least) {
      piece.push([left, y(most)]);
      if (least < most) piece.push([left, y(least)]);
      piece.push([right, y(least)]);
    }
    [left, least, most] = [right, Infinity, -Infinity];
    if (!isLast) return;
    if (piece.length) pieces.push(piece);
    piece = [];
    if (index < values.length - 1) left = scale.begin(index + 1);
  });
  return { line: pieces.map(pathOf).join(""), area: pieces.map((steps) => areaOf(steps, y(0))).join("") };
}

function pathOf(steps) {
  return `M${steps.map(([x, height]) => `${x.toFixed(1)} ${height.toFixed(1)}`).join("L")}`;
}

function areaOf(steps, floor) {
  return `${pathOf([...steps, [steps[steps.length - 1][0], floor], [steps[0][0], floor]])}z`;
}
