// Puts the parts together. The data lie in the page; a live page adds chunks as they come.

function chooseAxes(store, view) {
  const choices = [...store.header.axes.map((axis, row) => [row, axis.name]), [TIME_AXIS, "time"]];
  for (const [id, name] of [["axis-x", "x"], ["axis-y", "y"]]) {
    const select = byId(id);
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    select.value = view[name];
    select.addEventListener("change", () => view.set({ [name]: Number(select.value) }));
  }
  byId("tail").addEventListener("change", (event) => view.set({ tail: Number(event.target.value) }));
  byId("fit").addEventListener("change", (event) => view.set({ fitsBatch: event.target.checked }));
}

function start() {
  const store = new ReportStore(JSON.parse(byId("report-data").textContent));
  const view = new View(store);
  const looks = new Looks(store.header.looks, view);
  const scale = new TimeScale(store);
  const { text } = scale;
  new Facts(store, text);
  chooseAxes(store, view);
  new Filters(store, view);
  byId("legend-course").hidden = !store.batches[0].velocities;
  // Times in lists get the width of the longest.
  const longest = store.batches.reduce((most, batch) => Math.max(most, text.short(batch).length), 0);
  document.documentElement.style.setProperty("--time-width", `${0.9 * clamp(longest, 4, 16)}ch`);
  const hasNames = Object.keys(store.header.cluster_names ?? {}).length > 0;
  document.documentElement.classList.toggle("has-names", hasNames);
  if (hasNames) {
    const [find, wording] = [byId("lives-find"), { inputmode: "search", placeholder: "name or number", "aria-label": "Find a cluster by its name or number" }];
    for (const [name, value] of Object.entries(wording)) find.setAttribute(name, value);
  }
  const player = new Player(store, view, looks, text);
  new Transport(store, view, text);
  new Details(store, view, looks, text);
  new Charts(store, view, looks, scale);
  new Timeline(store, view, looks, scale);
  new EventList(store, view, looks, text);
  // A view at the last batch, or left as it opened, is at the last when more come.
  let [end, isUntouched] = [store.last, true];
  view.onChange((changed) => {
    if (changed.has("index") || changed.has("selected")) isUntouched = false;
  });
  store.onAppend(() => {
    if (isUntouched || view.index === end) view.goTo(store.last);
    end = store.last;
  });
  window.dynmeansReport = { append: (chunk) => store.append(chunk), store, view, player };
}

start();
