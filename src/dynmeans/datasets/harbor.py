"""Positions of ships around a harbor, simulated: at anchor, on their way, ferrying."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import FloatArray, IntArray

_LON, _LAT = -76.0, 36.9  # the middle, in degrees
_KM_PER_DEGREE = 111.2
_SIDE = 30.0  # km
_HOURS = 3
_EVERY = 20.0  # seconds between two reports of a ship, on average
_GPS = 0.01  # km
_N_ANCHORED, _N_PASSING, _N_FERRIES = 14, 16, 3
_SILENT = 0.15  # share of passing ships that are not heard for a while


class HarborTraffic(NamedTuple):
    """Reports in order of time."""

    seconds: FloatArray  # (n_rows,); since the first moment
    positions: FloatArray  # (n_rows, 2); longitude and latitude, in degrees
    ships: IntArray  # (n_rows,); which ship it was


def harbor_traffic(rng: np.random.Generator) -> HarborTraffic:
    """Simulate three hours of traffic: 14 ships at anchor, 16 on their way, 3 ferries.

    >>> traffic = harbor_traffic(np.random.default_rng(0))
    >>> len(np.unique(traffic.ships)), traffic.positions.shape[1]
    (33, 2)
    """
    tracks = [_make_anchored(rng) for _ in range(_N_ANCHORED)]
    tracks += [_make_passing(rng) for _ in range(_N_PASSING)]
    tracks += [_ferry(rng) for _ in range(_N_FERRIES)]
    seconds = np.concatenate([track[0] for track in tracks])
    places = np.concatenate([track[1] for track in tracks])
    ships = np.repeat(np.arange(len(tracks)), [len(track[0]) for track in tracks])
    places = places + _GPS * rng.standard_normal(places.shape)
    degrees = np.array([np.cos(np.deg2rad(_LAT)), 1.0]) * _KM_PER_DEGREE
    order = np.argsort(seconds, kind="stable")
    positions = np.array([_LON, _LAT]) + places / degrees
    return HarborTraffic(seconds[order], positions[order], ships[order])


def _reports(rng: np.random.Generator, begin: float, end: float) -> FloatArray:
    """Moments at which a ship is heard."""
    return np.sort(rng.uniform(begin, end, size=rng.poisson((end - begin) / _EVERY) + 1))


def _make_anchored(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Swing around the anchor, 100 m either way."""
    seconds = _reports(rng, 0.0, 3600.0 * _HOURS)
    phase = 2 * np.pi * (seconds / 2400.0 + rng.random())
    place = rng.uniform(-_SIDE / 4, _SIDE / 4, size=2)
    return seconds, place + 0.1 * np.column_stack([np.cos(phase), 0.5 * np.sin(phase)])


def _make_passing(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Sail straight across at 12 to 30 km/h; some are silent for a quarter of an hour."""
    heading = rng.uniform(0, 2 * np.pi)
    along = np.array([np.cos(heading), np.sin(heading)])
    aside = np.array([-along[1], along[0]]) * rng.uniform(-_SIDE / 3, _SIDE / 3)
    speed = rng.uniform(12.0, 30.0) / 3600.0
    begin = rng.uniform(0.0, 3600.0 * (_HOURS - 1))
    seconds = _reports(rng, begin, min(begin + _SIDE / speed, 3600.0 * _HOURS))
    if rng.random() < _SILENT:
        hidden = rng.choice(seconds)
        seconds = seconds[(seconds < hidden) | (seconds > hidden + 900.0)]
    way = speed * (seconds - begin) - _SIDE / 2
    return seconds, way[:, None] * along + aside


def _ferry(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Go between two piers all day, forty minutes each way."""
    seconds = _reports(rng, 0.0, 3600.0 * _HOURS)
    piers: npt.NDArray[np.float64] = rng.uniform(-_SIDE / 3, _SIDE / 3, size=(2, 2))
    share = 0.5 - 0.5 * np.cos(np.pi * seconds / 2400.0)
    return seconds, piers[0] + share[:, None] * (piers[1] - piers[0])
