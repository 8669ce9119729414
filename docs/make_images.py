"""Make the pictures of the documentation from one seeded stream.

Run with ``python docs/make_images.py``; give names of pictures to make only those.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from dynmeans import DynamicMeans, History, find_families
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.parameters.selection import suggest
from dynmeans.plots import (
    animate,
    identity_marker,
    identity_rgba,
    plot_cluster_numbers,
    plot_families,
    plot_suggestion,
    plot_timeline,
    plot_tracks,
)
from dynmeans.records.arrays import FloatArray
from dynmeans.report import report_data, write_report

FOLDER = Path(__file__).parent / "images"
SEED = 33
DPI = 100
# How a dichromat sees linear red, green and blue (Machado, Oliveira and Fernandes, 2009).
COLOR_VISIONS = {
    "full": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "no blue cones": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def make_stream() -> tuple[list[FloatArray], History]:
    """Return the batches of docs/following-identities.md and the history of clustering them."""
    rng = np.random.default_rng(SEED)
    stream = moving_gaussians(
        n_steps=40,
        n_clusters=6,
        rng=rng,
        points_per_cluster=60,
        spread=0.03,
        motion=0.03,
        death=0.02,
        vanish=0.05,
        max_hidden=4,
    )
    share = rng.uniform(0.15, 1.0, size=100)  # of a cluster's points that are kept
    batches = [
        points[rng.random(len(points)) < share[labels]]
        for points, labels in zip(stream.batches, stream.labels, strict=True)
    ]
    model = DynamicMeans(new_penalty=0.02, max_gap=6, reach=2, random_state=0)
    return batches, model.fit_sequence(batches)[1]


def make_tracked_clusters(batches: list[FloatArray], history: History) -> None:
    """Where the clusters are, beside their lives."""
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.0, 1.15])
    plot_tracks(history, batches[-1], ax=left)
    plot_timeline(history, ax=right)
    _save(figure, "tracked-clusters")


def make_tracks(batches: list[FloatArray], history: History) -> None:
    """Where the clusters of one batch are and where they came from."""
    figure = Figure(figsize=(6.4, 5.4), layout="constrained")
    plot_tracks(history, batches[-1], ax=figure.subplots())
    _save(figure, "tracks")


def make_tracks_over_time(batches: list[FloatArray], history: History) -> None:
    """One feature against time, all the way back."""
    figure = Figure(figsize=(7.5, 4), layout="constrained")
    plot_tracks(history, features=[0], tail=len(history), ax=figure.subplots())
    _save(figure, "tracks-over-time")


def make_timeline(batches: list[FloatArray], history: History) -> None:
    """One row for each life."""
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    plot_timeline(history, ax=figure.subplots())
    _save(figure, "timeline")


def make_cluster_numbers(batches: list[FloatArray], history: History) -> None:
    """Clusters seen and remembered."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    plot_cluster_numbers(history, ax=figure.subplots())
    _save(figure, "cluster-numbers")


def make_families(batches: list[FloatArray], history: History) -> None:
    """Two rings and two round clusters, cut to pieces; their tree and their lives."""
    rng = np.random.default_rng(0)
    stream = [_shapes(rng, has_second_ring=t >= 8) for t in range(20)]
    _, found = DynamicMeans(0.5, random_state=0).fit_sequence(stream)
    figure = Figure(figsize=(10, 5.2), layout="constrained")
    axes = figure.subplots(1, 2, width_ratios=[1, 1.6])
    plot_families(find_families(stream, found), found, axes)
    _save(figure, "families")


def _shapes(rng: np.random.Generator, has_second_ring: bool) -> FloatArray:
    angles = rng.uniform(0, 2 * np.pi, size=(2, 200))
    rings = np.stack([np.cos(angles), np.sin(angles)], axis=-1) + rng.normal(0, 0.05, (2, 200, 2))
    blobs = [rng.normal(place, 0.25, size=(60, 2)) for place in ((5.0, 0.0), (6.0, 3.0))]
    return np.vstack([*blobs, rings[0], *([rings[1] + [0, 5]] if has_second_ring else [])])


