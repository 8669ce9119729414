"""Hyperparameters of the velocity processes, by marginal likelihood."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from dynmeans.records.arrays import FloatArray
from paper.flights.trajectories import Trajectories
from paper.flows.gp_features import (
    LENGTH_SCALE,
    MAX_POINTS,
    NOISE_RATIO,
    finite_trajectories,
    make_block,
    thin_points,
)
from paper.flows.gp_solver import block_rows, solve_block

Progress = Callable[[float, float], None]

_LENGTH_RANGE = (0.05, 50.0)  # degrees
_RATIO_RANGE = (1e-6, 10.0)
_FIRST_STEP, _LAST_STEP = 1.0, 0.05  # of the search, in natural logarithms
_N_OUTPUTS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Hyperparameters:
    """What the data say of the velocity processes.

    Attributes
    ----------
    length_scale, noise_ratio : float, or FloatArray of shape (n_trajectories,)
        As `gp_features` takes them.
    signal_variance : float, or FloatArray of shape (n_trajectories,)
        s, in squared knots. The features do not depend on it.
    log_likelihood : float
        Log of the marginal likelihood of all velocities that were used.
    """

    length_scale: float | FloatArray
    noise_ratio: float | FloatArray
    signal_variance: float | FloatArray
    log_likelihood: float


def shared_hyperparameters(
    trajectories: Trajectories,
    *,
    rng: np.random.Generator,
    n_sample: int = 200,
    max_points: int | None = MAX_POINTS,
) -> Hyperparameters:
    """Find one set for all trajectories, from a sample of them."""
    usable = np.flatnonzero(finite_trajectories(trajectories))
    if not len(usable):
        raise ValueError("no trajectory has finite points to find hyperparameters from.")
    chosen = np.sort(rng.permutation(usable)[:n_sample])
    sample = thin_points(trajectories.select(chosen), max_points)
    n_values = _N_OUTPUTS * len(sample.times)

    def evaluate(logs: FloatArray) -> tuple[float, float]:
        fits, determinants = _fits(sample, *(np.full(len(sample), np.exp(x)) for x in logs))
        variance = float(fits.sum()) / n_values
        return _log_likelihood(n_values, variance, float(determinants.sum())), variance

    ranges = np.log([_LENGTH_RANGE, _RATIO_RANGE])
    start = np.log([LENGTH_SCALE, NOISE_RATIO])
    with threadpool_limits(1, user_api="blas"):
        found = minimize(
            lambda logs: -evaluate(logs)[0],
            start,
            method="Nelder-Mead",
            bounds=ranges,
            options={"xatol": 0.01, "fatol": 0.1},
        ).x
        likelihood, variance = evaluate(found)
    length_scale, noise_ratio = np.exp(found).tolist()
    return Hyperparameters(length_scale, noise_ratio, variance, likelihood)


def own_hyperparameters(
    trajectories: Trajectories,
    *,
    max_points: int | None = MAX_POINTS,
    on_progress: Progress | None = None,
) -> Hyperparameters:
    """Find a set for each trajectory by itself; those that are not finite get NaN.

    All are searched side by side: each moves to the best of its four neighbors on a grid of
    logarithms, and halves its step where none is better.
    """
    usable = np.flatnonzero(finite_trajectories(trajectories))
    sample = thin_points(trajectories.select(usable), max_points)
    logs = np.tile(np.log([LENGTH_SCALE, NOISE_RATIO]), (len(usable), 1))
    steps = np.full(len(usable), _FIRST_STEP)
    with threadpool_limits(1, user_api="blas"):
        best, variances = _own_likelihoods(sample, logs)
        while (active := np.flatnonzero(steps > _LAST_STEP)).size:
            score, trial, variance = _best_neighbors(
                sample.select(active), logs[active], steps[active]
            )
            is_better = score > best[active]
            moved = active[is_better]
            logs[moved], best[moved] = trial[is_better], score[is_better]
            variances[moved] = variance[is_better]
            steps[active[~is_better]] /= 2
            if on_progress is not None:
                on_progress(float(np.count_nonzero(steps <= _LAST_STEP)), float(len(steps)))
    found = np.full((3, len(trajectories)), np.nan)
    found[:, usable] = [*np.exp(logs).T, variances]
    return Hyperparameters(found[0], found[1], found[2], float(best.sum()))


def _best_neighbors(
    trajectories: Trajectories, logs: FloatArray, steps: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Likelihood, place and variance of the best of four neighbors, for each trajectory."""
    low, high = np.log([_LENGTH_RANGE, _RATIO_RANGE]).T
    directions = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    trials = np.clip(logs + steps[:, None] * directions[:, None, :], low, high)
    scores, variances = (
        np.stack(values)
        for values in zip(*(_own_likelihoods(trajectories, t) for t in trials), strict=True)
    )
    winner, rows = np.argmax(scores, axis=0), np.arange(len(steps))
    return scores[winner, rows], trials[winner, rows], variances[winner, rows]


def log_likelihoods(
    trajectories: Trajectories, length_scale: float, noise_ratio: float, signal_variance: float
) -> FloatArray:
    """Log marginal likelihood of each trajectory's velocities, North and East together."""
    n = len(trajectories)
    fits, determinants = _fits(trajectories, np.full(n, length_scale), np.full(n, noise_ratio))
    n_values = _N_OUTPUTS * trajectories.sizes
    constant = n_values * math.log(2 * math.pi * signal_variance)
    return np.asarray(-0.5 * (fits / signal_variance + determinants + constant))


def _own_likelihoods(trajectories: Trajectories, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    fits, determinants = _fits(trajectories, np.exp(logs[:, 0]), np.exp(logs[:, 1]))
    n_values = _N_OUTPUTS * trajectories.sizes
    variances = np.maximum(fits / n_values, np.finfo(float).tiny)
    constant = n_values * (np.log(2 * np.pi * variances) + 1)
    return -0.5 * (constant + determinants), variances


def _log_likelihood(n_values: int, variance: float, determinant: float) -> float:
    """Where the variance is the one that makes it largest."""
    return -0.5 * (n_values * (math.log(2 * math.pi * variance) + 1) + determinant)


def _fits(
    trajectories: Trajectories, lengths: FloatArray, ratios: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """v' K^-1 v and the log determinant of K of each trajectory, summed over both velocities."""
    fits, determinants = np.empty(len(trajectories)), np.empty(len(trajectories))
    for rows in block_rows(trajectories.sizes):
        block, _ = make_block(trajectories, rows)
        alphas, log_determinants = solve_block(block, lengths[rows], ratios[rows])
        fits[rows] = np.einsum("bij,bij->b", block.velocities, alphas)
        determinants[rows] = _N_OUTPUTS * log_determinants
    return fits, determinants
