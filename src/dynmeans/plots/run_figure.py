"""The figures of a run folder: tracks, lives and numbers, together or one of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from dynmeans.inputs.fields import one_of
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.figures import ShownFigure
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks
from dynmeans.records.arrays import FloatArray
from dynmeans.records.history import History
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run

_NEARLY = 0.9  # of the most clusters
KINDS = ("all", "tracks", "timeline", "numbers")


def run_figure(run: Run, kind: str = "all") -> ShownFigure:
    """Draw the tracks of the last window, the timeline of lives and numbers of clusters."""
    one_of("kind", kind, KINDS)
    history, kept = _draw_all(run)
    step = _fullest(history)
    seen, points = in_two_axes(history, kept, step)
    figures: dict[str, Callable[[Axes], Axes]] = {
        "tracks": lambda ax: plot_tracks(seen, points, step=step, ax=ax),
        "timeline": lambda ax: plot_timeline(history, ax),
        "numbers": lambda ax: plot_cluster_numbers(history, ax),
    }
    is_one = kind != "all"
    figure = ShownFigure(figsize=(8.0, 5.5) if is_one else (13.0, 9.0), layout="constrained")
    lifetimes = ["tracks", "timeline"]
    places: list[Any] = [[kind]] if is_one else [lifetimes, lifetimes, ["tracks", "numbers"]]
    for name, ax in figure.subplot_mosaic(places).items():
        figures[name](ax)
    return figure


def _draw_all(run: Run) -> tuple[History, Any]:
    """Return the history with the labels of the rows that the run keeps, and the last of these."""
    samples = list(run.samples())
    if not samples:
        raise ValueError(f"the run {str(run.folder)!r} has no windows yet.")
    history = History(feature_names=run.config.features)
    history.cluster_names = run.edits.display_names()
    # A writer may commit between the two: the samples, read first, set the end.
    shown = run.edits.resolve_ids
    for record, sample in zip(run.history(labels=False, joined=True), samples, strict=False):
        history.add(replace(record, labels=shown(sample.cluster_ids)))
    return history, [sample.points for sample in samples]


def _fullest(history: History) -> int:
    """Return the last window with nearly the most clusters: the very last may hold few rows."""
    sizes = np.array([len(record.ids) for record in history])
    return int(np.flatnonzero(sizes >= _NEARLY * sizes.max())[-1])


def in_two_axes(history: History, kept: list[FloatArray], step: int) -> tuple[History, FloatArray]:
    """Draw vectors along the two directions of largest spread of their rows.

    The numbers of a vector mean nothing one by one, and two of very many show nothing.
    """
    names = history.feature_names
    if names is None or len(names) <= 2 or not all(map(is_of_vector, names)):
        return history, kept[step]
    rows = np.concatenate(kept)
    _, _, axes = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    drawn = History(feature_names=("first principal axis", "second principal axis"))
    drawn.cluster_names = history.cluster_names
    for record in history:
        moves = None if record.velocities is None else record.velocities @ axes[:2].T
        drawn.add(replace(record, centers=record.centers @ axes[:2].T, velocities=moves))
    return drawn, kept[step] @ axes[:2].T
