"""Axes in degrees as a map: land, borders, degrees at the axes, true to scale."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import FuncFormatter, MultipleLocator

from dynmeans.plots.earth import SMALLEST, lines_of
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.globe import degrees

_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0)


def draw_earth(ax: Axes) -> None:
    """Make axes in degrees a map: land, borders, degrees at the axes, true to scale."""
    (low, high), (south, north) = ax.get_xlim(), ax.get_ylim()
    south, north = max(south, -90.0), min(north, 90.0)
    ax.set_aspect(1.0 / np.cos(np.deg2rad(np.clip(0.5 * (south + north), -85, 85))))
    if max(high - low, north - south) > SMALLEST:
        # A ring that crosses the date line goes on beyond it: look a turn further to the west.
        for turn in range(int((low + 180) // 360) - 1, int((high + 180) // 360) + 1):
            _draw_lines(ax, np.array([360.0 * turn, 0.0]))
    ax.set_xlim(low, high)
    ax.set_ylim(south, north)
    for axis, span, signs in ((ax.xaxis, high - low, "EW"), (ax.yaxis, north - south, "NS")):
        step = next((step for step in _STEPS if span / step <= 7), 90.0)
        axis.set_major_locator(MultipleLocator(step))
        axis.set_major_formatter(FuncFormatter(lambda value, _, s=signs: degrees(value, s)))
    ax.grid(color="#dddddd", linewidth=0.6, zorder=0)


def _draw_lines(ax: Axes, shift: FloatArray) -> None:
    land, borders = ([line + shift for line in lines_of(name)] for name in ("land", "borders"))
    ax.add_collection(PolyCollection(land, facecolors="#f1efe9", zorder=0.1), autolim=False)
    for lines, width in ((land, 0.7), (borders, 0.4)):
        drawn = LineCollection(lines, colors="#9a9a92", linewidths=width, zorder=0.2)
        ax.add_collection(drawn, autolim=False)
