"""Particle learning (Carvalho et al., 2010): resample on the predictive, then propagate.

The particles process the points of a batch one by one. Their labels are draws from the same
posterior as that of `dynmeans.mixture.gibbs`, exact as the number of particles grows, and the
mean predictive densities multiply to an unbiased estimate of sum_z f(z) p(y | z).
"""

from dataclasses import dataclass

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.mixture.gibbs import Progress
from dynmeans.mixture.model import BatchPrior
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Particles:
    """The particles after the last point; all weigh the same."""

    # (n_particles, n_points); z by slot: first the remembered clusters, then the new ones as they
    # first appear.
    labels: IntArray
    # (n_particles,); log of f(z) p(y | z), the parameters integrated out.
    log_posteriors: FloatArray
    # log of the estimate of sum_z f(z) p(y | z); less the log of sum_z f(z), of p(y).
    log_evidence: float


def particle_learning(
    points: FloatArray,
    prior: BatchPrior,
    *,
    n_particles: int,
    seed: int,
    progress: Progress | None = None,
) -> Particles:
    """Run `n_particles` particles through the points of a batch, in their order."""
    labels, log_posteriors, log_evidence = compiled.particle_learning(
        prior.arrays(points), n_particles, seed, progress
    )
    return Particles(labels.astype(np.int64), log_posteriors, log_evidence)
