"""Gibbs sampling: labels given parameters, parameters given labels (Sec. 3.1 and 3.2).

The target is the posterior of labels and parameters of one batch given what is remembered,

    p(z, theta | y)  ~  f(z)  prod_{k with points} N(theta_k | mean_k, variance_k I)
                              prod_i N(y_i | theta_{z_i}, sigma I),

with f, the means and the variances of `dynmeans.mixture.model`. One sweep visits the
points in their order: a point leaves its cluster (a cluster left empty has its parameter
integrated out), draws its label from the paper's Eq. 3, and where it is the first of a cluster
the parameter is drawn too. Then every parameter is drawn given its points (Eq. 7 and 10).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.mixture.model import BatchPrior
from dynmeans.records.arrays import FloatArray, IntArray

Progress = Callable[[float], object]


@dataclass(frozen=True, slots=True, eq=False)
class GibbsSamples:
    """The recorded samples."""

    # (n_samples, n_points); z by slot: first the remembered clusters, then the new ones as they
    # first appear.
    labels: IntArray
    log_posteriors: FloatArray  # (n_samples,); log of f(z) p(y | z), the parameters integrated out
    # (n_clusters, n_features); theta of the clusters that have points, in order of their slots.
    centers: list[FloatArray]


def gibbs(
    points: FloatArray,
    prior: BatchPrior,
    *,
    n_samples: int,
    burn_in: int = 0,
    thin: int = 1,
    seed: int,
    start: tuple[IntArray, FloatArray] | None = None,
    progress: Progress | None = None,
) -> GibbsSamples:
    """Draw samples from the posterior of labels and parameters.

    Of `burn_in + n_samples * thin` sweeps, every `thin`-th after the first `burn_in` is recorded.
    `start` has labels by slot, with a center for each; by default the points join one by one.
    `progress` is called now and then with the share of sweeps done.
    """
    labels, centers = (None, None) if start is None else start
    drawn, flat_centers, log_posteriors = compiled.gibbs(
        prior.arrays(points), labels, centers, burn_in, n_samples, thin, seed, progress
    )
    n_clusters = np.count_nonzero(np.diff(np.sort(drawn, axis=1), axis=1, prepend=-1), axis=1)
    return GibbsSamples(
        labels=drawn.astype(np.int64),
        log_posteriors=log_posteriors,
        centers=np.split(flat_centers, np.cumsum(n_clusters)[:-1]),
    )
