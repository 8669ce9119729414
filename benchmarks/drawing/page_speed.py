"""How fast a page of 200,000 points and 10,000 clusters opens, filters and plays.

In headless Chromium without a graphics card: the time until the picture is drawn first, frames a
second while a range is brushed over a histogram, and the longest task while the page plays, with
the points of one batch and of all batches so far.

    python -m benchmarks.drawing.page_speed [--seconds 5]
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.drawing import report_frames
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


def main() -> None:
    """Print one row for each measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    path = write_page(Path(tempfile.mkdtemp()))
    driver = report_frames.browser()
    driver.set_window_size(1400, 900)
    driver.set_script_timeout(60)
    print(f"page of {path.stat().st_size / 1e6:.2f} MB")
    driver.get(path.as_uri())
    time.sleep(2.0)
    first, loaded = driver.execute_script(_OPEN)
    print(f"first picture after {first:.0f} ms, loaded after {loaded:.0f} ms")
    n_rows = driver.execute_script("return dynmeansReport.store.nRows")
    n_clusters = driver.execute_script("return dynmeansReport.store.clusters.size")
    print(f"{n_rows:,} points drawn, {n_clusters:,} clusters")
    times = np.array(driver.execute_async_script(_BRUSH, seconds))
    print(f"brushing: {1000 * (len(times) - 1) / (times[-1] - times[0]):.0f} frames a second")
    driver.execute_script("dynmeansReport.view.rows.clear()")
    time.sleep(1.0)
    for shown in ("one", "all"):
        tasks = driver.execute_async_script(_PLAY, seconds, shown)
        longest = f"longest task {max(tasks, default=0):.0f} ms, {len(tasks)} above 50 ms"
        print(f"playing, points of {shown}: {longest}")
    driver.quit()


if __name__ == "__main__":
    main()
