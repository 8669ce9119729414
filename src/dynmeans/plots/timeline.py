"""The lives of the clusters: one row each, from birth through gaps and returns to the end."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dynmeans.inputs.numbers import check_count
from dynmeans.plots.arguments import (
    axes_or_new,
    batch_edges,
    check_history,
    name_times,
    plain_name,
    tidy,
)
from dynmeans.plots.identity_colors import identity_color, identity_rgba, rows_by_marker
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History

_INK = "#222222"
_GRAY = "#777777"
_SHADE = 0.55  # opacity of the rows, so that marks stand out
_THINNEST, _THICKEST = 0.14, 0.86  # of the distance between two rows
_MAX_NAMES = 40


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Batches without a gap: where each begins and ends on the time axis, and its counts."""

    edges: FloatArray
    counts: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Life:
    """One row of the timeline."""

    cluster_id: int
    name: str  # Its name, or its number
    n_points: float  # Points of the cluster in all batches
    stretches: tuple[Stretch, ...]  # When it was seen
    gaps: tuple[tuple[float, float], ...]  # When it was remembered but not seen
    born: float | None  # When it was born; None if that was before the history begins
    returned: tuple[float, ...]  # When it came back
    forgotten: float | None  # When it was dropped from memory; None if it is still remembered


@dataclass(frozen=True, slots=True, eq=False)
class TimelineData:
    """The lives to draw, in order of birth, and how many clusters there are in all."""

    lifetimes: tuple[Life, ...]
    n_clusters: int
    span: tuple[float, float]


def plot_timeline(history: History, ax: Axes | None = None, max_clusters: int = 40) -> Axes:
    """Draw one row for each cluster, as thick as the cluster is large, over time.

    Parameters
    ----------
    history : History
        The record of the batches.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    max_clusters : int
        How many rows at most. If there are more clusters, those with the most points are kept,
        and the title shows it.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from matplotlib.figure import Figure
    >>> batches = [[[0.0], [9.0]], [[0.1]], [[0.2], [9.0]]]
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    >>> ax = plot_timeline(history, ax=Figure().subplots())
    >>> [tick.get_text() for tick in ax.get_yticklabels()]
    ['0', '1']
    """
    data = _timeline_data(history, max_clusters)
    ax = axes_or_new(ax, (7.5, min(max(2.6, 1.5 + 0.26 * len(data.lifetimes)), 14.0)))
    _draw_timeline(data, ax)
    name_times(ax, history)
    return ax


def _timeline_data(history: History, max_clusters: int = 40) -> TimelineData:
    check_history(history)
    max_clusters = check_count("max_clusters", max_clusters, at_least=1)
    steps, counts = defaultdict(list), defaultdict(list)
    for index, record in enumerate(history):
        for k, n in zip(record.ids.tolist(), record.counts.tolist(), strict=True):
            steps[k].append(index)
            counts[k].append(n)
    by_size = sorted(steps, key=lambda k: (-sum(counts[k]), k))
    kept = sorted(by_size[:max_clusters])
    edges = batch_edges(np.array([record.time for record in history]))
    happened = _event_times(history)
    lifetimes = tuple(
        _life(k, history.name_of(k), np.array(steps[k]), np.array(counts[k]), edges, happened[k])
        for k in kept
    )
    return TimelineData(lifetimes, len(steps), (float(edges[0]), float(edges[-1])))


def _event_times(history: History) -> dict[int, dict[str, list[float]]]:
    happened: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in history:
        for event in record.events:
            happened[event.cluster_id][event.kind].append(record.time)
    return happened


def _life(
    cluster_id: int,
    name: str,
    steps: IntArray,
    counts: FloatArray,
    edges: FloatArray,
    happened: dict[str, list[float]],
) -> Life:
    begins = [0, *(np.flatnonzero(np.diff(steps) > 1) + 1).tolist(), len(steps)]
    stretches = tuple(
        Stretch(edges[steps[i] : steps[j - 1] + 2], counts[i:j]) for i, j in pairwise(begins)
    )
    forgotten = happened["forgotten"][-1] if happened["forgotten"] else None
    ends = [float(stretch.edges[-1]) for stretch in stretches]
    resumes = [float(stretch.edges[0]) for stretch in stretches[1:]]
    last = float(edges[-1]) if forgotten is None else forgotten
    gaps = tuple(pair for pair in zip(ends, [*resumes, last], strict=True) if pair[0] < pair[1])
    return Life(
        cluster_id=cluster_id,
        name=name,
        n_points=float(counts.sum()),
        stretches=stretches,
        gaps=gaps,
        born=happened["born"][0] if happened["born"] else None,
        returned=tuple(happened["returned"]),
        forgotten=forgotten,
    )


