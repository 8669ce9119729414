"""The figures of a run folder: tracks, lives, numbers and costs, together or one of them."""

from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from dynmeans.inputs.fields import one_of
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.costs import plot_costs
from dynmeans.plots.figures import new_figure
from dynmeans.plots.shares import plot_shares
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks
from dynmeans.records.history import History
from dynmeans.runs.run import Run

KINDS = ("all", "tracks", "timeline", "costs", "numbers", "shares")


def run_figure(run: Run, kind: str = "all") -> Figure:
    """Draw the tracks of the last window, the timeline of lives, numbers of clusters and costs."""
    one_of("kind", kind, KINDS)
    history, points = _drawn(run)
    figure, axes = new_figure((12, 9), 2, 2) if kind == "all" else new_figure((8, 5.5), 1, 1)
    axes = axes if kind == "all" else axes * 4
    if kind in ("all", "tracks"):
        plot_tracks(history, points, ax=axes[0])
    if kind in ("all", "timeline"):
        plot_timeline(history, ax=axes[1])
    if kind in ("all", "numbers"):
        plot_cluster_numbers(history, ax=axes[2])
    if kind in ("all", "costs"):
        plot_costs(history, ax=axes[3])
    if kind == "shares":
        plot_shares(history, ax=axes[0])
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
