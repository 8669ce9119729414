"""The coordinates of the player: the features, and the two directions of largest spread."""

import re
from dataclasses import dataclass

import numpy as np

from dynmeans.engine.blas import one_thread
from dynmeans.records.arrays import FloatArray
from dynmeans.report.data import TIME_AXIS, Axis

# How many features can be axes, at best and where room is short.
FEATURE_NUMBERS = (8, 6, 4, 2, 0)
_LONGITUDE = ("lon", "long", "lng", "longitude", "londeg", "longitudedeg")
_LATITUDE = ("lat", "latitude", "latdeg", "latitudedeg")


def axis_numbers(n_features: int) -> list[tuple[int, int]]:
    """Return numbers of features and of axes to try; above two features there are two more axes.

    Examples
    --------
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


def lon_lat_axes(axes: tuple[Axis, ...], places: FloatArray) -> tuple[int, int] | None:
    """Find longitude and latitude in degrees among the axes, by their names and their range.

    Examples
    --------
    >>> axes = Axis("LAT", "feature"), Axis("Longitude", "feature")
    >>> lon_lat_axes(axes, np.array([[37.6, -122.4], [37.8, -122.2]]))
    (1, 0)
    """
    words = [re.sub("[^a-z]", "", axis.name.lower()) for axis in axes]
    found = []
    for names, highest in ((_LONGITUDE, 360.0), (_LATITUDE, 90.0)):
        rows = [row for row, word in enumerate(words) if word in names]
        if len(rows) != 1 or np.abs(places[:, rows]).max(initial=0.0) > highest:
            return None
        found += rows
    return found[0], found[1]


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
    """Return the two directions of largest spread, and their shares of it."""
    n_features = rows.shape[1]
    if len(rows) == 0 or weights.sum() == 0:
        return np.eye(n_features)[:, :2], [0.0, 0.0]
    centered = rows - np.average(rows, axis=0, weights=weights)
    spread = (centered * weights[:, None]).T @ centered / weights.sum()
    values, vectors = np.linalg.eigh(spread)
    directions = vectors[:, ::-1][:, :2]
    # An axis has no sign of its own: its largest part points up.
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, [0, 1]])
    total = values.sum()
    shares = (values[::-1][:2] / total).tolist() if total > 0 else [0.0, 0.0]
    return directions, shares
