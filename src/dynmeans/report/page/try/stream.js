// From windows and what the engine found to the data of a report (docs/report-format.md).

const base64 = (array) => {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
};

function rowsForEngine({ windows, rows }, scales, every) {
  const d = scales.length;
  const points = new Float64Array(rows.length * d);
  rows.forEach(({ values }, row) => values.forEach((value, j) => { points[row * d + j] = value / scales[j]; }));
  return {
    points, weights: null, nFeatures: d,
    sizes: Uint32Array.from(windows, (window) => window.rows.length),
    elapsed: Float64Array.from(windows, (window, t) => (t ? window.number - windows[t - 1].number : 1)),
  };
}

// Places in 65,536 steps of each axis, one axis after the other.
function packedPlaces(columns, limits) {
  const n = columns[0].length;
  const steps = new Uint16Array(columns.length * n);
  columns.forEach((values, axis) => {
    const [low, high] = [limits[0][axis], limits[1][axis]];
    for (let row = 0; row < n; row += 1) steps[axis * n + row] = Math.round(((values[row] - low) / (high - low)) * 65535);
  });
  return base64(steps);
}

function limitsOf(columns) {
  const limits = [[], []];
  for (const values of columns) {
    let [low, high] = [Infinity, -Infinity];
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    limits[0].push(low);
    limits[1].push(high > low ? high : low + Math.max(1, Math.abs(low)));
  }
  return limits;
}

// In 32,767 steps up to the max_speed of each axis; none where clusters keep no course.
function packedVelocities(velocities, scales) {
  if (!velocities) return {};
  const [d, n] = [scales.length, velocities.length / scales.length];
  const along = scales.map((scale, j) => Float64Array.from({ length: n }, (_, cell) => velocities[cell * d + j] * scale));
  const max_speed = along.map((values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1);
  const steps = new Int16Array(d * n);
  along.forEach((values, j) => values.forEach((value, cell) => { steps[j * n + cell] = Math.round((value / max_speed[j]) * 32767); }));
  return { velocities: base64(steps), max_speed };
}

function reportOf(found, cut, choice, settings, chosen) {
  const { features, scales } = choice;
  const { windows, rows } = cut;
  const d = features.length;
  const points = features.map((_, j) => Float64Array.from(rows, ({ values }) => values[j]));
  const nCells = found.ids.length;
  const centers = features.map((_, j) => Float64Array.from({ length: nCells }, (__, cell) => found.centers[cell * d + j] * scales[j]));
  const limits = limitsOf(points.map((values, j) => [Math.min, Math.max].flatMap((pick) => [extreme(values, pick), extreme(centers[j], pick)])));
  const sizes = base64(Uint32Array.from(windows, (window) => window.rows.length));
  const chunk = {
    batches: {
      steps: base64(Uint32Array.from(windows.keys())), times: base64(Float64Array.from(windows, ({ number, begin }) => (choice.time ? begin : number))),
      utc_offsets: base64(new Int16Array(windows.length)), clocks: base64(Float64Array.from(windows, ({ number }) => number)), costs: base64(found.costs), n_points: sizes,
      n_seen: base64(found.nSeen), n_remembered: base64(found.nRemembered), names: null,
    },
    limits,
    clusters: { sizes: base64(found.nSeen), ids: base64(found.ids), counts: base64(found.counts), places: packedPlaces(centers, limits), ...packedVelocities(found.velocities, scales) },
    points: { sizes, slots: base64(found.slots), places: packedPlaces(points, limits) },
    events: {
      sizes: base64(found.eventSizes), kinds: base64(found.kinds), ids: base64(found.eventIds),
      others: base64(new Int32Array(found.kinds.length).fill(-1)), gaps: base64(found.gaps),
      displacements: base64(new Float32Array(found.kinds.length).fill(NaN)),
    },
  };
  return { ...headerOf(choice, settings, chosen, points), n_clusters: found.nClusters, notes: notesOf(cut), chunks: [chunk] };
}

const extreme = (values, pick) => values.reduce((most, value) => pick(most, value), pick === Math.min ? Infinity : -Infinity);

function notesOf({ nLeftOut }) {
  return nLeftOut ? [`${plural(nLeftOut, "row")} left out because a value is missing.`] : [];
}

// A map is cut open in the middle of the largest part without rows, as on every other page.
function roundTheEarth(values) {
  const around = [...new Set(values.map((value) => ((value % 360) + 360) % 360))].sort((a, b) => a - b);
  const gaps = around.map((value, row) => (around[row + 1] ?? around[0] + 360) - value);
  const widest = gaps.indexOf(extreme(gaps, Math.max));
  const [low, high] = [extreme(values, Math.min), extreme(values, Math.max)];
  const start = low < 0 || high <= 180 ? -180 : 0;
  if (gaps[widest] < 20) return { period: 360, seam: low < 0 ? -180 : 0, start };
  const seam = around[widest] + gaps[widest] / 2;
  return { period: 360, seam: seam + 360 * Math.floor(((low + high) / 2 - seam) / 360), start };
}

function headerOf({ name, features, scales, isScaled, isDated, time, every }, { style, event_kinds, earth, entropy, search }, chosen, points) {
  const { newPenalty, maxGap, reach, motion } = chosen;
  const place = (test) => features.findIndex((feature) => test.test(feature));
  const lonLat = PAIRS[0].map(place);
  const isMap = lonLat.every((at) => at >= 0);
  const window = everyText(every, isDated);
  const command = ["dynmeans", "cluster", name, ...(time ? ["--time", time, "--every", window] : ["--rows-per-window", window]), "--features", features.join(","), ...(isScaled ? ["--space", "standard"] : [])];
  const quotedCommand = command.map((word) => (/^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
  return {
    format: "dynmeans.report", version: 2, title: `Clusters of ${name}`, style, event_kinds,
    axes: features.map((feature, row) => ({ name: feature, kind: "feature", ...(isMap && row === lonLat[0] ? roundTheEarth(points[row]) : {}) })),
    initial_axes: isMap ? lonLat : features.length > 1 ? [0, 1] : [-1, 0],
    is_dated: isDated, lon_lat: isMap ? lonLat : null, earth: isMap ? earth : null,
    parameters: [["new_penalty", String(Number(newPenalty.toPrecision(6)))], ["max_gap", String(maxGap)], ["reach", String(reach)], ["motion", motion], ["search", search], ["windows", window]],
    scores: [], cluster_names: {}, merged: {}, pinned: [], descriptions: {}, backdrop: null, families: null,
    engine: {
      features: features.map((_, row) => row), transforms: [{ kind: "scaled", features: features.map((_, row) => row), scales, unit: isScaled ? "standard deviations" : "", weight: 1 }], directions: {}, new_penalty: newPenalty, max_gap: maxGap, reach, revival: "paper",
      motion, moving: null, n_init: 3, random_state: 0, entropy, search, space: isScaled ? "standard" : "raw",
      command: quotedCommand,
    },
  };
}
