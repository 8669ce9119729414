"""The sum of the weights f(z) of all labels of a batch (dynmeans.mixture.model), in logarithms."""

import numpy as np
from scipy.special import gammaln, logsumexp

from dynmeans.mixture.model import BatchPrior
from dynmeans.records.arrays import FloatArray, IntArray


def log_label_mass(prior: BatchPrior, n_points: int) -> float:
    """log of the sum of f(z) over all labels of `n_points` points.

    It is n! times the coefficient of x^n in
    (1 - x)^-alpha_t prod_k (1 - q^dt + q^dt (1 - x)^-c), one factor for each cluster.
    """
    n = np.arange(n_points + 1)
    total = _log_coefficients(prior.log_new_weight, float(np.exp(prior.log_new_weight)), n)
    for log_weight, c in zip(prior.log_weights, prior.past_counts, strict=True):
        factor = _log_coefficients(log_weight, c, n)
        total = np.array([logsumexp(total[: m + 1] + factor[m::-1]) for m in n])
    return float(total[-1] + gammaln(n_points + 1))


def _log_coefficients(log_weight: float, c: float, n: IntArray) -> FloatArray:
    """log of weight (c + 1) ... (c + n - 1) / n!, and 0 for n = 0."""
    logs = log_weight + gammaln(c + np.maximum(n, 1)) - gammaln(c + 1) - gammaln(n + 1)
    return np.where(n == 0, 0.0, logs)
