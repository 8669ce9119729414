"""The coordinates of the player: the features, and the two directions of largest spread."""

import re
from dataclasses import dataclass, replace

import numpy as np

from dynmeans.engine.blas import one_thread
from dynmeans.records.arrays import FloatArray
from dynmeans.report.data import TIME_AXIS, Axis, ReportData
from dynmeans.spaces.geo import earth_features
from dynmeans.spaces.globe import find_seam
from dynmeans.spaces.space import Space

# Names of a pixel's two coordinates, and those that pixels share with other planes.
_PIXELS = {
    ("px", "py"),
    ("xpx", "ypx"),
    ("xpixel", "ypixel"),
    ("u", "v"),
    ("cx", "cy"),
    ("col", "row"),
    ("column", "row"),
    ("left", "top"),
    ("xmin", "ymin"),
    ("xc", "yc"),
}
_PLAIN = {("x", "y"), ("bboxx", "bboxy"), ("xcenter", "ycenter"), ("centerx", "centery")}
_LONGEST_SIDE = 20_000  # pixels
_NEARLY_ALL = 0.99  # of the spread
# How many features can be axes, at best and where room is short.
FEATURE_NUMBERS = (8, 6, 4, 2, 0)


def axis_numbers(n_features: int) -> list[tuple[int, int]]:
    """Return numbers of features and of axes to try; above two features there are two more axes.

    >>> axis_numbers(2), axis_numbers(5)
    ([(2, 2)], [(5, 7), (4, 6), (2, 4), (0, 2)])
    """
    if n_features <= 2:
        return [(n_features, n_features)]
    numbers = dict.fromkeys(min(n, n_features) for n in FEATURE_NUMBERS)
    return [(n, n + 2) for n in numbers]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """From all features to the axes of the page: a matrix, and what its columns are."""

    axes: tuple[Axis, ...]
    matrix: FloatArray  # (n_features, n_axes)

    @property
    def view(self) -> tuple[int, int]:
        """The axes drawn at first: the only feature over time, two features, or principal axes."""
        kinds = [axis.kind for axis in self.axes]
        if kinds.count("principal") == 2:
            return len(kinds) - 2, len(kinds) - 1
        return (0, 1) if len(kinds) > 1 else (TIME_AXIS, 0)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the places of rows of features."""
        return np.asarray(rows @ self.matrix)


def in_space(data: ReportData, space: Space) -> ReportData:
    """Return the report of rows clustered in this space, as learned.

    It has which features are angles, which are places on the Earth, and what a distance is
    measured in. Longitude and latitude are drawn as a map in any space, if names and ranges show
    so.
    """
    axes = list(data.axes)
    shown = [row for row, axis in enumerate(axes) if axis.kind == "feature"]
    places = np.concatenate([data.clusters.places, data.points.places])
    at = space.lon_lat()
    if at is None and len(places):
        names, ranges = [axes[row].name for row in shown], places[:, shown]
        at = earth_features(names, ranges.min(axis=0).tolist(), ranges.max(axis=0).tolist())
    at = None if at is None or max(at) >= len(shown) else at
    n_features = len(axes) if data.matrix is None else len(data.matrix)
    periods = dict(enumerate(space.periods(n_features))) | ({} if at is None else {at[0]: 360.0})
    for row in shown:
        if period := periods.get(row):
            axes[row] = _cut(axes[row], places[:, row], period)
    view = data.view if at is None else at
    is_down = at is None and len(places) > 0 and min(view) >= 0 and _are_pixels(axes, view, places)
    return replace(
        data,
        axes=tuple(axes),
        lon_lat=at,
        view=view,
        unit=space.unit,
        y_down=data.y_down or is_down,
    )


def _are_pixels(axes: list[Axis], view: tuple[int, int], places: FloatArray) -> bool:
    """Propose y downward where two columns are the row and column of a picture.

    Some names suffice alone; `x` and `y` only where their ranges could be those of a picture.
    """
    names = tuple(re.sub("[^a-z]", "", axes[row].name.lower()) for row in view)
    low, high = places[:, list(view)].min(axis=0), places[:, list(view)].max(axis=0)
    if np.any(low < -0.05 * (high - low)):
        return False
    of_picture = high.min() >= 100 and high.max() <= _LONGEST_SIDE
    return names in _PIXELS or (names in _PLAIN and bool(of_picture))


def _cut(axis: Axis, values: FloatArray, period: float) -> Axis:
    """Return where a circle is cut open, and the start of its values."""
    is_half = np.max(values, initial=0.0) <= 0.5 * period
    is_signed = np.min(values, initial=0.0) < 0 or (is_half and period == 360.0)
    start = -0.5 * period if is_signed else 0.0
    return replace(axis, period=period, seam=find_seam(values, period), start=start)


def make_projection(
    names: tuple[str, ...], n_kept: int, rows: FloatArray, weights: FloatArray
) -> Projection:
    """Keep the first features; with more than two, add the principal axes of the weighted rows."""
    n_features = len(names)
    axes = [Axis(name, "feature") for name in names[:n_kept]]
    matrix = np.eye(n_features)[:, :n_kept]
    if n_features <= 2:
        return Projection(tuple(axes), matrix)
    directions, shares = _principal_axes(rows, weights)
    axes += [
        Axis(f"PC {number} ({100 * share:.0f} %)", "principal")
        for number, share in enumerate(shares, start=1)
    ]
    return Projection(tuple(axes), np.hstack([matrix, directions]))


@one_thread()
def _principal_axes(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, list[float]]:
    """Return the two directions of largest spread, and their shares of it.

    Where one direction has nearly all of the spread, as where one feature has the largest unit,
    each feature counts in units of its own spread.
    """
    n_features = rows.shape[1]
    if len(rows) == 0 or weights.sum() == 0:
        return np.eye(n_features)[:, :2], [0.0, 0.0]
    centered = rows - np.average(rows, axis=0, weights=weights)
    spread = (centered * weights[:, None]).T @ centered / weights.sum()
    own = np.diag(spread)
    units = np.ones(n_features)
    values, vectors = np.linalg.eigh(spread)
    if values[-1] > _NEARLY_ALL * own.sum():
        units = np.sqrt(np.where(own > 0, own, 1.0))
        values, vectors = np.linalg.eigh(spread / np.outer(units, units))
    directions = vectors[:, ::-1][:, :2]
    # An axis has no sign of its own: its largest part points up.
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, [0, 1]]) / units[:, None]
    total = values.sum()
    shares = (values[::-1][:2] / total).tolist() if total > 0 else [0.0, 0.0]
    return directions, shares
