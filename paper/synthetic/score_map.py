"""Score over two of the three parameters, the third at its best value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from dynmeans.plots.arguments import axes_or_new, tidy
from dynmeans.records.arrays import FloatArray
from dynmeans.records.penalties import Penalties

if TYPE_CHECKING:
    import pandas as pd

PARAMETERS = ("new_penalty", "max_gap", "reach")
AXIS_LABELS = dict(
    zip(PARAMETERS, ("lambda (new_penalty)", "T_Q (max_gap)", "k_tau (reach)"), strict=True)
)

_COLORS = "cividis"
_N_LEVELS = 12
_MAX_TICKS = 7
_MARKS = ("s", "D", "^")


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMapData:
    """Scores of the trials drawn, at places of the map."""

    xs: FloatArray
    ys: FloatArray
    scores: FloatArray
    best: tuple[float, float]  # Place of the highest score
    # The third parameter and its value; None if the trials do not share one.
    fixed: tuple[str, float] | None


def plot_score_map(
    trials: "pd.DataFrame",
    x: str = "new_penalty",
    y: str = "max_gap",
    *,
    score: str = "score",
    marked: Mapping[str, Penalties] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw contours of the score over two parameters, at the best value of the third.

    Trials that are not on a grid have no such contours: all are drawn as dots of their color. Of
    two motions, the one with the highest score is drawn.

    Parameters
    ----------
    trials : pandas.DataFrame
        One row for each setting, with the columns `new_penalty`, `max_gap`, `reach` and the
        score; such as `dynmeans.tune(...).trials`.
    x, y : str
        The two parameters.
    score : str
        Column of the score; the higher, the better.
    marked : mapping of str to Penalties, optional
        Settings to mark beside the best, by name.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> trials = pd.DataFrame(
    ...     {
    ...         "new_penalty": [1.0, 2.0, 1.0, 2.0],
    ...         "max_gap": [3.0, 3.0, 5.0, 5.0],
    ...         "reach": [1.2, 1.2, 1.2, 1.2],
    ...         "score": [0.5, 0.7, 0.6, 0.9],
    ...     }
    ... )
    >>> plot_score_map(trials, ax=Figure().subplots()).get_title()
    'reach 1.2'
    """
    data = _score_map_data(trials, x, y, score)
    ax = axes_or_new(ax, size=(5.0, 4.5))
    _draw_score_map(data, ax)
    places = {name: (getattr(p, x), getattr(p, y)) for name, p in (marked or {}).items()}
    _mark(ax, {"best": data.best, **places})
    ax.set_xlabel(AXIS_LABELS[x])
    ax.set_ylabel(AXIS_LABELS[y])
    ax.set_title(f"{data.fixed[0]} {data.fixed[1]:g}" if data.fixed else "all trials")
    return ax


def _score_map_data(trials: "pd.DataFrame", x: str, y: str, score: str) -> ScoreMapData:
    for name, value in (("x", x), ("y", y)):
        if value not in PARAMETERS:
            raise ValueError(f"{name} must be one of {', '.join(PARAMETERS)}, got {value!r}.")
    if x == y:
        raise ValueError(f"x and y must differ, got {x!r} for both.")
    absent = [name for name in (*PARAMETERS, score) if name not in trials]
    if absent:
        raise ValueError(f"trials must have the columns {', '.join(absent)}.")
    if not len(trials):
        raise ValueError("trials must have at least 1 row, got none.")
    if "motion" in trials:
        trials = trials[trials["motion"] == trials.loc[trials[score].idxmax(), "motion"]]
    (third,) = set(PARAMETERS) - {x, y}
    best = trials.loc[trials[score].idxmax()]
    level = trials[trials[third] == best[third]]
    is_grid = len(level) == level[x].nunique() * level[y].nunique()
    is_map = is_grid and min(level[x].nunique(), level[y].nunique()) > 1
    drawn = level if is_map else trials
    xs, ys, scores = (drawn[name].to_numpy(dtype=np.float64) for name in (x, y, score))
    return ScoreMapData(
        xs=xs,
        ys=ys,
        scores=scores,
        best=(float(best[x]), float(best[y])),
        fixed=(third, float(best[third])) if is_map else None,
    )


def _draw_score_map(data: ScoreMapData, ax: Axes) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, values in ((ax.xaxis, data.xs), (ax.yaxis, data.ys)):
        ticks = _ticks(np.unique(values))
        axis.set_major_locator(FixedLocator(ticks))
        axis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
        axis.set_minor_locator(NullLocator())
    drawn: ScalarMappable
    if data.fixed is None:
        drawn = ax.scatter(data.xs, data.ys, c=data.scores, cmap=_COLORS, s=22)
    else:
        columns, rows = np.unique(data.xs), np.unique(data.ys)
        table = np.empty((len(rows), len(columns)))
        table[np.searchsorted(rows, data.ys), np.searchsorted(columns, data.xs)] = data.scores
        drawn = ax.contourf(columns, rows, table, levels=_N_LEVELS, cmap=_COLORS)
        ax.plot(data.xs, data.ys, ls="", marker=".", ms=2, color="white", alpha=0.6)
    ax.figure.colorbar(drawn, ax=ax, pad=0.02)


def _ticks(values: FloatArray) -> list[float]:
    step = int(np.ceil(len(values) / _MAX_TICKS))
    return [float(value) for value in values[::step]]


def _mark(ax: Axes, places: Mapping[str, Sequence[float]]) -> None:
    handles = []
    for marker, (name, place) in zip(("*", *_MARKS), places.items(), strict=False):
        size = 15 if marker == "*" else 8
        look: dict[str, Any] = {"marker": marker, "mfc": "white", "mec": "black", "ls": ""}
        ax.plot(*place, **look, ms=size, clip_on=False, zorder=5)
        handles.append(Line2D([], [], **look, ms=0.7 * size, label=name))
    tidy(ax, handles, n_columns=len(handles))
