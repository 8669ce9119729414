"""How points lie around the mean of their cell: three shapes of noise.

Each function integrates the place of the cell's mean out under a flat prior: a cell of n points
counts as n - 1, and pays d / 2 log n.
"""

import math

import numpy as np
from scipy.special import gammaln

from description_twin.tracks import Tracks
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray

DEGREES = 3.0  # of freedom of the heavy-tailed shape
# Points that the shared spread is worth against the shape of a single track.
SHARES = (2.0, 30.0)
_N_ROUNDS = 5  # of the scale's fixed point


def shared_variance(points: Points, tracks: Tracks, floor: float) -> float:
    """sigma^2 per axis, pooled over all cells."""
    squares = float(points.weights @ tracks.squares)
    return squares / (points.n_features * max(tracks.n_free, 1.0)) + floor


def gaussian(points: Points, tracks: Tracks, variance: float) -> float:
    """All cells share one round Gaussian."""
    squares = float(points.weights @ tracks.squares)
    log_density = -0.5 * points.n_features * math.log(2 * math.pi * variance)
    return tracks.n_free * log_density - 0.5 * squares / variance + _means_paid(tracks)


def student(points: Points, tracks: Tracks, floor: float) -> tuple[float, float]:
    """All cells share one round Student t of 3 degrees; return its squared scale too."""
    d, nu = points.n_features, DEGREES
    count_of_row = tracks.counts[tracks.cell_of_row]
    has_spread = count_of_row > 1
    if not has_spread.any():
        return -math.inf, floor
    # A residual is shorter than the noise by (n - 1) / n, and n of them say as much as n - 1.
    share = 1.0 - 1.0 / count_of_row[has_spread]
    squares = tracks.squares[has_spread] / share
    weights = points.weights[has_spread] * share
    n = float(weights.sum())
    scale = 0.5 * float(weights @ squares) / (d * n) + floor
    for _ in range(_N_ROUNDS):
        pulled = squares / (nu + squares / scale)
        scale = (nu + d) * float(weights @ pulled) / (d * n) + floor
    log_density = math.lgamma((nu + d) / 2) - math.lgamma(nu / 2)
    log_density -= 0.5 * d * math.log(nu * math.pi * scale)
    tails = float(weights @ np.log1p(squares / (nu * scale)))
    return n * log_density - 0.5 * (nu + d) * tails + _means_paid(tracks), scale


def own_shapes(tracks: Tracks, variance: float) -> float:
    """Every track has a covariance of its own: inverse Wishart around the shared spread."""
    d = tracks.means.shape[1]
    if tracks.scatters.shape[1] != d:  # too many features for shapes
        return -math.inf
    n = _free_points(tracks)
    best = -math.inf
    for share in SHARES:
        nu = d + share
        prior = variance * (share - 1.0)
        _, log_after = np.linalg.slogdet(tracks.scatters + prior * np.eye(d))
        found = -0.5 * n * d * math.log(math.pi) + 0.5 * nu * d * math.log(prior)
        found += _log_gamma(nu + n, d) - _log_gamma(nu, d)
        best = max(best, float(np.sum(found - 0.5 * (nu + n) * log_after)))
    return best + _means_paid(tracks)


def _log_gamma(degrees: FloatArray | float, d: int) -> FloatArray:
    """Logarithm of the gamma function of d dimensions at half the degrees, but for a constant."""
    halves = 0.5 * (np.asarray(degrees)[..., None] - np.arange(d))
    return np.asarray(gammaln(halves).sum(axis=-1))


def _free_points(tracks: Tracks) -> FloatArray:
    """Points of each track less one for each of its cells."""
    return np.add.reduceat(np.maximum(tracks.counts - 1.0, 0.0), tracks.first_cells)


def _means_paid(tracks: Tracks) -> float:
    d: int = tracks.means.shape[1]
    return -0.5 * d * float(np.log(tracks.counts).sum())
