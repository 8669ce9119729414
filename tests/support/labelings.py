"""The posterior of tiny batches, summed over every labeling from the definitions alone."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2, multivariate_normal

from dynmeans.mixture.model import batch_prior, carry_over, center_posteriors
from dynmeans.records.mixture import MixtureParameters, MixtureState


@dataclass(frozen=True)
class Old:
    """A remembered cluster: its points so far, time unseen, and N(mean, variance) now."""

    count: float
    dt: float
    mean: np.ndarray
    variance: float


def all_labelings(n_points, n_old):
    """Every labeling; new clusters are numbered as they first appear."""
    partial = [()]
    for _ in range(n_points):
        partial = [(*z, k) for z in partial for k in range(max(n_old - 1, max(z, default=-1)) + 2)]
    return partial


def log_weight(z, olds, alpha_t, q):
    """log f(z), point by point."""
    n = {}
    total = 0.0
    for k in z:
        before = n.get(k, 0)
        if k < len(olds):
            c = olds[k].count
            total += np.log(q ** olds[k].dt * c if before == 0 else c + before)
        else:
            total += np.log(alpha_t if before == 0 else before)
        n[k] = before + 1
    return total


def log_likelihood(points, z, olds, parameters):
    """log p(y | z): within a cluster the points share a Gaussian mean that is integrated out."""
    total = 0.0
    for k in set(z):
        members = points[np.array(z) == k]
        n, d = members.shape
        mean = olds[k].mean if k < len(olds) else parameters.prior_mean_of(d)
        variance = olds[k].variance if k < len(olds) else parameters.prior_variance
        covariance = parameters.noise_variance * np.eye(n) + variance
        for j in range(d):
            total += multivariate_normal.logpdf(members[:, j], np.full(n, mean[j]), covariance)
    return total


def enumerate_posterior(points, olds, parameters, t):
    """Every labeling, and the log of f(z) p(y | z) of each."""
    alpha_t = parameters.concentration * sum(parameters.survival**s for s in range(t))
    labelings = all_labelings(len(points), len(olds))
    logs = [
        log_weight(z, olds, alpha_t, parameters.survival)
        + log_likelihood(points, z, olds, parameters)
        for z in labelings
    ]
    return labelings, np.array(logs)


def seen_once(members, parameters, dt):
    """The cluster that had `members` in its only batch `dt` steps ago: Gaussian conditioning."""
    n, d = members.shape
    phi, rho = parameters.prior_mean_of(d), parameters.prior_variance
    covariance = parameters.noise_variance * np.eye(n) + rho
    gain = np.linalg.solve(covariance, np.full(n, rho))
    mean = phi + gain @ (members - phi)
    variance = rho - gain @ np.full(n, rho) + parameters.motion_variance * dt
    return Old(float(n), dt, mean, float(variance))


def chi_square_p(drawn, labelings, logs):
    """p-value of the counts of drawn labelings; rare labelings are counted together."""
    expected = len(drawn) * np.exp(logs - logsumexp(logs))
    place = {z: i for i, z in enumerate(labelings)}
    observed = np.bincount([place[tuple(z)] for z in drawn.tolist()], minlength=len(labelings))
    is_rare = expected < 8
    expected = np.append(expected[~is_rare], expected[is_rare].sum())
    observed = np.append(observed[~is_rare], observed[is_rare].sum())
    if expected[-1] < 8:
        expected[-2] += expected[-1]
        observed[-2] += observed[-1]
        expected, observed = expected[:-1], observed[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(expected) - 1))


# Two steps of a tiny stream. After the first, cluster 0 has had three points and cluster 1 one.
TINY = MixtureParameters(
    concentration=0.7,
    survival=0.4,
    noise_variance=0.5,
    motion_variance=0.3,
    prior_mean=0.2,
    prior_variance=2.0,
)
FIRST = np.array([[0.0, 0.3], [0.6, -0.1], [2.1, 1.5], [0.2, 0.4]])
FIRST_LABELS = np.array([0, 0, 1, 0])
SECOND = np.array([[0.5, 0.1], [1.9, 1.0], [1.2, 0.7], [-1.0, 0.5], [2.4, 1.6]])


def second_step_olds():
    members = [FIRST[np.equal(FIRST_LABELS, k)] for k in (0, 1)]
    return [seen_once(m, TINY, dt=1.0) for m in members]


@cache
def second_posterior():
    """The enumerated posterior of the second batch."""
    return enumerate_posterior(SECOND, second_step_olds(), TINY, t=2)


def empty():
    return MixtureState.empty(2)


def second_prior():
    """The prior of the second batch, as the package carries it over from the first."""
    seen = center_posteriors(FIRST, FIRST_LABELS, batch_prior(empty(), TINY))
    return batch_prior(carry_over(empty(), seen, TINY, 1.0), TINY)