def make_identity_colors(batches: list[FloatArray], history: History) -> None:
    """The first identities as readers of full and of reduced color vision see them."""
    figure = Figure(figsize=(7, 2.2), layout="constrained")
    ax = figure.subplots()
    ids = np.arange(16)
    colors = identity_rgba(ids)[:, :3]
    for row, matrix in enumerate(COLOR_VISIONS.values()):
        for k, color in zip(ids, _as_seen(colors, matrix), strict=True):
            ax.scatter(k, row, s=130, color=color, marker=identity_marker(k))
    ax.set_xticks(ids)
    ax.set_xlabel("cluster")
    ax.set_yticks(range(len(COLOR_VISIONS)), list(COLOR_VISIONS))
    ax.set_ylim(len(COLOR_VISIONS) - 0.5, -0.5)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    _save(figure, "identity-colors")


def make_suggestion(batches: list[FloatArray], history: History) -> None:
    """What `suggest` tried."""
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    plot_suggestion(suggest(batches[:30]), ax=figure.subplots())
    _save(figure, "suggestion")


def make_choosing_lambda(batches: list[FloatArray], history: History) -> None:
    """One batch with a lambda that is too small, right, and too large."""
    penalties = suggest(batches[:30]).penalties
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    titles = ("a twentieth: too small", "as suggested", "twenty times: too large")
    for ax, title, factor in zip(panels, titles, (0.05, 1.0, 20.0), strict=True):
        new_penalty = factor * penalties.new_penalty
        model = DynamicMeans(
            new_penalty, max_gap=penalties.max_gap, reach=penalties.reach, random_state=0
        )
        _, found = model.fit_sequence(batches)
        plot_tracks(found, batches[-1], ax=ax)
        ax.get_legend().remove()
        ax.set_title(f"{title}\n{len(found[-1].ids)} clusters now, {model.state_.next_id} in all")
    _save(figure, "choosing-lambda")


def make_moving_clusters(batches: list[FloatArray], history: History) -> None:
    """The film."""
    animate(history, batches, FOLDER / "moving-clusters.gif", fps=4, dpi=75)


def make_report(batches: list[FloatArray], history: History) -> None:
    """The page of the report in Chromium, at the size of a laptop's window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    data = report_data(
        history,
        points=batches,
        feature_names=["east", "north"],
        parameters={"new_penalty": 0.02, "max_gap": 6.0, "reach": 2.0},
        title="A stream of moving clusters",
    ).with_families(find_families(batches, history))
    with tempfile.TemporaryDirectory() as folder:
        page = write_report(data, Path(folder) / "report.html")
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        size = {"width": 1280, "height": 1400, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(page.as_uri())
        driver.execute_script("dynmeansReport.view.goTo(34);")
        driver.execute_async_script("setTimeout(arguments[0], 500);")
        driver.save_screenshot(str(FOLDER / "report.png"))
        driver.quit()


MAKERS: dict[str, Callable[[list[FloatArray], History], None]] = {
    "tracked-clusters": make_tracked_clusters,
    "tracks": make_tracks,
    "tracks-over-time": make_tracks_over_time,
    "timeline": make_timeline,
    "cluster-numbers": make_cluster_numbers,
    "families": make_families,
    "identity-colors": make_identity_colors,
    "suggestion": make_suggestion,
    "choosing-lambda": make_choosing_lambda,
    "moving-clusters": make_moving_clusters,
    "report": make_report,
}


def _as_seen(colors: FloatArray, matrix: FloatArray) -> FloatArray:
    """Change sRGB colors as a kind of color vision does."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ matrix.T, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _save(figure: Figure, name: str) -> None:
    # Without a note of the version, so that only a change of the picture changes the file.
    figure.savefig(FOLDER / f"{name}.png", dpi=DPI, metadata={"Software": None})


def main() -> None:
    """Make the pictures asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(MAKERS))
    names = parser.parse_args().names or list(MAKERS)
    if unknown := set(names) - set(MAKERS):
        parser.error(f"name must be one of {', '.join(MAKERS)}, got {', '.join(sorted(unknown))}.")
    FOLDER.mkdir(exist_ok=True)
    batches, history = make_stream()
    for name in names:
        MAKERS[name](batches, history)


if __name__ == "__main__":
    main()
