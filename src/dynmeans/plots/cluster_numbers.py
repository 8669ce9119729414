"""How many clusters there are over time: seen in the batch, and remembered after it."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dynmeans.plots.arguments import axes_or_new, batch_edges, check_history, name_times, tidy
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History

_SEEN = "#0072B2"
_REMEMBERED = "#D55E00"


@dataclass(frozen=True, slots=True, eq=False)
class ClusterNumberData:
    """Numbers over time, one row for each batch: clusters seen in it and remembered after it."""

    times: FloatArray
    n_seen: IntArray
    n_remembered: IntArray


def plot_cluster_numbers(history: History, ax: Axes | None = None) -> Axes:
    """Draw the number of clusters seen and remembered over time.

    Parameters
    ----------
    history : History
        The record of the batches.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> from matplotlib.figure import Figure
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence([[[0.0], [9.0]], [[9.2]]])
    >>> ax = plot_cluster_numbers(history, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('time', 'clusters')
    """
    data = _cluster_number_data(history)
    ax = axes_or_new(ax)
    _draw_cluster_numbers(data, ax)
    name_times(ax, history)
    return ax


def _cluster_number_data(history: History) -> ClusterNumberData:
    check_history(history)
    return ClusterNumberData(
        times=np.array([record.time for record in history]),
        n_seen=np.array([len(record.ids) for record in history], dtype=np.int64),
        n_remembered=np.array([record.n_remembered for record in history], dtype=np.int64),
    )


def _draw_cluster_numbers(data: ClusterNumberData, ax: Axes) -> None:
    edges = batch_edges(data.times)
    n_seen, n_remembered = (np.append(n, n[-1]) for n in (data.n_seen, data.n_remembered))
    remembered = ax.plot(edges, n_remembered, "--", ds="steps-post", color=_REMEMBERED, lw=1.6)
    seen = ax.plot(edges, n_seen, ds="steps-post", color=_SEEN, lw=2.0)
    between = ax.fill_between(
        edges, n_seen, n_remembered, step="post", color=_REMEMBERED, alpha=0.15, lw=0.0
    )
    remembered[0].set_label("remembered")
    seen[0].set_label("active in the batch")
    between.set_label("remembered, inactive")
    ax.set_title("Number of clusters")
    ax.set_xlabel("time")
    ax.set_ylabel("clusters")
    ax.set_ylim(0, 1.08 * max(1, n_remembered.max(), n_seen.max()))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    tidy(ax, [*remembered, *seen, between], n_columns=3)
