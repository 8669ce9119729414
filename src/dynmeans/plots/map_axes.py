"""Axes in degrees as a map: land, borders, degrees at the axes, true to scale."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.ticker import FuncFormatter, MultipleLocator

from dynmeans.plots.earth import SMALLEST, lines_of
from dynmeans.records.arrays import FloatArray
from dynmeans.records.history import History
from dynmeans.spaces.geo import earth_features
from dynmeans.spaces.globe import degrees, great_circle

_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0)


def map_columns(
    history: History, columns: tuple[int, ...], rows: FloatArray
) -> tuple[int, int] | None:
    """Return longitude and latitude, in this order, where the two columns are these."""
    names = history.feature_names
    if len(columns) != 2 or names is None:
        return None
    seen = np.concatenate([*(record.centers for record in history), rows])[:, columns]
    if not len(seen):
        return None
    found = earth_features(
        [names[column] for column in columns], seen.min(axis=0).tolist(), seen.max(axis=0).tolist()
    )
    return None if found is None else (columns[found[0]], columns[found[1]])


def ways_on_map(segments: list[FloatArray], seam: float) -> list[FloatArray]:
    """Return two lines for each segment: along a great circle, and as it comes in at the seam."""
    ways = []
    for start, end in segments:
        way = great_circle(start, end)
        by = 360.0 if way[:, 0].min() < seam else -360.0
        ways += [way, way + np.array([by, 0.0])]
    return ways


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
