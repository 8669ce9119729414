"""The figures of a run folder: tracks, lives, numbers and costs, together or one of them."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dynmeans.inputs.fields import one_of
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.costs import plot_costs
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks
from dynmeans.records.history import History
from dynmeans.runs.run import Run

KINDS = ("all", "tracks", "timeline", "costs", "numbers")


class ShownFigure(Figure):
    """A figure that a notebook shows by itself, whether pyplot was loaded or not."""

    is_shown = False  # by the call that made it: the cell must not show it again

    def _repr_png_(self) -> bytes | None:
        if self.is_shown:
            self.is_shown = False
            return None
        data = io.BytesIO()
        self.savefig(data, format="png")
        return data.getvalue()


def run_figure(run: Run, kind: str = "all") -> Figure:
    """Draw the tracks of the last window, the timeline of lives, numbers of clusters and costs."""
    one_of("kind", kind, KINDS)
    history, points = _drawn(run)
    figures: dict[str, Callable[[Axes], Axes]] = {
        "tracks": lambda ax: plot_tracks(history, points, ax=ax),
        "timeline": lambda ax: plot_timeline(history, ax),
        "numbers": lambda ax: plot_cluster_numbers(history, ax),
        "costs": lambda ax: plot_costs(history, ax),
    }
    size, n_sides = ((12.0, 9.0), 2) if kind == "all" else ((8.0, 5.5), 1)
    figure = ShownFigure(figsize=size, layout="constrained")
    axes = figure.subplots(n_sides, n_sides, squeeze=False).ravel()
    for ax, name in zip(axes, figures if kind == "all" else [kind], strict=True):
        figures[name](ax)
    return figure


def _drawn(run: Run) -> tuple[History, Any]:
    """Return the history with the labels of the rows that the run keeps, and the last of these."""
    samples = list(run.samples())
    if not samples:
        raise ValueError(f"the run {str(run.folder)!r} has no windows yet.")
    history = History(feature_names=run.config.features)
    history.cluster_names = run.edits.shown_names()
    # A writer may commit between the two: the samples, read first, set the end.
    for record, sample in zip(run.history(labels=False), samples, strict=False):
        history.add(replace(record, labels=sample.cluster_ids))
    return history, samples[-1].points
