"""How fast a page of 200,000 points and 10,000 clusters opens, filters and plays.

In headless Chromium without a graphics card: the time until the picture is drawn first, frames a
second while a range is brushed over a histogram, and the longest task while the page plays, with
the points of one batch and of all batches so far.

    python -m benchmarks.drawing.page_speed [--seconds 5] [--rounds 3]

Results go to benchmarks/results/drawing/page_speed.json.
"""

import argparse
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from selenium import webdriver

from benchmarks.drawing import report_frames
from benchmarks.machine import RESULTS, machine, write_results
from dynmeans.report import report_data, write_report
from dynmeans.runs.analysis.carried_rows import CarriedColumn, CarriedRows

N_ROWS = 200_000
_OPEN = """
const drawn = performance.getEntriesByName("first picture")[0];
const { loadEventEnd, navigationStart } = performance.timing;
return [drawn ? drawn.startTime : null, loadEventEnd - navigationStart];
"""
_BRUSH = """
const [seconds, done] = arguments;
const svg = document.querySelectorAll("#histograms svg.hist")[0];
svg.setPointerCapture = () => {}; svg.hasPointerCapture = () => true;
const box = svg.getBoundingClientRect();
const at = (share, type) => {
  const place = { clientX: box.left + share * box.width, clientY: box.top + 9 };
  svg.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true, ...place }));
};
at(0.02, "pointerdown");
const times = [];
const begin = performance.now();
const frame = (now) => {
  times.push(now);
  at(0.02 + 0.9 * Math.abs(Math.sin(now / 700)), "pointermove");
  if (now - begin < 1000 * seconds) requestAnimationFrame(frame); else done(times);
};
requestAnimationFrame(frame);
"""
_PLAY = """
const [seconds, shown, done] = arguments;
const { view } = dynmeansReport;
view.set({ nShown: shown === "all" ? Infinity : 1, loops: true, speed: 10 });
const tasks = [];
const observer = new PerformanceObserver((list) => {
  tasks.push(...list.getEntries().map(({ duration }) => duration));
});
observer.observe({ entryTypes: ["longtask"] });
view.goTo(0);
view.set({ isPlaying: true });
setTimeout(() => {
  view.set({ isPlaying: false });
  observer.disconnect();
  done(tasks);
}, 1000 * seconds);
"""


def write_page(folder: Path) -> Path:
    """Write the page: 20 batches, all clusters in each, and columns to filter by."""
    report_frames.N_ROWS = N_ROWS
    history, batches = report_frames.stream(20, 10_000)
    data = report_data(history, points=batches)
    n, rng = len(data.points.slots), np.random.default_rng(0)
    kinds = np.array(["cargo", "tanker", "fishing", "tug", "passenger"])
    columns = (
        CarriedColumn("speed", "number", rng.gamma(2, 4, n).round(1).tolist()),
        CarriedColumn("kind", "category", kinds[rng.integers(0, 5, n)].tolist()),
    )
    rows = CarriedRows(np.arange(n), rng.gamma(2, 0.003, n), columns)
    return write_report(replace(data, rows=rows), folder / "large.html")


def measure(driver: webdriver.Chrome, path: Path, seconds: float) -> dict[str, Any]:
    """Open the page, brush and play; return one row of results."""
    driver.get("about:blank")
    driver.get(path.as_uri())
    time.sleep(2.0)
    first, loaded = driver.execute_script(_OPEN)
    n_rows = driver.execute_script("return dynmeansReport.store.nRows")
    n_clusters = driver.execute_script("return dynmeansReport.store.clusters.size")
    times = np.array(driver.execute_async_script(_BRUSH, seconds))
    driver.execute_script("dynmeansReport.view.rows.clear()")
    time.sleep(1.0)
    found = {
        "load_average": os.getloadavg()[0],
        "n_points_drawn": n_rows,
        "n_clusters": n_clusters,
        "first_picture_ms": first,
        "loaded_ms": loaded,
        "brushing_frames_per_second": 1000 * (len(times) - 1) / (times[-1] - times[0]),
    }
    for shown in ("one", "all"):
        tasks = driver.execute_async_script(_PLAY, seconds, shown)
        found[f"longest_task_ms_{shown}"] = max(tasks, default=0)
        found[f"n_tasks_above_50_ms_{shown}"] = len(tasks)
    return found


def main() -> None:
    """Measure the same page several times, and write one row for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    about = machine()
    path = write_page(Path(tempfile.mkdtemp()))
    driver = report_frames.browser()
    try:
        driver.set_window_size(1400, 900)
        driver.set_script_timeout(60)
        about["browser"] = (
            f"{driver.capabilities['browserName']} {driver.capabilities['browserVersion']}"
        )
        rounds = [measure(driver, path, chosen.seconds) for _ in range(chosen.rounds)]
    finally:
        driver.quit()
    for row in rounds:
        print(", ".join(f"{name} {value:,.4g}" for name, value in row.items()))
    results = {"n_points": N_ROWS, "page_bytes": path.stat().st_size, "rounds": rounds}
    write_results("page_speed", {"machine": about, **results}, RESULTS / "drawing")


if __name__ == "__main__":
    main()