def _draw_timeline(data: TimelineData, ax: Axes) -> None:
    _draw_lives(data, [life.cluster_id for life in data.lifetimes], ax)
    n_shown = len(data.lifetimes)
    ax.set_title(
        "Cluster timeline"
        if n_shown == data.n_clusters
        else f"Cluster timeline: the {n_shown} largest of {data.n_clusters}"
    )


def _draw_lives(data: TimelineData, color_ids: Sequence[int], ax: Axes) -> None:
    """Draw the rows in the colors and with the markers of the identities given for them."""
    stretches = [stretch for life in data.lifetimes for stretch in life.stretches]
    largest = max((stretch.counts.max() for stretch in stretches), default=1.0)
    shapes, colors = [], []
    gaps, gap_colors = [], []
    for row, (life, color_id) in enumerate(zip(data.lifetimes, color_ids, strict=True)):
        color = identity_color(color_id)
        for stretch in life.stretches:
            shapes.append(_outline(stretch, row, largest))
            colors.append(color)
        for start, end in life.gaps:
            gaps.append([(start, row), (end, row)])
            gap_colors.append(color)
    ax.add_collection(PolyCollection(shapes, facecolors=colors, edgecolors="none", alpha=_SHADE))
    ax.add_collection(LineCollection(gaps, colors=gap_colors, linewidths=1.3, linestyles=":"))
    _draw_marks(data, color_ids, ax)
    _name_rows(data, ax)
    margin = 0.012 * (data.span[1] - data.span[0])
    ax.set_xlim(data.span[0] - margin, data.span[1] + margin)
    ax.set_xlabel("time")
    _explain(largest, ax)


def _outline(stretch: Stretch, row: int, largest: float) -> FloatArray:
    """Go along the upper side of a stretch and back along the lower one."""
    thickness = _THINNEST + (_THICKEST - _THINNEST) * stretch.counts / largest
    x = np.repeat(stretch.edges, 2)[1:-1]
    half = np.repeat(thickness / 2, 2)
    return np.column_stack([np.append(x, x[::-1]), np.append(row + half, (row - half)[::-1])])


def _draw_marks(data: TimelineData, color_ids: Sequence[int], ax: Axes) -> None:
    """Mark births with a filled marker, returns with an open one, the end of memory with a bar."""
    born = [(life.born, row, color_ids[row]) for row, life in enumerate(data.lifetimes)]
    returned = [
        (time, row, color_ids[row])
        for row, life in enumerate(data.lifetimes)
        for time in life.returned
    ]
    size = 42 if len(data.lifetimes) <= 20 else 22
    for marks, is_filled in ((born, True), (returned, False)):
        known = [mark for mark in marks if mark[0] is not None]
        ids = np.array([k for _, _, k in known], dtype=np.int64)
        for marker, rows in rows_by_marker(ids).items():
            x, y = [known[row][0] for row in rows], [known[row][1] for row in rows]
            color: Any = identity_rgba(ids[rows]) if is_filled else "white"
            look: dict[str, Any] = {"edgecolors": _INK, "linewidths": 1.1, "zorder": 3}
            ax.scatter(x, y, s=size, c=color, marker=marker, **look)
    ends = [
        (life.forgotten, row)
        for row, life in enumerate(data.lifetimes)
        if life.forgotten is not None
    ]
    x, y = [time for time, _ in ends], [row for _, row in ends]
    ax.scatter(x, y, s=50, c=_INK, marker="|", linewidths=1.5, zorder=3)


def _name_rows(data: TimelineData, ax: Axes) -> None:
    every = max(1, math.ceil(len(data.lifetimes) / _MAX_NAMES))
    ax.set_yticks(
        range(0, len(data.lifetimes), every),
        [plain_name(life.name) for life in data.lifetimes[::every]],
        fontsize="small" if len(data.lifetimes) > 12 else "medium",
    )
    ax.set_ylim(max(len(data.lifetimes), 1) - 0.4, -0.6)
    ax.set_ylabel("cluster, in order of birth")


def _explain(largest: float, ax: Axes) -> None:
    marks: dict[str, Any] = {"ls": "", "marker": "o", "mec": _INK, "mew": 1.1, "ms": 6.5}
    handles = [
        Patch(
            color=_GRAY,
            alpha=_SHADE,
            label=f"active; height shows the number of points (at most {largest:g})",
        ),
        Line2D([], [], color=_GRAY, lw=1.3, ls=":", label="remembered, inactive"),
        Line2D([], [], mfc=_GRAY, label="born", **marks),
        Line2D([], [], mfc="white", label="returned", **marks),
        Line2D([], [], ls="", marker="|", mec=_INK, mew=1.5, ms=7, label="forgotten"),
    ]
    tidy(ax, handles, n_columns=3)
