"""Distances and directions on the globe, for many pairs of places at once."""

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import FloatArray

EARTH_RADIUS_KM = 6371.0088
KM_PER_NAUTICAL_MILE = 1.852


def distance_km(
    latitudes: npt.ArrayLike,
    longitudes: npt.ArrayLike,
    other_latitudes: npt.ArrayLike,
    other_longitudes: npt.ArrayLike,
) -> FloatArray:
    """Length of the great circle between places given in degrees (haversine).

    Examples
    --------
    >>> distance_km([0.0], [0.0], [0.0], [90.0]).round(1).tolist()
    [10007.6]
    """
    phi, other_phi = np.radians(latitudes), np.radians(other_latitudes)
    d_phi = other_phi - phi
    d_lambda = np.radians(other_longitudes) - np.radians(longitudes)
    h = np.sin(d_phi / 2) ** 2 + np.cos(phi) * np.cos(other_phi) * np.sin(d_lambda / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(h, 1.0))))


def displacement(
    latitudes: npt.ArrayLike,
    longitudes: npt.ArrayLike,
    other_latitudes: npt.ArrayLike,
    other_longitudes: npt.ArrayLike,
) -> tuple[FloatArray, FloatArray]:
    """North and East parts, in degrees of arc, of short ways; the date line is no barrier.

    Examples
    --------
    >>> north, east = displacement([60.0], [179.5], [60.0], [-179.5])
    >>> north.tolist(), east.round(6).tolist()
    ([0.0], [0.5])
    """
    latitude = np.asarray(latitudes, dtype=np.float64)
    other = np.asarray(other_latitudes, dtype=np.float64)
    d_longitude = np.asarray(other_longitudes, dtype=np.float64) - np.asarray(longitudes)
    d_longitude = (d_longitude + 180.0) % 360.0 - 180.0
    east = d_longitude * np.cos(np.radians((latitude + other) / 2))
    return np.asarray(other - latitude), np.asarray(east)
