"""How points lie around the mean of their cell: three shapes of noise, and the best of them.

Each function integrates the place of the cell's mean out under a flat prior: a cell of n points
counts as n - 1, and pays d / 2 log n.
"""

import math
from itertools import pairwise

import numpy as np
from scipy.special import multigammaln

from dynmeans.records.arrays import FloatArray
from dynmeans.suggestion.tracks import Tracks

DEGREES = 3.0  # of freedom of the heavy-tailed shape
# Points that the shared spread is worth against the shape of a single track.
SHARES = (2.0, 30.0)
_N_ROUNDS = 6  # of the scale's fixed point; it settles in three or four


def shared_variance(tracks: Tracks, floor: float) -> float:
    """sigma^2 per axis, pooled over all cells."""
    n_features: int = tracks.residuals.shape[1]
    squares = float(tracks.weights @ np.sum(tracks.residuals**2, axis=1))
    return squares / (n_features * max(tracks.n_free, 1.0)) + floor


def gaussian(tracks: Tracks, variance: float) -> float:
    """All cells share one round Gaussian."""
    d: int = tracks.residuals.shape[1]
    squares = float(tracks.weights @ np.sum(tracks.residuals**2, axis=1))
    log_density = -0.5 * d * math.log(2 * math.pi * variance)
    return tracks.n_free * log_density - 0.5 * squares / variance + _means_paid(tracks)


def student(tracks: Tracks, floor: float) -> tuple[float, float]:
    """All cells share one round Student t of 3 degrees; return its scale too."""
    d: int = tracks.residuals.shape[1]
    has_spread = tracks.counts > 1
    # A residual is shorter than the noise by (n - 1) / n, and n of them say as much as n - 1.
    share = np.where(has_spread, (tracks.counts - 1) / tracks.counts, 0.0)[tracks.cell_of_row]
    kept = share > 0
    if not kept.any():
        return -math.inf, floor
    share = share[kept]
    squares = np.sum(tracks.residuals[kept] ** 2, axis=1) / share
    weights = tracks.weights[kept] * share
    n, nu = float(weights.sum()), DEGREES
    scale = 0.5 * float(weights @ squares) / (d * n) + floor
    for _ in range(_N_ROUNDS):
        pull = (nu + d) / (nu + squares / scale)
        scale = float(weights @ (pull * squares)) / (d * n) + floor
    log_density = math.lgamma((nu + d) / 2) - math.lgamma(nu / 2)
    log_density -= 0.5 * d * math.log(nu * math.pi * scale)
    tails = float(weights @ np.log1p(squares / (nu * scale)))
    return n * log_density - 0.5 * (nu + d) * tails + _means_paid(tracks), scale


def own_shapes(tracks: Tracks, variance: float) -> float:
    """Every track has a covariance of its own: inverse Wishart around the shared spread."""
    scatters, n = _scatters(tracks)
    d = scatters.shape[1]
    best = -math.inf
    for share in SHARES:
        nu = d + share
        prior = variance * (share - 1.0)
        _, log_after = np.linalg.slogdet(scatters + prior * np.eye(d))
        found = -0.5 * n * d * math.log(math.pi) + 0.5 * nu * d * math.log(prior)
        found -= 0.5 * (nu + n) * log_after
        found += multigammaln((nu + n) / 2, d) - multigammaln(nu / 2, d)
        best = max(best, float(found.sum()))
    return best + _means_paid(tracks)


def _scatters(tracks: Tracks) -> tuple[FloatArray, FloatArray]:
    """Sum of squares and products of each track's residuals, and the points that it counts for."""
    track_of_row = tracks.track_of_cell[tracks.cell_of_row]
    ends = np.searchsorted(track_of_row, np.arange(tracks.n_tracks + 1))
    scaled = np.sqrt(tracks.weights)[:, None] * tracks.residuals
    parts = [scaled[a:b] for a, b in pairwise(ends)]
    free = np.maximum(tracks.counts - 1.0, 0.0)
    n = np.zeros(tracks.n_tracks)
    np.add.at(n, tracks.track_of_cell, free)
    return np.array([part.T @ part for part in parts]), n


def _means_paid(tracks: Tracks) -> float:
    d: int = tracks.residuals.shape[1]
    return -0.5 * d * float(np.log(tracks.counts).sum())
