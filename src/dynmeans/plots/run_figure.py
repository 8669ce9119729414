"""The figures of a run folder: tracks, lives and numbers, together or one of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dynmeans.families.find import build_families
from dynmeans.families.levels import families_at
from dynmeans.inputs.fields import one_of
from dynmeans.inputs.input_error import InputError
from dynmeans.plots.cluster_numbers import plot_cluster_numbers
from dynmeans.plots.families import plot_families, plot_tree
from dynmeans.plots.figures import ShownFigure
from dynmeans.plots.timeline import plot_timeline
from dynmeans.plots.tracks import plot_tracks
from dynmeans.records.arrays import FloatArray
from dynmeans.records.history import History
from dynmeans.records.joined import join_records
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.run import Run

_NEARLY = 0.9  # of the most clusters
KINDS = ("all", "tracks", "timeline", "numbers", "tree")


def run_figure(
    run: Run,
    kind: str = "all",
    *,
    ax: Axes | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Draw the tracks of the last window, the timeline of lives and numbers of clusters.

    Or one of them, or the tree of subclusters with the level shown; with `ax` one is drawn there,
    by default the tracks.
    """
    one_of("kind", kind, KINDS)
    if ax is not None and figsize is not None:
        raise InputError("figsize", "is for a new figure; give no {ax} with it", got=figsize)
    if kind == "tree":
        return _tree_figure(run, ax, figsize)
    history, kept = _draw_all(run)
    if not any(len(record.ids) for record in history):
        folder = str(run.folder)
        raise ValueError(f"the run {folder!r} has no clusters to plot: all rows are noise.")
    step = _fullest(history)
    seen, points = in_two_axes(history, kept, step)
    figures: dict[str, Callable[[Axes], Axes]] = {
        "tracks": lambda ax: plot_tracks(seen, points, step=step, ax=ax),
        "timeline": lambda ax: plot_timeline(history, ax),
        "numbers": lambda ax: plot_cluster_numbers(history, ax),
    }
    if ax is not None:
        return _figure_of(figures["tracks" if kind == "all" else kind](ax))
    is_one = kind != "all"
    size = figsize or ((8.0, 5.5) if is_one else (13.0, 9.0))
    figure = ShownFigure(figsize=size, layout="constrained")
    lifetimes = ["tracks", "timeline"]
    places: list[Any] = [[kind]] if is_one else [lifetimes, lifetimes, ["tracks", "numbers"]]
    for name, ax in figure.subplot_mosaic(places).items():
        figures[name](ax)
    return figure


def _tree_figure(run: Run, ax: Axes | None, figsize: tuple[float, float] | None) -> Figure:
    """Draw how subclusters join, up to the level shown, and their lifetimes."""
    evidence, levels = getattr(run.memory, "evidence", None), run.levels
    if evidence is None or levels is None:
        raise InputError("kind", "'tree' needs a run of joined clusters", hint="See {level}.")
    options = {"hint": run.config.model_config.n_clusters, "noise": levels.noise}
    evidence = evidence.copy()
    default = build_families(evidence, **options)
    families = families_at(levels.chosen, evidence, default, **options)
    history = History(feature_names=run.config.features)
    history.cluster_names = run.edits.display_names()
    ids = families.tree.ids  # small clusters of long ago are in no tree
    for record in join_records(
        run.history(labels=False), lambda found: np.where(np.isin(found, ids), found, -1)
    ):
        history.add(record)
    if ax is not None:
        return _figure_of(plot_tree(families, history, ax))
    figure = ShownFigure(figsize=figsize or (10.0, 7.0), layout="constrained")
    plot_families(families, history, figure.subplots(1, 2, width_ratios=[1, 1.6]))
    return figure


def _figure_of(ax: Axes) -> Figure:
    figure = ax.get_figure(root=True)
    assert figure is not None, "it was drawn in"
    return figure


def _draw_all(run: Run) -> tuple[History, Any]:
    """Return the history with the labels of the rows that the run keeps, and the last of these."""
    samples = list(run.samples())
    if not samples:
        raise ValueError(
            f"the run {str(run.folder)!r} has no windows yet. Wait for the first commit."
        )
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
