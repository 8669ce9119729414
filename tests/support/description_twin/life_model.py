"""How clusters live: where they start, how they move, when they are seen, and how many points."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from description_twin.tracks import Tracks
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray, IntArray

MIN_MOTION = 1e-3  # motion variance per step of time, in units of the noise variance
_N_ROUNDS = 6  # of the motion variance's fixed point


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """From each cell to the next one of the same track."""

    squares: FloatArray  # squared length
    times: FloatArray  # between the two
    n_skipped: IntArray  # batches in between that did not see the track
    errors: FloatArray  # 1/n + 1/n': variance of the difference of two means, in noise variances


def moves_of(tracks: Tracks, times: FloatArray) -> Moves:
    """Read the moves off the cells, which are in order of track and time."""
    after = np.flatnonzero(np.diff(tracks.track_of_cell) == 0) + 1
    batches, means, n = tracks.batch_of_cell, tracks.means, tracks.counts
    return Moves(
        squares=np.sum((means[after] - means[after - 1]) ** 2, axis=1),
        times=times[batches[after]] - times[batches[after - 1]],
        n_skipped=batches[after] - batches[after - 1] - 1,
        errors=1.0 / n[after] + 1.0 / n[after - 1],
    )


def walk(moves: Moves, n_features: int, variance: float) -> float:
    """Means move as a random walk whose variance per step of time fits best."""
    if not len(moves.squares):
        return 0.0
    d, least = n_features, MIN_MOTION * variance / float(np.mean(moves.times))
    measured = variance * moves.errors
    motion = max(float(np.sum(moves.squares / d - measured) / moves.times.sum()), least)
    for _ in range(_N_ROUNDS):
        pull = (moves.times / (motion * moves.times + measured)) ** 2
        excess = float(pull @ (moves.squares / d - measured))
        motion = max(excess / float(pull @ moves.times), least)
    total = motion * moves.times + measured
    return float(np.sum(-0.5 * d * np.log(2 * math.pi * total) - 0.5 * moves.squares / total))


def beginnings(points: Points, tracks: Tracks) -> float:
    """A new cluster may be anywhere among all the points."""
    along = (tracks.means[tracks.first_cells] - points.mean) @ points.axes
    log_determinant = float(np.sum(np.log(2 * math.pi * points.axis_variances)))
    return -0.5 * (len(along) * log_determinant + float(np.sum(along**2 / points.axis_variances)))


def shares(tracks: Tracks, n_batches: int) -> float:
    """Labels of each batch: any division of its points over its clusters is as likely."""
    n = np.bincount(tracks.batch_of_cell, tracks.counts, n_batches)
    k = np.bincount(tracks.batch_of_cell, minlength=n_batches)
    return float(np.sum(gammaln(k) - gammaln(n + k)) + np.sum(gammaln(tracks.counts + 1.0)))


def fates(tracks: Tracks, moves: Moves, n_batches: int) -> float:
    """After each batch a cluster goes on, takes a break or ends, with rates that are learned."""
    last_cells = np.append(tracks.first_cells[1:], len(tracks.counts)) - 1
    n_ended = np.count_nonzero(tracks.batch_of_cell[last_cells] < n_batches - 1)
    n_broken = np.count_nonzero(moves.n_skipped)
    chosen = np.array([len(moves.n_skipped) - n_broken, n_broken, n_ended])
    prior = 0.5
    found = math.lgamma(3 * prior) - math.lgamma(3 * prior + chosen.sum())
    return found + float(np.sum(gammaln(chosen + prior) - math.lgamma(prior)))


def births(tracks: Tracks, n_batches: int) -> float:
    """After the first batch clusters are born at one rate: Poisson numbers."""
    born = np.bincount(tracks.batch_of_cell[tracks.first_cells], minlength=n_batches)[1:]
    if not born.sum():
        return 0.0
    rate = float(born.mean())
    return float(np.sum(born * math.log(rate) - rate - gammaln(born + 1)))
