// A page in a frame: the notebook around it may ask what is chosen, and choose.

function connectNotebook(report) {
  if (parent === window) return;
  const { view, store, player, levels } = report;
  let isConnected = false;
  const tell = atRest(() => {
    if (!isConnected) return;
    const { selected, region, rows } = view;
    const inRegion = region ? rowsWithin(view).map(({ row }) => view.batch.first + row) : null;
    const passing = rows.isActive && !region ? passingRows(rows) : null;
    const chosen = selected === null ? { clusters: [], members: [] } : { clusters: [selected], members: levels.membersOf(selected) };
    parent.postMessage({ dynmeans: "selected", ...chosen, rows: inRegion ?? passing }, "*");
  });
  view.onChange((changed) => {
    if (["selected", "region", "filter"].some((name) => changed.has(name))) tell();
  });
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || typeof data?.dynmeans !== "string") return;
    isConnected = true;
    if (data.dynmeans === "select") {
      const ids = (data.clusters ?? []).filter((id) => store.clusters.get(id)?.batches.length);
      const index = store.batches.findIndex(({ step }) => step === data.step);
      if (index >= 0) view.goTo(index);
      if (ids.length) player.lookAt(ids);
      view.set({ selected: ids.length === 1 ? ids[0] : null, region: null });
    }
    tell();
  });
}

function passingRows({ fails }) {
  const found = [];
  for (let at = 0; at < fails.length; at += 1) if (fails[at] === 0) found.push(at);
  return found;
}
