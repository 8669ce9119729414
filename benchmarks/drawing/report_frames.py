"""How fast the report's page draws: frames while it plays, in headless Chromium.

Two streams of a million rows and 10,000 clusters: 1,000 batches with about 150 clusters at a time,
and 15 batches with all 10,000 at once. Headless Chromium has no graphics card: it rasterizes on the
processor, in processes of its own. So three times are told for each frame: between two frames,
within our own code, and what the page's thread took of the processor (scripts, styles and layout),
which does not depend on who else uses the machine.

    python -m benchmarks.drawing.report_frames [--seconds 5] [--write FOLDER]
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from dynmeans import Event, History
from dynmeans.records.step_record import StepRecord
from dynmeans.report import report_data, write_report

N_ROWS, N_CLUSTERS = 1_000_000, 10_000
# Everything the page does for a frame happens in callbacks of animation frames.
_WATCH = """
window.frameTimes = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) => ask((now) => {
  const begin = performance.now();
  callback(now);
  const spent = performance.now() - begin;
  const last = frameTimes[frameTimes.length - 1];
  if (last && last[0] === now) last[1] += spent;
  else frameTimes.push([now, spent]);
});
"""
# A stream that came to its end is played again at once.
_PLAY = """
const { view } = dynmeansReport;
const again = () => { view.goTo(0); view.set({ isPlaying: true }); };
view.onChange(() => { if (!view.isPlaying) setTimeout(again, 0); });
view.set({ speed: arguments[0] });
again();
frameTimes.length = 0;
"""


def stream(n_batches: int, n_alive: int) -> tuple[History, list[np.ndarray]]:
    """Clusters that live for n_alive / N_CLUSTERS of the batches, and walk."""
    rng = np.random.default_rng(0)
    life = max(1, round(n_batches * n_alive / N_CLUSTERS))
    births = np.sort(rng.integers(0, n_batches - life + 1, N_CLUSTERS)) if life < n_batches else 0
    births = np.broadcast_to(births, N_CLUSTERS)
    places = rng.uniform(0, 1, (N_CLUSTERS, 2))
    history, batches = History(), []
    for step in range(n_batches):
        places += rng.normal(0, 0.003, places.shape)
        ids = np.flatnonzero((births <= step) & (step < births + life))
        labels = np.sort(rng.choice(ids, N_ROWS // n_batches))
        batches.append(places[labels] + rng.normal(0, 0.004, (len(labels), 2)))
        seen, counts = np.unique(labels, return_counts=True)
        events = tuple(Event("born", int(k)) for k in np.flatnonzero(births == step))
        ones = np.ones(len(seen))
        history.add(
            StepRecord(
                step=step, time=step + 1.0, labels=labels, ids=seen,
                counts=counts.astype(float), centers=places[seen].copy(), weights=ones, ages=ones,
                cost_trace=np.array([float(len(labels))]), n_remembered=len(ids), events=events,
            )
        )  # fmt: skip
    return history, batches


def browser() -> webdriver.Chrome:
    """Start headless Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=1"):
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def processor_time(driver: webdriver.Chrome) -> float:
    """Milliseconds that the page's thread took of the processor so far."""
    found = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    metrics = {row["name"]: row["value"] for row in found}
    names = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    return 1000.0 * sum(metrics[name] for name in names)


def play(
    driver: webdriver.Chrome, path: Path, speed: int, seconds: float
) -> tuple[np.ndarray, float]:
    """Return when each frame came, how long our code took for it, and its processor time."""
    driver.get(path.as_uri())
    time.sleep(1.0)
    driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    driver.execute_script(_PLAY, speed)
    before = processor_time(driver)
    time.sleep(seconds)
    spent = processor_time(driver) - before
    times = np.array(driver.execute_script("return frameTimes"))
    return times, spent / len(times)


def _two(values: np.ndarray) -> str:
    return f"{np.median(values):.1f}, {np.quantile(values, 0.95):.1f}"


def main() -> None:
    """Print one row for each stream and speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--write", type=Path, help="keep the pages in this folder")
    chosen = parser.parse_args()
    folder = chosen.write or Path(tempfile.mkdtemp())
    driver = browser()
    driver.set_window_size(1280, 900)
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _WATCH})
    print("| Stream | batches a second | frames a second | between frames, ms: median, 95 % "
          "| our code, ms: median, 95 % | processor, ms |\n|---|---|---|---|---|---|")  # fmt: skip
    for n_batches, n_alive in ((1000, 150), (15, N_CLUSTERS)):
        history, batches = stream(n_batches, n_alive)
        data = report_data(history, points=batches)
        path = write_report(data, folder / f"{n_alive}-alive.html")
        for speed in (4, 60):
            times, processor = play(driver, path, speed, chosen.seconds)
            between, ours = np.diff(times[:, 0]), times[:, 1]
            rate = 1000 * len(between) / (times[-1, 0] - times[0, 0])
            print(
                f"| {n_alive:,} clusters at a time, {data.points.sizes.max():,} points drawn "
                f"| {speed} | {rate:.0f} | {_two(between)} | {_two(ours)} | {processor:.1f} |"
            )
    driver.quit()


if __name__ == "__main__":
    main()
