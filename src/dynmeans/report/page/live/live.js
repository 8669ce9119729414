// A page of `dynmeans serve`: windows and edits are added as the server sends them.

const RECONNECT_MS = 5000;

function connectLive(report) {
  const { store, details } = report;
  const last = () => store.batches[store.last]?.step ?? -1;
  const lost = make("p", { class: "lost", id: "connection-lost", role: "status" });
  document.body.append(lost);
  const connect = () => {
    const run = encodeURIComponent(document.documentElement.dataset.run);
    const source = new EventSource(`api/stream?after=${last()}&run=${run}`);
    source.addEventListener("open", () => { lost.textContent = ""; });
    source.addEventListener("error", () => {
      lost.textContent = "Connection lost, trying again. This page may be out of date.";
      // The browser tries again itself, except where it was refused or a proxy answered.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, RECONNECT_MS);
    });
    source.addEventListener("windows", (event) => {
      // After a pause the same windows may come once more.
      if (Number(event.lastEventId) > last()) report.append(JSON.parse(event.data));
    });
    source.addEventListener("summary", (event) => report.describe(JSON.parse(event.data)));
    source.addEventListener("run_replaced", () => location.reload());
    source.addEventListener("edits", (event) => report.update(JSON.parse(event.data)));
  };
  connect();
  setInterval(() => report.facts.drawNumbers(), 1000);
  details.editor = new Editor(report);
  report.pictures.keep = async (level) => {
    const { error } = await sendJson("edits", { kind: "level", level });
    report.pictures.say(error ? `Not saved: ${error}` : "Saved. The run now shows this level.");
  };
  report.pictures.build();
  details.redraw();
}

connectLive(window.dynmeansReport);
