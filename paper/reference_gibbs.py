"""Gibbs sampling said slowly: the specification of `dynmeans.mixture.gibbs`.

Given the same random numbers, the compiled sampler draws the same labels.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dynmeans.mixture.model import BatchPrior, log_densities, log_first_densities
from dynmeans.records.arrays import FloatArray, IntArray


class RandomNumbers(Protocol):
    """What is asked of a source of random numbers; a NumPy Generator will do."""

    def random(self) -> float:
        """Return a number from [0, 1)."""

    def standard_normal(self) -> float:
        """Return a standard normal number."""


@dataclass(slots=True, eq=False)
class Chain:
    """Labels and parameters by slot; a slot from n_old on without points is free.

    `first` holds log(weight) + log density of each point as the first of each remembered cluster
    and of a new one; no sweep changes it.
    """

    points: FloatArray
    prior: BatchPrior
    labels: IntArray = field(init=False)
    c: FloatArray = field(init=False)
    n: IntArray = field(init=False)
    theta: FloatArray = field(init=False)
    first: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """No point has a label yet."""
        n_points, n_features = self.points.shape
        n_slots = self.prior.n_old + n_points
        self.labels = np.full(n_points, -1)
        self.c = np.append(self.prior.past_counts, np.zeros(n_points))
        self.n = np.zeros(n_slots, dtype=np.int64)
        self.theta = np.zeros((n_slots, n_features))
        self.first = log_first_densities(self.points, self.prior)


def label_log_weights(chain: Chain, i: int) -> FloatArray:
    """log p(z_i = k | all else) of every slot, the new cluster last, up to a constant (Eq. 3)."""
    y, n_old, sigma = chain.points[i : i + 1], chain.prior.n_old, chain.prior.noise_variance
    log_weights = np.full(len(chain.n) + 1, -np.inf)
    log_weights[:n_old] = chain.first[i, :-1]
    log_weights[-1] = chain.first[i, -1]
    seen = chain.n.nonzero()[0]
    log_counts = np.log(chain.c[seen] + chain.n[seen])
    log_weights[seen] = log_counts + log_densities(y, chain.theta[seen], sigma)[0]
    return log_weights


def plain_gibbs(
    points: FloatArray,
    prior: BatchPrior,
    random: RandomNumbers,
    label_rule: Callable[[Chain, int], FloatArray] = label_log_weights,
) -> Iterator[IntArray]:
    """Sweep for ever; yield the labels after each sweep.

    Examples
    --------
    >>> from dynmeans.mixture.model import batch_prior
    >>> from dynmeans.records.mixture import MixtureParameters, MixtureState
    >>> prior = batch_prior(MixtureState.empty(1), MixtureParameters(noise_variance=1e-4))
    >>> next(plain_gibbs(np.array([[0.0], [0.01], [2.0]]), prior, np.random.default_rng(0)))
    array([0, 0, 1])
    """
    chain = Chain(points, prior)
    while True:
        for i in range(len(points)):
            _draw_label(chain, i, random, label_rule)
        for k in chain.n.nonzero()[0].tolist():
            _draw_parameter(chain, k, points[chain.labels == k], random)
        yield _numbered_by_appearance(chain.labels, prior.n_old)


def _draw_label(
    chain: Chain,
    i: int,
    random: RandomNumbers,
    label_rule: Callable[[Chain, int], FloatArray],
) -> None:
    if chain.labels[i] >= 0:
        chain.n[chain.labels[i]] -= 1
    log_weights = label_rule(chain, i)
    chances = np.roll(np.exp(log_weights - log_weights.max()), 1)  # the new cluster first
    chosen = int(np.searchsorted(chances.cumsum(), random.random() * chances.sum(), side="right"))
    n_old = chain.prior.n_old
    k = chosen - 1 if chosen else n_old + int((chain.n[n_old:] == 0).argmax())
    if chain.n[k] == 0:
        _draw_parameter(chain, k, chain.points[i : i + 1], random)
    chain.labels[i] = k
    chain.n[k] += 1


def _draw_parameter(chain: Chain, k: int, members: FloatArray, random: RandomNumbers) -> None:
    """theta ~ N(theta_post, sigma_post) given the points of the cluster (Eq. 7 and 10)."""
    prior = chain.prior
    mean = prior.means[k] if k < prior.n_old else prior.new_mean
    variance = prior.variances[k] if k < prior.n_old else prior.new_variance
    sigma = prior.noise_variance
    sigma_post = 1 / (1 / variance + len(members) / sigma)
    theta_post = sigma_post * (mean / variance + members.sum(axis=0) / sigma)
    for j in range(len(theta_post)):
        chain.theta[k, j] = theta_post[j] + np.sqrt(sigma_post) * random.standard_normal()


def _numbered_by_appearance(labels: IntArray, n_old: int) -> IntArray:
    """Number the new clusters n_old, n_old + 1, ... so that equal partitions are equal arrays."""
    names: dict[int, int] = {}
    return np.array([k if k < n_old else n_old + names.setdefault(k, len(names)) for k in labels])
