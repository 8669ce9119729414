"""The figures of a run folder: tracks, lives and numbers, together or one of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes

from dynmeans.inputs.fields import one_of
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.figures import ShownFigure
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks
from dynmeans.records.history import History
from dynmeans.runs.run import Run

KINDS = ("all", "tracks", "timeline", "numbers")


def run_figure(run: Run, kind: str = "all") -> ShownFigure:
    """Draw the tracks of the last window, the timeline of lives and numbers of clusters."""
    one_of("kind", kind, KINDS)
    history, points = _draw_all(run)
    figures: dict[str, Callable[[Axes], Axes]] = {
        "tracks": lambda ax: plot_tracks(history, points, ax=ax),
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
    for record, sample in zip(run.history(labels=False), samples, strict=False):
        history.add(replace(record, labels=sample.cluster_ids))
    return history, samples[-1].points
