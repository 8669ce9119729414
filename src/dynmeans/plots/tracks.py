"""Where the clusters are and where they came from: centers with tails, over one batch's points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from dynmeans.inputs.numbers import check_count
from dynmeans.plots.arguments import (
    axes_or_new,
    check_drawn_features,
    check_history,
    check_step,
    labeled_batch,
    plain_name,
    tidy,
    times_of_batches,
)
from dynmeans.plots.identity_colors import identity_rgba, rows_by_marker
from dynmeans.plots.map_axes import draw_earth, map_columns, ways_on_map
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.step_record import StepRecord
from dynmeans.spaces.globe import find_seam, unwrap

MAX_NAMES = 40  # More numbers than these cannot be told apart in one figure.
_INK = "#222222"
_GRAY = "#777777"
_DARK_GRAY = "#555555"
_DOTS = (0, (1.0, 1.6))
_ARROW: dict[str, Any] = {"width": 0.004, "zorder": 3.5}
_LONGEST, _WIDTH = 30, 0.62  # characters of a name; width of one, of its height
_NAME_HEIGHT = 0.055  # of the axes


@dataclass(frozen=True, slots=True, eq=False)
class TrackData:
    """One batch and the tails that lead to it, in the two coordinates of the figure."""

    time: str  # When the batch came
    ids: IntArray
    counts: FloatArray
    centers: FloatArray
    unseen_ids: IntArray
    unseen_centers: FloatArray  # Where each was last seen
    tail_ids: IntArray
    tail_segments: FloatArray  # (n_tails, 2, 2); the two ends
    tail_ages: IntArray  # How many batches ago the newer end was
    tail_skips: npt.NDArray[np.bool_]  # Whether it bridges batches without the cluster
    arrows: FloatArray  # Where each moves in a step of time; empty where they keep no course
    points: FloatArray  # Empty if none were given
    labels: IntArray
    axis_labels: tuple[str, str]  # What the two coordinates are
    names: Mapping[int, str]  # Names of clusters that have one
    seam: float | None = None  # on a map, the longitude from which it is drawn


def plot_tracks(
    history: History,
    points: npt.ArrayLike | None = None,
    *,
    step: int = -1,
    tail: int = 10,
    features: Sequence[int] = (0, 1),
    ax: Axes | None = None,
) -> Axes:
    """Draw the centers of one batch, the tails they leave, and the batch's points.

    Clusters with a velocity get an arrow to their predicted position one step later. Features that
    are a longitude and a latitude, by their names and ranges, are drawn as a map.

    Parameters
    ----------
    history : History
        The record of the batches.
    points : array-like of shape (n_points, n_features), optional
        The points of that batch, which a history does not keep. Each gets its cluster's color.
    step : int
        Which batch, as an index of `history`; -1 is the last.
    tail : int
        How many batches back the tails go; 0 for none.
    features : sequence of int
        The two columns to draw, or the only one, which is then drawn against time. Data of one
        feature are always drawn against time.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    See Also
    --------
    plot_timeline : When each cluster is active.
    animate : The same for all batches, as a film.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from matplotlib.figure import Figure
    >>> batches = [[[0.0, 0.0], [5.0, 5.0]], [[0.3, 0.1], [5.0, 5.3]]]
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    >>> ax = plot_tracks(history, batches[-1], ax=Figure().subplots())
    >>> ax.get_title()
    'Time 2: 2 clusters'
    """
    data = _track_data(history, points, step=step, tail=tail, features=features)
    ax = axes_or_new(ax, (6.4, 5.4))
    _draw_tracks(data, ax)
    return ax


def _track_data(
    history: History,
    points: npt.ArrayLike | None = None,
    *,
    step: int = -1,
    tail: int = 10,
    features: Sequence[int] = (0, 1),
) -> TrackData:
    check_history(history)
    tail = check_count("tail", tail, at_least=0)
    last = check_step(step, len(history))
    record = history[last]
    batch, labels = labeled_batch(points, record)
    columns = check_drawn_features(features, record.centers.shape[1])
    lon_lat = map_columns(history, columns, batch)
    columns = lon_lat or columns
    records = [history[index] for index in range(max(0, last - tail), last + 1)]
    places = [_project(earlier.centers, earlier.time, columns) for earlier in records]
    drawn, seam = _project(batch, record.time, columns), None
    if lon_lat is not None:
        seam = find_seam(np.concatenate([*places, drawn])[:, 0], 360.0)
        for rows in (*places, drawn):
            rows[:, 0] = unwrap(rows[:, 0], seam, 360.0)
    unseen_ids, unseen_centers = _last_places(records, places)
    named = history.feature_names
    names = tuple(named[column] if named else f"feature {column}" for column in columns)
    return TrackData(
        time=f"{record.time:g}" if record.when is None else times_of_batches([record.when])[0],
        ids=record.ids,
        counts=record.counts,
        centers=places[-1],
        unseen_ids=unseen_ids,
        unseen_centers=unseen_centers,
        **_tails(records, places),
        arrows=_arrows(record, columns),
        points=drawn,
        labels=labels,
        axis_labels=(names[0], names[1]) if len(names) == 2 else ("time", names[0]),
        names=history.cluster_names,
        seam=seam,
    )


def _project(rows: FloatArray, time: float, columns: tuple[int, ...]) -> FloatArray:
    """Take the two chosen columns, or set the one chosen against time."""
    if len(columns) == 2:
        return rows[:, columns]
    return np.column_stack([np.full(len(rows), time), rows[:, columns[0]]])


def _arrows(record: StepRecord, columns: tuple[int, ...]) -> FloatArray:
    """Take the velocities in the coordinates of the figure; time advances by one."""
    if record.velocities is None:
        return np.empty((0, 2))
    if len(columns) == 2:
        return record.velocities[:, columns]
    return np.column_stack([np.ones(len(record.ids)), record.velocities[:, columns[0]]])


def _tails(records: list[StepRecord], places: list[FloatArray]) -> dict[str, Any]:
    """Join each place of a cluster with the one before it."""
    ids, segments, ages, skips = [], [], [], []
    seen: dict[int, tuple[int, FloatArray]] = {}
    for index, (record, here) in enumerate(zip(records, places, strict=True)):
        for k, place in zip(record.ids.tolist(), here, strict=True):
            if k in seen:
                before, old_place = seen[k]
                ids.append(k)
                segments.append((old_place, place))
                ages.append(len(records) - 1 - index)
                skips.append(index - before > 1)
            seen[k] = index, place
    return {
        "tail_ids": np.array(ids, dtype=np.int64),
        "tail_segments": np.array(segments, dtype=np.float64).reshape(-1, 2, 2),
        "tail_ages": np.array(ages, dtype=np.int64),
        "tail_skips": np.array(skips, dtype=bool),
    }


def _last_places(
    records: list[StepRecord], places: list[FloatArray]
) -> tuple[IntArray, FloatArray]:
    """Return the last positions of the clusters that are not in the last record."""
    last = {
        k: place
        for record, here in zip(records, places, strict=True)
        for k, place in zip(record.ids.tolist(), here, strict=True)
    }
    unseen = sorted(set(last) - set(records[-1].ids.tolist()))
    centers = np.array([last[k] for k in unseen], dtype=np.float64).reshape(-1, 2)
    return np.array(unseen, dtype=np.int64), centers


def _draw_tracks(data: TrackData, ax: Axes) -> None:
    for marker, rows in rows_by_marker(data.labels).items():
        x, y = data.points[rows].T
        colors = identity_rgba(data.labels[rows])
        ax.scatter(x, y, s=14, c=colors, marker=marker, alpha=0.5, linewidths=0, zorder=1)
    for is_skip, style in ((False, "solid"), (True, _DOTS)):
        is_chosen = data.tail_skips == is_skip
        ages, colors = data.tail_ages[is_chosen], identity_rgba(data.tail_ids[is_chosen])
        colors[:, 3] = 1.0 - 0.85 * ages / (data.tail_ages.max(initial=0) + 1)
        segments = list(data.tail_segments[is_chosen])
        if data.seam is not None:
            segments = ways_on_map(segments, data.seam)
            colors = np.repeat(colors, 2, axis=0)
        lines = LineCollection(segments, colors=colors, linestyles=style, zorder=2)
        lines.set_linewidth(2.2)
        ax.add_collection(lines, autolim=data.seam is None)
    if len(data.arrows):
        (x, y), (u, v) = data.centers.T, data.arrows.T
        ax.quiver(x, y, u, v, angles="xy", scale_units="xy", scale=1, color=_INK, **_ARROW)
    _draw_centers(data, ax)
    if data.seam is not None:
        draw_earth(ax)
    n, n_named = len(data.ids), _draw_names(data, ax)
    note = f", {n_named} of the largest named" if n > MAX_NAMES else ""
    ax.set_title(f"Time {data.time}: {n} cluster{'' if n == 1 else 's'}{note}")
    ax.set_xlabel(data.axis_labels[0])
    ax.set_ylabel(data.axis_labels[1])
    _explain(ax)


def _draw_centers(data: TrackData, ax: Axes) -> None:
    """Mark the centers, filled if the batch has points of the cluster; smaller if they are many."""
    share = max(0.2, min(1.0, MAX_NAMES / max(len(data.ids), 1)))
    size, edge = 95 * share, 1.1 * share**0.5
    for marker, rows in rows_by_marker(data.unseen_ids).items():
        (x, y), edges = data.unseen_centers[rows].T, identity_rgba(data.unseen_ids[rows])
        look: dict[str, Any] = {"edgecolors": edges, "linewidths": 1.4 * edge, "zorder": 3}
        ax.scatter(x, y, s=size / 2, c="white", marker=marker, **look)
    for marker, rows in rows_by_marker(data.ids).items():
        (x, y), colors = data.centers[rows].T, identity_rgba(data.ids[rows])
        look = {"edgecolors": _INK, "linewidths": edge, "zorder": 4}
        ax.scatter(x, y, s=size, c=colors, marker=marker, **look)


def _draw_names(data: TrackData, ax: Axes) -> int:
    """Name the largest centers and, where there is room, the places last seen; return how many."""
    rows = np.argsort(-data.counts, kind="stable")[:MAX_NAMES]
    places = data.centers[rows]
    is_column = data.axis_labels[0] == "time"
    if is_column:
        low, high = ax.get_ylim()
        heights = _spread(places[:, 1], _NAME_HEIGHT * (high - low))
        places = np.column_stack([places[:, 0], heights])
    names = [(k, place, 10, _INK) for k, place in zip(data.ids[rows], places, strict=True)]
    if len(data.ids) + len(data.unseen_ids) <= MAX_NAMES:
        names += [
            (k, place, 8, _DARK_GRAY)
            for k, place in zip(data.unseen_ids, data.unseen_centers, strict=True)
        ]
    texts = [shorten(data.names.get(int(k), str(k)), _LONGEST, placeholder="…") for k, *_ in names]
    if not is_column:
        pairs = zip(texts, names, strict=True)
        spots = [(place, len(text), size) for text, (_, place, size, _) in pairs]
        free = _free_places(ax, spots)
        names, texts = [names[row] for row in free], [texts[row] for row in free]
    for (_, place, size, color), text in zip(names, texts, strict=True):
        ax.annotate(
            plain_name(text),
            (place[0], place[1]),
            xytext=(9, 0) if is_column else (7, 5),
            textcoords="offset points",
            verticalalignment="center" if is_column else "baseline",
            fontsize=size,
            fontweight="bold",
            color=color,
            path_effects=[withStroke(linewidth=3, foreground="white")],
            zorder=5,
        )
    return len(texts)


def _free_places(ax: Axes, spots: list[tuple[FloatArray, int, int]]) -> list[int]:
    """Return the names that cover no earlier one: the largest clusters come first."""
    boxes: list[tuple[float, float, float, float]] = []
    free = []
    point = ax.figure.dpi / 72.0
    for row, (place, n_characters, size) in enumerate(spots):
        x, y = ax.transData.transform((place[0], place[1]))
        box = (x, y, x + _WIDTH * size * n_characters * point, y + 1.15 * size * point)
        if all(box[0] > b[2] or b[0] > box[2] or box[1] > b[3] or b[1] > box[3] for b in boxes):
            boxes.append(box)
            free.append(row)
    return free


def _spread(heights: FloatArray, distance: float) -> FloatArray:
    """Move heights, about as little as possible, until neighbors are `distance` apart."""
    order = np.argsort(heights, kind="stable")
    ranks = distance * np.arange(len(heights))
    near = heights[order] - ranks
    # Halfway between the lowest rising line above and the highest below.
    rising = (np.maximum.accumulate(near) + np.minimum.accumulate(near[::-1])[::-1]) / 2
    return (rising + ranks)[np.argsort(order)]


def _explain(ax: Axes) -> None:
    """Name the marks: always the same ones, so that nothing jumps from frame to frame."""
    tidy(
        ax,
        [
            Line2D([], [], marker="o", ls="", mfc=_GRAY, mec=_INK, ms=8, label="center"),
            Line2D([], [], color=_GRAY, lw=2.2, label="track"),
            Line2D(
                [], [], marker="o", ls="", mfc="white", mec=_GRAY, mew=1.5, label="last position"
            ),
            Line2D([], [], color=_GRAY, lw=2.2, ls=_DOTS, label="inactive"),
        ],
        n_columns=4,
    )
