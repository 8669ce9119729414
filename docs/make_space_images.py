"""Make the pictures of docs/spaces.md, with the package's own code.

Run with ``python docs/make_space_images.py``; give names of pictures to make only those.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.quality.ring_streams import moving_rings
from dynmeans import DynamicMeans
from dynmeans.plots import identity_rgba, plot_tracks
from dynmeans.records.arrays import FloatArray, IntArray

FOLDER = Path(__file__).parent / "images"
DPI = 100
# Latitude and longitude at the beginning, and degrees a day.
_STORMS = np.array(
    [
        [-15.0, 170.0, 0.1, 1.1],
        [12.0, -172.0, 0.2, -1.3],
        [35.0, 150.0, 0.8, 1.8],
        [-40.0, 178.0, -0.3, 1.5],
        [68.0, -178.0, 0.5, -2.5],
    ]
)
_HIDDEN = (1, range(8, 12))  # a storm, and the days on which nobody reports it
_SPREAD = 130.0 / 111.2  # degrees: 130 km


def main() -> None:
    """Make all pictures, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(PICTURES)}")
    for name in parser.parse_args().names or PICTURES:
        figure = Figure((9.0, 3.4), layout="constrained")
        PICTURES[name](figure)
        figure.savefig(FOLDER / f"space-{name}.png", dpi=DPI, metadata={"Software": None})


def _scatter(ax: Axes, rows: FloatArray, labels: IntArray, title: str) -> None:
    n = len(np.unique(labels))
    ax.scatter(*rows.T, s=12, c=identity_rgba(labels), linewidths=0)
    ax.set_title(f"{title}: {n} cluster{'' if n == 1 else 's'}")


def _labels(rows: FloatArray, penalty: float, space: str) -> IntArray:
    return DynamicMeans(penalty, space=space, random_state=0).fit(rows).labels_


def make_scales(figure: Figure) -> None:
    """Three groups that differ in meters or in grams, and two absurd values beyond the picture."""
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [0.0, 6.0], [5000.0, 0.0]], 70, axis=0)
    rows = places + rng.normal(size=places.shape) * [500.0, 0.6]
    rows = np.concatenate([rows, [[1e6, 3.0], [-4e5, 0.0]]])
    asked = (("raw", 2000.0**2), ("standard", 1.0), ("robust", 0.3))
    for ax, (space, penalty) in zip(figure.subplots(1, 3), asked, strict=True):
        _scatter(ax, rows[:-2], _labels(rows, penalty, space)[:-2], space)
        ax.set(xlabel="distance (m)", ylabel="weight (g)")


def storms(rng: np.random.Generator, n_days: int = 24, n_reports: int = 40) -> list[FloatArray]:
    """Return reports of each day: latitude, and longitude from -180 to 180."""
    batches = []
    for day in range(n_days):
        seen = [k for k in range(len(_STORMS)) if not (k == _HIDDEN[0] and day in _HIDDEN[1])]
        whose = np.repeat(seen, n_reports)
        latitude, longitude = (_STORMS[whose, :2] + day * _STORMS[whose, 2:]).T
        north, east = rng.normal(0, _SPREAD, (2, len(whose)))
        around = longitude + east / np.cos(np.deg2rad(latitude))
        batches.append(np.stack([latitude + north, (around + 180.0) % 360.0 - 180.0], axis=1))
    return batches


def make_geo(figure: Figure) -> None:
    """Storms across the date line, in degrees and on the globe."""
    figure.set_size_inches(9.0, 4.6)
    batches = storms(np.random.default_rng(3))
    for ax, (space, penalty) in zip(
        figure.subplots(1, 2), (("raw", 60.0), ("geo", 1000.0**2)), strict=True
    ):
        model = DynamicMeans(penalty, space=space, random_state=0)
        _, history = model.fit_sequence(batches)
        history.feature_names = ("latitude", "longitude")
        plot_tracks(history, batches[-1], tail=len(batches), ax=ax)
        n = len(history.cluster_ids)
        ax.set_title(f"{space}: {n} storms, {len(history[-1].ids)} at the end")
        ax.get_legend().remove()


