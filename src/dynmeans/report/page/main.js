// Puts the parts together. The data lie in the page; a live page adds chunks as they come.

function chooseAxes(store, view) {
  const choices = [...store.header.axes.map((axis, row) => [row, axis.name]), [TIME_AXIS, "time"]];
  for (const [id, name] of [["axis-x", "x"], ["axis-y", "y"]]) {
    const select = byId(id);
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    select.value = view[name];
    select.addEventListener("change", () => view.set({ [name]: Number(select.value) }));
    view.onChange(() => { select.value = view[name]; });
  }
  view.onChange((changed) => { if (changed.has("tail")) byId("tail").value = view.tail; });
  byId("tail").addEventListener("change", (event) => view.set({ tail: Number(event.target.value) }));
  byId("y-down").checked = view.isYDown;
  byId("y-down").addEventListener("change", (event) => view.set({ isYDown: event.target.checked }));
  byId("fit").addEventListener("change", (event) => view.set({ fitsBatch: event.target.checked }));
}

// Clusters with names get wider rows.
function markNames(store) {
  document.documentElement.classList.toggle("has-names", Object.keys(store.header.cluster_names ?? {}).length > 0 || store.sharedValues?.size > 0);
}

function start() {
  const store = new ReportStore(JSON.parse(byId("report-data").textContent));
  const view = new View(store);
  const looks = new Looks(store.header.style, view);
  const scale = new TimeScale(store);
  const { text } = scale;
  const levels = new Levels(store, view);
  const facts = new Facts(store, text);
  chooseAxes(store, view);
  new Filters(store, view);
  byId("legend-course").hidden = !store.batches[0].velocities;
  // Times in lists get the width of the longest.
  const longest = store.batches.reduce((most, batch) => Math.max(most, text.short(batch).length), 0);
  document.documentElement.style.setProperty("--time-width", `${clamp(longest, 4, 16)}ch`);
  markNames(store);
  const player = new Player(store, view, looks, text);
  new Transport(store, view, text, player);
  const details = new Details(store, view, looks, text, player);
  new Crossfilter(store, view, looks);
  new Charts(store, view, looks, scale);
  new Timeline(store, view, looks, scale);
  new EventList(store, view, looks, text);
  const downloads = new Downloads(store, view, player, text);
  const panel = byId("trial") ? new TrialPanel(store, view, looks, levels) : {};
  const { trial } = panel;
  const summary = new Summary(store, view, facts, levels, new Remedies(store, view, panel, levels));
  if (trial) trial.levels = levels;
  const pictures = new LevelPictures(store, view, looks, levels);
  const append = (chunk) => levels.append(chunk, (one) => (trial ? trial.append(one) : store.append(one)));
  const link = new Permalink(store, view);
  if (levels.chosen) levels.choose(levels.chosen);
  if (!link.hasTime) view.goTo(store.lastFull);
  view.set({ tail: usualTail(store) });
  // A view at the last batch, or left as it opened, is at the last when more come.
  let [end, isUntouched] = [store.last, !link.hasTime];
  view.onChange((changed) => {
    if (changed.has("index") || changed.has("selected")) isUntouched = false;
  });
  store.onAppend(() => {
    if (store.last > end && (isUntouched || view.index === end)) view.goTo(store.last);
    end = store.last;
  });
  // Other names, edits, descriptions, families or scores than the header had, while the page is open.
  const update = (fields) => {
    Object.assign(store.header, trial?.keep(fields) ?? fields);
    store.readEdits();
    view.readFamilies();
    if ("levels" in fields || "families" in fields) {
      levels.read();
      pictures.build();
    }
    markNames(store);
    facts.draw();
    summary.draw();
    store.notify();
    looks.notify();
  };
  view.onChange((changed) => {
    if (!["rows", "levelName", "trial"].some((name) => changed.has(name))) return;
    store.sharedValues = sharedValues(store, view.rows);
    markNames(store);
    looks.notify();
    summary.draw();
  });
  const rowsLoaded = byId("report-rows") ? view.rows.load(byId("report-rows").textContent) : Promise.resolve();
  // What is written about the run, while it grows: less than all that `update` draws again.
  const describe = (fields) => {
    Object.assign(store.header, fields);
    summary.draw();
    facts.drawNumbers();
  };
  const report = { rowsLoaded, describe, facts, levels, pictures, append, update, trial, store, view, player, details, downloads, csv: csvText, trace: traceWays, drawEarth, sharedValues };
  window.dynmeansReport = report;
  connectNotebook(report);
}

if (byId(OTHER_DATA)) showBeside();
else start();
