"""Lines with bands and histograms: what figures of experiments are made of."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from dynmeans.plots.arguments import tidy
from dynmeans.records.arrays import FloatArray

_BAND_ALPHA = 0.13
_DPI = 100


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One line: its points, one standard deviation around them, and its look."""

    name: str  # What the legend says
    # x, y, deviation: (n_points,); where it goes, and the half width of its band.
    x: FloatArray
    y: FloatArray
    deviation: FloatArray
    # color, marker, line: as matplotlib takes them; a line that is not "-" has hollow markers.
    color: str
    marker: str
    line: str = "-"


def draw_series(
    ax: Axes, series: Sequence[Series], *, is_upper_half_only: bool = False, n_columns: int = 2
) -> None:
    """Draw the lines, each with a band of one standard deviation, and explain them below."""
    handles = []
    for one in series:
        face = one.color if one.line == "-" else "white"
        look: dict[str, Any] = {
            "color": one.color,
            "marker": one.marker,
            "ls": one.line,
            "mfc": face,
        }
        ax.plot(one.x, one.y, lw=1.6, ms=5, **look, zorder=3)
        lower = one.y if is_upper_half_only else one.y - one.deviation
        ax.fill_between(
            one.x, lower, one.y + one.deviation, color=one.color, alpha=_BAND_ALPHA, lw=0, zorder=2
        )
        handles.append(Line2D([], [], lw=1.6, ms=5, **look, label=one.name))
    ax.grid(color="#DDDDDD", lw=0.6)
    ax.set_axisbelow(True)
    tidy(ax, handles, n_columns=n_columns)


def draw_histogram(ax: Axes, values: FloatArray, color: str, unit: str) -> None:
    """Draw how often each value comes, on a logarithmic axis, with median and 95 %."""
    bins = np.geomspace(values.min(), max(values.max(), 1.01 * values.min()), 50)
    ax.hist(values, bins=bins.tolist(), color=color, alpha=0.75, lw=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    marks = (("median", np.median(values), "-"), ("95 % below", np.quantile(values, 0.95), "--"))
    handles = []
    for name, value, line in marks:
        ax.axvline(value, color="black", lw=1.2, ls=line)
        label = f"{name} {value:.3g} {unit}"
        handles.append(Line2D([], [], color="black", lw=1.2, ls=line, label=label))
    tidy(ax, handles, n_columns=2)


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> list[Path]:
    """Write `path` with the endings .png and .svg, the same bytes for the same figure."""
    written = []
    for ending, metadata in ((".png", {"Software": None}), (".svg", {"Date": None})):
        target = Path(path).with_name(Path(path).name + ending)
        with mpl.rc_context({"svg.hashsalt": "dynmeans", "svg.fonttype": "none"}):
            figure.savefig(target, dpi=_DPI, metadata=metadata)
        written.append(target)
    return written