def make_angle(figure: Figure) -> None:
    """Arrivals about midnight and at noon, on a line and on a clock."""
    rng = np.random.default_rng(0)
    hours = np.concatenate([rng.normal(0.2, 1.0, 80) % 24, rng.normal(12, 1.0, 80)])[:, None]
    line, clock = figure.add_subplot(121), figure.add_subplot(122, projection="polar")
    labels = _labels(hours, 30.0, "raw")
    line.scatter(hours[:, 0], rng.uniform(0, 1, len(hours)), s=12, c=identity_rgba(labels))
    line.set(xlabel="hour", yticks=[], xticks=range(0, 25, 6))
    line.set_title(f"raw: {len(np.unique(labels))} clusters, midnight is cut in two")
    labels = _labels(hours, 30.0, "cyclic:24")
    turns = hours[:, 0] / 24 * 2 * np.pi
    clock.scatter(turns, rng.uniform(0.8, 1, len(hours)), s=12, c=identity_rgba(labels))
    clock.set_theta_zero_location("N")
    clock.set_theta_direction(-1)
    clock.set_xticks(np.arange(4) * np.pi / 2, ["00:00", "06:00", "12:00", "18:00"])
    clock.set(title=f"cyclic:24: {len(np.unique(labels))} clusters", yticks=[], ylim=(0, 1.1))


def make_direction(figure: Figure) -> None:
    """Long and short texts on three topics."""
    rng = np.random.default_rng(0)
    topics = np.repeat([0.2, 0.8, 1.4], 60) + rng.normal(0, 0.05, 180)
    rows = np.stack([np.cos(topics), np.sin(topics)], axis=1) * rng.gamma(2, 3, 180)[:, None]
    for ax, (space, penalty) in zip(
        figure.subplots(1, 2), (("raw", 9.0), ("cosine", 0.1)), strict=True
    ):
        _scatter(ax, rows, _labels(rows, penalty, space), space)
        ax.set(xlabel="feature 0", ylabel="feature 1", aspect="equal")


def make_landmarks(figure: Figure) -> None:
    """Three rings, one in the other."""
    batches, _ = moving_rings(np.random.default_rng(0), n_steps=40)
    for ax, (space, penalty) in zip(
        figure.subplots(1, 2), (("raw", 0.05), ("landmarks", 0.6)), strict=True
    ):
        labels, _ = DynamicMeans(penalty, space=space, random_state=0).fit_sequence(batches)
        _scatter(ax, np.concatenate(batches[-5:]), np.concatenate(labels[-5:]), space)
        ax.set(aspect="equal")


def make_mixed(figure: Figure) -> None:
    """Two lines of ferries between the same islands, by day and by night."""
    rng = np.random.default_rng(1)
    hour = np.concatenate([rng.normal(23.8, 0.8, 80) % 24, rng.normal(11, 0.8, 80)])
    lon = (360.0 + np.tile(np.repeat([-1.0, 1.0], 40), 2) + rng.normal(0, 0.15, 160)) % 360 - 180
    rows = np.stack([rng.normal(-17, 0.15, 160), lon, hour], axis=1)
    shown = np.stack([np.where(lon < 0, lon + 360, lon), hour], axis=1)
    asked = (("raw", 30.0), ("0.02*geo(0,1) + cyclic:24(2)", 14.0))
    for ax, (space, penalty) in zip(figure.subplots(1, 2), asked, strict=True):
        _scatter(ax, shown, _labels(rows, penalty, space), space)
        ax.set(xlabel="longitude, from 0 to 360", ylabel="hour", yticks=range(0, 25, 6))


PICTURES: dict[str, Callable[[Figure], None]] = {
    "scales": make_scales,
    "geo": make_geo,
    "angle": make_angle,
    "direction": make_direction,
    "landmarks": make_landmarks,
    "mixed": make_mixed,
}


if __name__ == "__main__":
    main()
