"""What every figure is given: a history that holds something, whole numbers, and axes."""

from collections.abc import Sequence
from datetime import datetime, time

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from dynmeans.engine.checks import check_points
from dynmeans.inputs.batch_times import BatchTime
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.step_record import StepRecord

_MAX_DATES = 6
_CHARACTER, _BETWEEN = 6.2, 10.0  # points that a character of a date takes, and between two dates
_MAX_NAME_LENGTH = 27  # characters


def check_history(history: object) -> History:
    """Return the history if there is something in it to draw."""
    if not isinstance(history, History):
        raise TypeError(
            f"history must be a History, got {type(history).__name__}. "
            "An estimator with keep_history=True has one as history_."
        )
    if len(history) == 0:
        raise ValueError("history must hold at least 1 batch, got an empty history.")
    return history


def check_step(step: object, n_batches: int) -> int:
    """Return the index of a batch, counted from the oldest."""
    if isinstance(step, bool) or not isinstance(step, int | np.integer):
        raise TypeError(f"step must be an integer, got {step!r}.")
    if not -n_batches <= step < n_batches:
        raise ValueError(
            f"step must be from {-n_batches} to {n_batches - 1}, an index of the history, "
            f"got {step!r}."
        )
    return int(step) % n_batches


def check_drawn_features(features: Sequence[int], n_features: int) -> tuple[int, ...]:
    """Return two columns to draw against each other, or one to draw against time."""
    is_sequence = np.iterable(features) and not isinstance(features, str)
    columns = tuple(features) if is_sequence else ()
    if not is_sequence or not all(isinstance(column, int | np.integer) for column in columns):
        raise TypeError(f"features must be a sequence of integers, got {features!r}.")
    if columns == (0, 1) and n_features == 1:
        return (0,)
    is_known = all(0 <= column < n_features for column in columns)
    if len(columns) not in (1, 2) or len(set(columns)) < len(columns) or not is_known:
        raise ValueError(
            f"features must be one or two different columns from 0 to {n_features - 1}, "
            f"got {features!r}."
        )
    return columns


def labeled_batch(points: npt.ArrayLike | None, record: StepRecord) -> tuple[FloatArray, IntArray]:
    """Return the points with their labels, or none of either."""
    n_features = record.centers.shape[1]
    if points is None:
        return np.empty((0, n_features)), np.empty(0, dtype=np.int64)
    shape = (len(record.labels), n_features)
    if np.shape(points) != shape:
        raise ValueError(
            f"points must have shape {shape}, as the batch of time {record.time:g} had, "
            f"got {np.shape(points)}."
        )
    return check_points(points, n_features).astype(np.float64, copy=False), record.labels


def axes_or_new(ax: Axes | None, size: tuple[float, float] = (7.0, 4.0)) -> Axes:
    """Return `ax`, or the axes of a new figure of `size` in inches."""
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib Axes or None, got {type(ax).__name__}.")
    return ax


def tidy(ax: Axes, marks: Sequence[Artist], n_columns: int) -> None:
    """Take away the upper right half of the frame, and explain the marks below the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    below_the_axis_label = ScaledTranslation(0.0, -34 / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        handles=marks,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + below_the_axis_label,
        ncols=n_columns,
        frameon=False,
        fontsize="small",
        columnspacing=1.4,
    )


def name_times(ax: Axes, history: History) -> None:
    """Write the dates or names of batches at the axis of time, if the history has any."""
    times = history.times
    if times is None or isinstance(times[0], float):
        return
    longest = max(map(len, times_of_batches([times[0], times[-1]])))
    n_fitting = int(ax.bbox.width / ax.figure.dpi * 72 / (_CHARACTER * longest + _BETWEEN))
    n = min(len(times), _MAX_DATES, max(2, n_fitting))
    rows = np.unique(np.linspace(0, len(times) - 1, n).round()).astype(int)
    places = [history[row].time for row in rows.tolist()]
    ax.set_xticks(places, times_of_batches([times[row] for row in rows.tolist()]))


def times_of_batches(times: Sequence[BatchTime]) -> list[str]:
    """Return dates as short as they can be read, names as they are.

    >>> times_of_batches([datetime(2026, 3, 1), datetime(2026, 3, 2)])
    ['2026-03-01', '2026-03-02']
    >>> times_of_batches([datetime(2026, 3, 1, 9), datetime(2026, 3, 1, 9, 30)])
    ['03-01 09:00', '03-01 09:30']
    """
    dates = [time for time in times if isinstance(time, datetime)]
    if len(dates) < len(times):
        return [f"{time:g}" if isinstance(time, float) else str(time) for time in times]
    is_daily = all(date.time() == time() for date in dates)
    return [date.strftime("%Y-%m-%d" if is_daily else "%m-%d %H:%M") for date in dates]


def batch_edges(times: FloatArray) -> FloatArray:
    """Give each batch the time that is nearer to it than to any other."""
    if len(times) == 1:
        return np.array([times[0] - 0.5, times[0] + 0.5])
    middles = (times[1:] + times[:-1]) / 2
    first, last = times[0] - (middles[0] - times[0]), times[-1] + (times[-1] - middles[-1])
    return np.concatenate([[first], middles, [last]])


def plain_name(name: str) -> str:
    r"""Return a cluster's name as text that is drawn literally: no formula, not too long.

    >>> print(plain_name("cost in $"))
    cost in \$
    """
    shown = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 3]}..."
    return shown.replace("$", r"\$")
