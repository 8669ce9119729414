// A page of `dynmeans serve`: windows and edits are added as the server sends them.

function connectLive(report) {
  const { store, details } = report;
  const last = () => store.batches[store.last]?.step ?? -1;
  const source = new EventSource(`api/stream?after=${last()}`);
  source.addEventListener("windows", (event) => {
    // After a pause the same windows may come once more.
    if (Number(event.lastEventId) > last()) report.append(JSON.parse(event.data));
  });
  source.addEventListener("edits", (event) => report.update(JSON.parse(event.data)));
  details.editor = new Editor(report);
  details.redraw();
}

connectLive(window.dynmeansReport);
