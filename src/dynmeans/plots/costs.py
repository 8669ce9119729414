"""The cost L_t of every batch, and how the passes over it brought it down."""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from dynmeans.plots.arguments import axes_or_new, checked_history, name_times, tidy
from dynmeans.records.arrays import FloatArray
from dynmeans.records.history import History
from dynmeans.records.step_record import StepRecord

_LINE = "#0072B2"
_PASSES = "#8C8C8C"


@dataclass(frozen=True, slots=True, eq=False)
class CostData:
    """Costs over time."""

    # times, costs, first_costs: (n_batches,); when each batch came, its cost after the last pass,
    # and after the first.
    times: FloatArray
    costs: FloatArray
    first_costs: FloatArray
    # pass_times, pass_costs: (n_passes,); the cost after every pass over every batch, and the time
    # of that batch.
    pass_times: FloatArray
    pass_costs: FloatArray


def plot_costs(history: History, ax: Axes | None = None) -> Axes:
    """Draw the cost L_t of every batch over time, with its fall from pass to pass.

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
    >>> ax = plot_costs(history, ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('time', 'cost of a batch')
    """
    data = _cost_data(history)
    ax = axes_or_new(ax)
    _draw_costs(data, ax)
    name_times(ax, history)
    return ax


def _cost_data(history: History) -> CostData:
    checked_history(history)
    traces = [_checked_trace(record) for record in history]
    times = np.array([record.time for record in history])
    return CostData(
        times=times,
        costs=np.array([trace[-1] for trace in traces]),
        first_costs=np.array([trace[0] for trace in traces]),
        pass_times=times.repeat([len(trace) for trace in traces]),
        pass_costs=np.concatenate(traces),
    )


def _checked_trace(record: StepRecord) -> FloatArray:
    trace = record.cost_trace
    if len(trace) == 0 or not np.isfinite(trace).all():
        raise ValueError(
            f"history must have a finite cost for every pass, got {trace} in the batch of time "
            f"{record.time:g}."
        )
    return trace


def _draw_costs(data: CostData, ax: Axes) -> None:
    ax.vlines(data.times, data.costs, data.first_costs, colors=_PASSES, linewidths=0.9, zorder=1)
    ax.plot(data.pass_times, data.pass_costs, ls="", marker=".", ms=4, color=_PASSES, zorder=2)
    marker_size = 4.5 if len(data.times) <= 100 else 0.0
    ax.plot(data.times, data.costs, color=_LINE, lw=1.6, marker="o", ms=marker_size, zorder=3)
    ax.set_title("Cost of every batch")
    ax.set_xlabel("time")
    ax.set_ylabel("cost of a batch")
    ax.set_ylim(bottom=0.0)
    after_last = Line2D(
        [], [], color=_LINE, lw=1.6, marker="o", ms=4.5, label="after the last pass"
    )
    after_each = Line2D([], [], color=_PASSES, lw=0.9, marker=".", ms=4, label="after each pass")
    tidy(ax, [after_last, after_each], n_columns=2)
