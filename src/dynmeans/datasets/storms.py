"""Simulated storms over the Pacific, some across the date line and one near the pole."""

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

# Latitude and longitude at the beginning, and degrees a day.
_STORMS = np.array(
    [
        [-15.0, 170.0, 0.1, 1.1],
        [12.0, -172.0, 0.2, -1.3],
        [35.0, 150.0, 0.8, 1.8],
        [-40.0, 178.0, -0.3, 1.5],
        [68.0, -178.0, 0.5, -2.5],
    ]
)
_HIDDEN = (1, range(8, 12))  # a storm, and the days on which nobody reports it
_SPREAD = 130.0 / 111.2  # degrees: 130 km


def storms(
    rng: np.random.Generator, n_days: int = 24, n_reports: int = 40
) -> tuple[list[FloatArray], list[IntArray]]:
    """Return reports of each day, latitude and longitude from -180 to 180, and whose they are.

    Examples
    --------
    >>> batches, true = storms(np.random.default_rng(0))
    >>> len(batches), batches[0].shape, np.unique(true[8]).tolist()
    (24, (200, 2), [0, 2, 3, 4])
    """
    batches, true = [], []
    for day in range(n_days):
        seen = [k for k in range(len(_STORMS)) if not (k == _HIDDEN[0] and day in _HIDDEN[1])]
        whose = np.repeat(seen, n_reports)
        latitude, longitude = (_STORMS[whose, :2] + day * _STORMS[whose, 2:]).T
        north, east = rng.normal(0, _SPREAD, (2, len(whose)))
        around = longitude + east / np.cos(np.deg2rad(latitude))
        rows = np.stack([latitude + north, (around + 180.0) % 360.0 - 180.0], axis=1)
        batches.append(rows)
        true.append(whose)
    return batches, true
