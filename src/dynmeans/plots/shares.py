"""A bump chart: which cluster is how large, rank by rank, over time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from dynmeans.plots.arguments import axes_or_new, checked_history, name_times
from dynmeans.plots.identity_colors import identity_color
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History

_MOST_CLUSTERS, _MOST_SLOTS = 12, 16
_WIDEST = 36.0  # points, of a line that is all there is


@dataclass(frozen=True, slots=True, eq=False)
class ShareData:
    """Shares and ranks of the largest clusters, in slots of time of equal numbers of batches."""

    ids: IntArray
    times: FloatArray  # (n_slots,)
    shares: FloatArray  # (n_clusters, n_slots), of all points of the slot
    ranks: FloatArray  # from 1; NaN where a cluster was not seen


def plot_shares(history: History, ax: Axes | None = None) -> Axes:
    """Draw the largest clusters in order of their size over time, lines as wide as their shares.

    Parameters
    ----------
    history : History
        The record of the batches; up to 16 slots of time are drawn, and 12 clusters.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from matplotlib.figure import Figure
    >>> batches = [[[0.0], [0.1], [9.0]], [[0.0], [9.1], [9.2]]]
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    >>> ax = plot_shares(history, ax=Figure().subplots())
    >>> ax.get_title(), _share_data(history).ranks.tolist()
    ('Shares over time', [[1.0, 2.0], [2.0, 1.0]])
    """
    data = _share_data(history)
    ax = axes_or_new(ax)
    _draw_shares(data, history, ax)
    name_times(ax, history)
    return ax


def _share_data(history: History) -> ShareData:
    records = list(checked_history(history))
    slots = np.array_split(np.arange(len(records)), min(len(records), _MOST_SLOTS))
    all_ids = np.unique(np.concatenate([record.ids for record in records]))
    counts = np.zeros((len(all_ids), len(slots)))
    for column, slot in enumerate(slots):
        for record in (records[i] for i in slot):
            np.add.at(counts[:, column], np.searchsorted(all_ids, record.ids), record.counts)
    totals = counts.sum(axis=0)
    largest = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:_MOST_CLUSTERS])
    kept = counts[largest]
    order = np.argsort(np.argsort(-kept, axis=0, kind="stable"), axis=0)
    ranks = (order + 1).astype(np.float64)
    ranks[kept == 0] = np.nan
    times = np.array([np.mean([records[i].time for i in slot]) for slot in slots])
    return ShareData(all_ids[largest], times, kept / np.where(totals > 0, totals, 1.0), ranks)


def _draw_shares(data: ShareData, history: History, ax: Axes) -> None:
    for k, shares, ranks in zip(data.ids.tolist(), data.shares, data.ranks, strict=True):
        color = identity_color(k)
        x, y, width = _smooth(data.times, ranks, shares)
        places = np.column_stack([x, y])
        pieces = np.stack([places[:-1], places[1:]], axis=1)
        is_there = np.isfinite(pieces).all(axis=(1, 2))
        widths = np.maximum(1.2, _WIDEST * width[:-1])[is_there]
        lines = LineCollection(
            pieces[is_there].tolist(), colors=color, linewidths=widths, capstyle="round", alpha=0.85
        )
        ax.add_collection(lines)
        seen = np.flatnonzero(np.isfinite(ranks))
        ax.plot(data.times[seen], ranks[seen], "o", color=color, ms=3, mec="white", mew=0.6)
        if len(seen):
            name = history.cluster_names.get(k, f"cluster {k}")
            last = data.times[seen[-1]], ranks[seen[-1]]
            look: dict[str, Any] = {"color": color, "fontsize": 9, "va": "center"}
            ax.annotate(
                name, last, (9, 0), textcoords="offset points", annotation_clip=False, **look
            )
    n = len(data.ids)
    ax.set_ylim(n + 0.7, 0.3)
    ax.set_yticks(range(1, n + 1))
    span = data.times[-1] - data.times[0] or 1.0
    ax.set_xlim(data.times[0] - 0.03 * span, data.times[-1] + 0.03 * span)
    ax.set_title("Shares over time")
    ax.set_xlabel("time")
    ax.set_ylabel("rank by size")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _smooth(
    times: FloatArray, ranks: FloatArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return places between slots, on curves that leave and arrive level."""
    if len(times) == 1:
        return times, ranks, shares
    at = np.linspace(0, len(times) - 1, 12 * (len(times) - 1) + 1)
    left = np.minimum(at.astype(int), len(times) - 2)
    part = at - left
    level = part * part * (3 - 2 * part)

    def between(values: FloatArray, step: FloatArray) -> FloatArray:
        return np.asarray(values[left] + step * (values[left + 1] - values[left]))

    return between(times, part), between(ranks, level), between(shares, part)
