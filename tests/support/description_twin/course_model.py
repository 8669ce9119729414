"""How clusters move that keep a course: a Kalman filter of position and velocity (decision 0015).

The means of an identity's cells are seen with the noise of a mean. Position and velocity wander, a
first velocity is drawn; how much, is what fits best. Each step is judged by how far the mean is
from where the past of its own track expects it.
"""

import math
from itertools import pairwise

import numpy as np

from description_twin.life_model import MIN_MOTION, Moves
from description_twin.tracks import Tracks
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray

# Walks of position and velocity are tried in quarters of the mean squared move.
_MOST, _MIDDLE = 6, 2
_NEIGHBORS = ((1, 0), (-1, 0), (0, 1), (0, -1))


def course(
    points: Points, tracks: Tracks, moves: Moves, moving: FloatArray, variance: float
) -> float:
    """Log-probability of the paths under the walks that fit best, from the middle uphill."""
    if not len(moves.squares):
        return 0.0
    duration = float(np.mean(moves.times))
    squares = float(np.mean(moves.squares)) / points.n_features
    walked = max(squares, MIN_MOTION * variance) / duration
    known: dict[tuple[int, int], float] = {}

    def fit(i: int, j: int) -> float:
        if (i, j) not in known:
            motion, turning = walked * 0.25**i, walked * 0.25**j / duration**2
            noise = motion, turning, walked / duration
            known[i, j] = _fit(points, tracks, moving, variance, *noise)
        return known[i, j]

    here, is_higher = (_MIDDLE, _MIDDLE), True
    while is_higher:
        is_higher = False
        for down, across in _NEIGHBORS:
            there = here[0] + down, here[1] + across
            while min(there) >= 0 and max(there) <= _MOST and fit(*there) > fit(*here):
                here, is_higher = there, True
                there = here[0] + down, here[1] + across
    return fit(*here)


def _fit(
    points: Points,
    tracks: Tracks,
    moving: FloatArray,
    variance: float,
    motion: float,
    turning: float,
    speed: float,
) -> float:
    """Log-probability given the variances per step of both walks, and that of a first velocity."""
    d, found = points.n_features, 0.0
    for track in range(len(tracks.first_cells)):
        cells = np.flatnonzero(tracks.track_of_cell == track)
        place, velocity = tracks.means[cells[0]], np.zeros(d)
        p11, p12, p22 = variance / tracks.counts[cells[0]], 0.0, speed
        for before, cell in pairwise(cells):
            batches = tracks.batch_of_cell
            dt = float(points.times[batches[cell]] - points.times[batches[before]])
            p11 += dt * (2.0 * p12 + motion + dt * (p22 + dt * turning / 3.0))
            p12 += dt * (p22 + dt * turning / 2.0)
            p22 += dt * turning
            total = p11 + variance / tracks.counts[cell]
            place = place + velocity * dt
            surprise = tracks.means[cell] - place
            place = place + p11 / total * surprise
            velocity = velocity + moving * (p12 / total) * surprise
            found -= 0.5 * d * math.log(2 * math.pi * total)
            found -= 0.5 * float(surprise @ surprise) / total
            p22 = max(p22 - p12 / total * p12, 0.0)
            p11, p12 = p11 * (1.0 - p11 / total), p12 * (1.0 - p11 / total)
    return found
