// Two reports side by side: each a page of its own within this one, moved through time together.

const OTHER_DATA = "report-data-compare";

// The page with the one block of data, as it stood before anything was drawn.
function pageWith(dataId) {
  const page = document.documentElement.cloneNode(true);
  for (const block of page.querySelectorAll('script[type="application/json"]')) {
    if (block.id !== dataId) block.remove();
    else block.id = "report-data";
  }
  return `<!DOCTYPE html>${page.outerHTML}`;
}

function showBeside() {
  const frames = ["report-data", OTHER_DATA].map((id) =>
    make("iframe", { class: "half", srcdoc: pageWith(id), title: JSON.parse(byId(id).textContent).title }));
  document.documentElement.classList.add("is-split");
  document.body.replaceChildren(...frames);
  let nLoaded = 0;
  for (const frame of frames) {
    frame.addEventListener("load", () => {
      nLoaded += 1;
      if (nLoaded === frames.length) tie(frames.map((one) => one.contentWindow.dynmeansReport));
    });
  }
}

// What changes in one changes in the other: time, axes, the part of the plane, level, filters.
function tie(reports) {
  let isTold = false; // the other one tells nothing back
  reports.forEach(({ view, store }, row) => {
    const other = reports[1 - row];
    view.onChange((changed) => {
      if (isTold) return;
      isTold = true;
      if (changed.has("index")) other.view.goTo(nearestBatch(other.store, view.batch.time));
      for (const name of ["x", "y"]) if (changed.has(name)) chooseAxis(other, name, store.axisName(view[name]));
      for (const name of ["camera", "tail", "fitsBatch", "minSize", "minLife", "search", "region"]) {
        if (changed.has(name)) other.view.set({ [name]: view[name] });
      }
      if (changed.has("level") && other.view.tree) other.view.set({ level: other.view.tree.rowOfLevel(view.tree.levels[view.level]) });
      isTold = false;
    });
  });
  const { view } = reports[0];
  view.notify(new Set(["index"]));
  window.dynmeansReports = reports;
}

function chooseAxis({ view, store }, name, wanted) {
  const axis = store.header.axes.findIndex((one) => one.name === wanted);
  if (axis >= 0 || wanted === "time") view.set({ [name]: axis });
}

// The last batch that is not later.
function nearestBatch(store, time) {
  return Math.max(0, store.batches.findLastIndex((batch) => batch.time <= time));
}
