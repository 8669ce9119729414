"""Variational inference: mean field, with truncated stick breaking for the new mass.

The model is the Dirichlet process of the batch before any label is known: weights
(pi_1, ..., pi_K, pi_new) ~ Dirichlet(q^dt c, alpha_t), the new mass divided by `truncation`
sticks beta_j ~ Beta(1, alpha_t), the last of them 1 (Blei and Jordan, 2006). It gives a cluster
with n points the weight q^dt c + n where the paper's Gibbs step has c + n (decision 0102).
Coordinate ascent raises the evidence lower bound (ELBO) of
q(z) q(pi) q(beta) q(theta) until it gains no more than the tolerance.
"""

from dataclasses import dataclass

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.mixture.gibbs import Progress
from dynmeans.mixture.model import BatchPrior
from dynmeans.mixture.particle_learning import particle_learning
from dynmeans.records.arrays import FloatArray, IntArray

N_STARTING_PARTICLES = 10


@dataclass(frozen=True, slots=True, eq=False)
class VariationalPosterior:
    """q at the end of the climb; component K + j is the j-th stick of the new mass."""

    responsibilities: FloatArray  # (n_points, n_components); q(z)
    # (n_old + 1,); q(pi), a Dirichlet distribution; the last entry is the new mass.
    concentrations: FloatArray
    # stick_heads, stick_tails: (truncation - 1,); q(beta), Beta distributions.
    stick_heads: FloatArray
    stick_tails: FloatArray
    # means, variances: (n_components, n_features); q(theta), Gaussian with the same variance along
    # each axis.
    means: FloatArray
    variances: FloatArray
    bounds: FloatArray  # (n_iter,); the ELBO after each iteration; it never falls

    @property
    def labels(self) -> IntArray:
        """The most probable component of each point."""
        return np.asarray(self.responsibilities.argmax(axis=1), dtype=np.int64)


def variational(
    points: FloatArray,
    prior: BatchPrior,
    *,
    truncation: int,
    tol: float,
    max_iter: int,
    seed: int,
    progress: Progress | None = None,
) -> VariationalPosterior:
    """Climb from the best of a few particles to a maximum of the ELBO.

    There can be `truncation` new clusters. It stops when an iteration raises the ELBO by at most
    the share `tol` of it; `progress` is called now and then with the share of `max_iter` done.
    """
    start = particle_learning(points, prior, n_particles=N_STARTING_PARTICLES, seed=seed)
    labels = _largest_first(start.labels[start.log_posteriors.argmax()], prior.n_old)
    return VariationalPosterior(
        *compiled.variational(prior.arrays(points), labels, truncation, tol, max_iter, progress)
    )


def _largest_first(labels: IntArray, n_old: int) -> IntArray:
    """Number the new clusters by size: earlier sticks are expected to be longer."""
    sizes = np.bincount(labels, minlength=n_old)[n_old:]
    order = np.append(np.arange(n_old), n_old + np.argsort(-sizes, kind="stable"))
    return np.asarray(np.argsort(order)[labels], dtype=np.int64)
