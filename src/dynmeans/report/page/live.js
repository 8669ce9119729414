// A page of `dynmeans serve`: windows and names are added as the server sends them.

function connectLive(report) {
  const { store } = report;
  const last = () => store.batches[store.last]?.step ?? -1;
  const source = new EventSource(`api/stream?after=${last()}`);
  source.addEventListener("windows", (event) => {
    // After a pause the same windows may come once more.
    if (Number(event.lastEventId) > last()) report.append(JSON.parse(event.data));
  });
  source.addEventListener("names", (event) => {
    report.update({ cluster_names: JSON.parse(event.data) });
  });
  report.rename = (id, name) =>
    fetch("api/names", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ cluster_id: id, name }),
    });
}

connectLive(window.dynmeansReport);
