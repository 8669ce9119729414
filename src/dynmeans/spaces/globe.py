"""Places on the globe and on circles as pictures and files need them: seams, great circles."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray

_WHOLE = 20.0 / 360.0  # of a circle: a gap this small is none, and it is cut where maps are
_PIECE = 0.03  # radians, about 200 km


def find_seam(values: FloatArray, period: float) -> float:
    """Return where to cut a circle open: in the middle of its largest part without values.

    Values from the seam to a period beyond it are shown; those of one turn stay as they are where
    they can. A circle that is full is cut half a turn from 0.

    >>> find_seam(np.array([178.0, -179.0, 175.0]), 360.0), find_seam(np.array([5.0, 9.0]), 24.0)
    (-2.0, -5.0)
    """
    around = np.unique(np.mod(values, period))
    if not len(around):
        return -0.5 * period
    gaps = np.diff(around, append=around[0] + period)
    if gaps.max() < _WHOLE * period:
        return -0.5 * period if np.min(values, initial=0.0) < 0 else 0.0
    widest = int(np.argmax(gaps))
    seam = float(around[widest] + 0.5 * gaps[widest])
    # Of the turns it could lie in, the one in which the values keep their own numbers.
    middle = 0.5 * (float(np.min(values)) + float(np.max(values)))
    return seam + period * float(np.floor((middle - seam) / period))


def unwrap(values: Any, seam: float, period: float) -> Any:
    """Return angles from the seam to a period beyond it."""
    return values - period * np.floor((values - seam) / period)


def wrap_differences(differences: FloatArray, periods: Sequence[float | None]) -> FloatArray:
    """Return differences of rows, the short way round in the columns that have a period."""
    found = np.array(differences)
    for column, period in enumerate(periods):
        if period is not None:
            found[:, column] -= period * np.rint(found[:, column] / period)
    return found


def great_circle(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return places (longitude, latitude) on the shortest way over the globe, ends included.

    Longitudes exceed 180 where the way crosses it.

    >>> great_circle(np.array([170.0, 50.0]), np.array([-170.0, 50.0]))[-1].tolist()
    [190.0, 50.0]
    """
    a, b = (np.deg2rad(place) for place in (start, end))
    p, q = (np.array([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)]) for x, y in (a, b))
    angle = float(np.arctan2(np.linalg.norm(np.cross(p, q)), p @ q))
    n = int(np.ceil(angle / _PIECE))
    shares = np.linspace(0.0, 1.0, n + 1)[1:-1, None] if n > 1 and np.sin(angle) > 1e-9 else None
    places = np.stack([start, end])
    if shares is not None:
        on = (np.sin((1 - shares) * angle) * p + np.sin(shares * angle) * q) / np.sin(angle)
        x, y, z = on.T
        between = np.rad2deg([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))]).T
        places = np.concatenate([start[None], between, end[None]])
    places[:, 0] = np.unwrap(places[:, 0], period=360.0)
    return places


def degrees(value: float, signs: str) -> str:
    """Return a degree as maps write it.

    >>> degrees(190.0, "EW"), degrees(-5.5, "NS"), degrees(0.0, "EW")
    ('170° W', '5.5° S', '0°')
    """
    if signs == "EW":
        value = (value + 180.0) % 360.0 - 180.0
        value = abs(value) if abs(value) == 180.0 else value
    side = "" if value in (0.0, 180.0) else f" {signs[0] if value > 0 else signs[1]}"
    return f"{abs(value):g}°{side}"
