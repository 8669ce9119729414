"""How fast a page answers when its reader drags the scale: from the drag to the picture.

Opens pages of 20,000 and 200,000 points in 100 windows in headless Chromium, drags the scale, and
prints the time from each drag to the picture that shows it, the longest task on the page's own
thread, and the memory before and after many drags. Times depend on what else the machine does.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from browser import find_browser, open_browser

from dynmeans import DynamicMeans, Penalties
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.report import report_data, write_report
from dynmeans.report.recluster_settings import ReclusterSettings

DRAG = """
const [slide, done] = [document.getElementById("trial-slide"), arguments[1]];
const status = document.getElementById("trial-status");
window.longTasks ??= [];
if (!window.observed) {
  const note = (list) => longTasks.push(...list.getEntries().map((task) => task.duration));
  window.observed = new PerformanceObserver(note);
  window.observed.observe({ entryTypes: ["longtask"] });
}
document.getElementById("trial").open = true;
status.textContent = "";
const began = performance.now();
slide.value = arguments[0];
slide.dispatchEvent(new Event("input", { bubbles: true }));
let progress = 0;
const look = () => {
  if (status.textContent.includes("%")) progress += 1;
  if (!status.textContent.includes("found in")) return requestAnimationFrame(look);
  requestAnimationFrame(() => done([performance.now() - began, progress]));
};
look();
"""


def make_page(n_points: int, folder: Path) -> Path:
    """Write a page of so many points in 100 windows, all of them on the page."""
    stream = moving_gaussians(
        n_clusters=20, points_per_cluster=n_points // 2000, rng=np.random.default_rng(0)
    )
    penalties = Penalties(0.04, max_gap=6, reach=2)
    model = DynamicMeans(penalties=penalties, random_state=0)
    _, history = model.fit_sequence(stream.batches)
    data = report_data(history, points=stream.batches).with_recluster(ReclusterSettings(penalties))
    return write_report(data, folder / f"{n_points}.html")


def heap_of(chrome) -> float:
    """Return the megabytes in use on the page's thread once garbage is collected."""
    chrome.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    used = chrome.execute_cdp_cmd("Runtime.getHeapUsage", {})
    return round((used["usedSize"] + used.get("backingStorageSize", 0)) / 1e6, 1)


def measure(chrome, page: Path, n_drags: int) -> dict[str, object]:
    """Drag so often; the first drag, which loads the engine, is told apart."""
    chrome.get(page.as_uri())
    chrome.set_script_timeout(120)
    places = np.random.default_rng(1).integers(150, 260, n_drags + 1).tolist()
    first, *rest = [chrome.execute_async_script(DRAG, place) for place in places[:12]]
    before = heap_of(chrome)
    rest += [chrome.execute_async_script(DRAG, place) for place in places[12:]]
    times = [time for time, _ in rest]
    return {
        "first drag, ms": round(first[0]),
        "median, ms": round(statistics.median(times)),
        "90th percentile, ms": round(float(np.quantile(times, 0.9))),
        "longest task, ms": round(max(chrome.execute_script("return longTasks"), default=0)),
        "drags that told progress": sum(1 for _, told in rest if told),
        "heap before and after, MB": [before, heap_of(chrome)],
        "drags": len(rest),
    }


def main() -> None:
    """Print one line for each page."""
    sizes = {20_000: 500, 200_000: 20}
    if "--quick" in sys.argv:
        sizes = {20_000: 40, 200_000: 12}
    with tempfile.TemporaryDirectory() as folder:
        for n_points, n_drags in sizes.items():
            page = make_page(n_points, Path(folder))
            with open_browser(find_browser(), Path(folder) / f"profile-{n_points}") as chrome:
                print(n_points, json.dumps(measure(chrome, page, n_drags)))


if __name__ == "__main__":
    main()
