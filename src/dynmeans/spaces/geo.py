"""geo: latitude and longitude become places on the globe, in kilometers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray
from dynmeans.spaces.cyclic import rotate
from dynmeans.spaces.space import Space, array_module
from dynmeans.spaces.trigonometry import sin_and_cos

EARTH_RADIUS = 6371.0088  # km, the mean of the IUGG
_DEGREE = math.pi / 180.0
_LATITUDES = ("lat", "latitude", "latdeg")
_LONGITUDES = ("lon", "lng", "long", "longitude", "londeg")


@dataclass(frozen=True, slots=True)
class Geo(Space):
    """Two features, latitude and longitude in degrees: no seam at the date line, no squeezed poles.

    Distances are chords through the globe in kilometers, shorter than the way over it: by 0.03 % at
    500 km, by 0.1 % at 1,000. Longitudes may be from -180 to 180 or from 0 to 360. With named
    features the order may be either; without names latitude comes first.

    Examples
    --------
    >>> space = Geo()
    >>> suva, apia = space.to_points(np.array([[-18.1, 178.4], [-13.8, -171.8]]))
    >>> round(float(np.linalg.norm(suva - apia)))
    1150
    >>> space.to_rows(space.to_points(np.array([[10.0, 200.0]]))).round(9).tolist()
    [[10.0, -160.0]]
    """

    name: ClassVar[str] = "geo"
    unit: ClassVar[str] = "km"
    is_elementwise: ClassVar[bool] = True
    is_curved: ClassVar[bool] = True

    longitude_first: bool = False

    def bind_features(self, names: Sequence[str]) -> "Geo":
        """Take the order of the two from their names."""
        if len(names) != 2:
            raise InputError(
                "space",
                "'geo' needs two features, latitude and longitude, got {}",
                ", ".join(names),
                hint="For more features: {space='geo(lat,lon) + standard(speed)'}.",
            )
        return Geo(earth_features(names, (0.0, 0.0), (0.0, 0.0)) == (0, 1))

    def is_compatible(self, learned: Space) -> bool:
        """Return whether `learned` is of this kind: names may have determined the order."""
        return isinstance(learned, Geo)

    def n_coordinates(self, n_features: int) -> int:
        """Three: a place on the globe."""
        if n_features != 2:
            raise InputError(
                "space", "'geo' needs two features, latitude and longitude", n_features
            )
        return 3

    def point_columns(self, features: tuple[int, ...]) -> tuple[int, ...]:
        """Return all three: a course on the globe has latitude and longitude."""
        return (0, 1, 2)

    def periods(self, n_features: int) -> tuple[float | None, ...]:
        """Return 360 degrees for the longitude."""
        return (360.0, None) if self.longitude_first else (None, 360.0)

    def lon_lat(self) -> tuple[int, int]:
        """Return which is which."""
        return (0, 1) if self.longitude_first else (1, 0)

    def to_points(self, rows: Any) -> Any:
        """Return places in kilometers from the center of the Earth, in the rows' precision."""
        numbers = array_module(rows)
        columns = numbers.asarray(rows, dtype=np.float64).T
        latitude, longitude = columns[::-1] if self.longitude_first else columns
        for degrees, most, message in (
            (latitude, 90.0, "latitudes from -90 to 90"),
            (longitude, 360.0, "longitudes from -180 to 360"),
        ):
            is_beyond = numbers.abs(degrees) > most
            if bool(is_beyond.any()):
                row = int(numbers.argmax(is_beyond))
                rule = f"'geo' needs {message}; row {{}} has {{:g}}"
                hint = "Without names the first feature is the latitude."
                raise InputError("space", rule, row, float(degrees[row]), hint=hint)
        up, level = sin_and_cos(numbers, latitude * _DEGREE)
        sin, cos = sin_and_cos(numbers, longitude * _DEGREE)
        places = numbers.stack((level * cos, level * sin, up), axis=1) * EARTH_RADIUS
        return places.astype(rows.dtype)

    def to_rows(self, centers: FloatArray) -> FloatArray:
        """Return degrees: latitudes from -90 to 90, longitudes from -180 to 180."""
        x, y, z = centers.T
        found = [np.rad2deg(np.arctan2(z, np.hypot(x, y))), np.rad2deg(np.arctan2(y, x))]
        return np.stack(found[::-1] if self.longitude_first else found, axis=1)

    def velocities_to_rows(self, moves: FloatArray, centers: FloatArray) -> FloatArray:
        """Return moves in degrees of latitude and longitude."""
        x, y, z = centers.T
        level = np.maximum(np.hypot(x, y), 1e-9)
        length = np.sqrt(x * x + y * y + z * z)
        dx, dy, dz = moves.T
        east = (x * dy - y * dx) / level**2
        north = (dz * level - z * (x * dx + y * dy) / level) / np.maximum(length, 1e-9) ** 2
        found = [np.rad2deg(north), np.rad2deg(east)]
        return np.stack(found[::-1] if self.longitude_first else found, axis=1)

    def extrapolate(self, centers: FloatArray, moves: FloatArray, elapsed: Any) -> Any:
        """Follow great circles."""
        return rotate(centers, moves, elapsed)


def earth_features(
    names: Sequence[str], lowest: Sequence[float], highest: Sequence[float]
) -> tuple[int, int] | None:
    """Find longitude and latitude in degrees among features, by their names and ranges.

    >>> earth_features(["LAT", "start Longitude"], [37.6, -122.4], [37.8, -122.2])
    (1, 0)
    >>> earth_features(["lat", "lon"], [0.0, 0.0], [91.0, 5.0]) is None
    True
    """
    found = []
    for words, most in ((_LONGITUDES, 360.0), (_LATITUDES, 90.0)):
        rows = [row for row, name in enumerate(names) if _has_word(name, words)]
        if len(rows) != 1 or max(-lowest[rows[0]], highest[rows[0]]) > most:
            return None
        found += rows
    return found[0], found[1]


def _has_word(name: str, words: tuple[str, ...]) -> bool:
    return any(word in words for word in re.findall("[a-z]+", name.lower()))
