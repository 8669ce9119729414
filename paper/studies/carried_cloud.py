"""A particle filter that carries its whole cloud from batch to batch, as Carvalho et al. do.

Run as ``python -m paper.studies.carried_cloud``. Particle learning elsewhere here runs its
particles through the points of a batch and carries one of them on. Here each of 100 particles has
a memory of its own: it takes in the batch with two inner particles, is weighted by their estimate
of the evidence, and the cloud is resampled where weights are uneven. Scored is the path of the
particle that is most probable at the end. Writes paper/results/carried_cloud.parquet.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import gammaln

from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.mixture.carried_sample import identities, remember
from dynmeans.mixture.model import BatchPrior, batch_prior, center_posteriors
from dynmeans.mixture.particle_learning import particle_learning
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.rows import run_study
from paper.synthetic.config import N_PARTICLES, SyntheticConfig
from paper.synthetic.streams import PRIOR_MEAN, PRIOR_VARIANCE, score_labels, stream_of
from paper.synthetic.tasks import FOUND

EXPERIMENT = "carried_cloud"
N_INNER, N_STREAMS, N_CLUSTERS = 2, 10, 5
KEY = ("noise", "origin", "trial")
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
SCHEMA = pa.schema(
    [
        *(("noise", pa.string()), ("origin", pa.string()), ("trial", pa.int64())),
        *((name, pa.float64()) for name in SCORES),
    ]
)


def tasks() -> list[Row]:
    """Return the first streams of both noises, at the parameters found."""
    return [
        dict(zip(KEY, (noise, origin, trial), strict=True))
        for trial in range(N_STREAMS)
        for noise in NOISES
        for origin in (FOUND,)
    ]


def run(task: Row) -> dict[str, Any]:
    """Return the accuracies of the cloud on one stream."""
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    parameters = MixtureParameters(
        **found_settings(task["noise"], task["origin"])["particle"],
        noise_variance=config.noise_variance,
        prior_mean=PRIOR_MEAN,
        prior_variance=PRIOR_VARIANCE,
    )
    stream = stream_of(config, 0, N_CLUSTERS, task["trial"])
    scores = score_labels(stream, follow(stream.batches, parameters, seed=task["trial"]))
    return {name: task[name] for name in KEY} | {name: scores[name] for name in SCORES}


def follow(batches: list[FloatArray], parameters: MixtureParameters, seed: int) -> list[IntArray]:
    """Return the labels of the particle that is most probable after the last batch."""
    rng = np.random.default_rng(seed)
    states = [MixtureState.empty(2)] * N_PARTICLES
    paths: list[list[IntArray]] = [[] for _ in states]
    weights = np.zeros(N_PARTICLES)
    for points in batches:
        seeds = rng.integers(2**31, size=N_PARTICLES)
        moved = [
            _take_in(points, state, parameters, int(seed))
            for state, seed in zip(states, seeds, strict=True)
        ]
        states = [state for state, _, _ in moved]
        paths = [[*path, labels] for path, (_, labels, _) in zip(paths, moved, strict=True)]
        weights = weights + np.array([evidence for _, _, evidence in moved])
        shares = np.exp(weights - weights.max())
        shares /= shares.sum()
        if 1 / (shares**2).sum() < N_PARTICLES / 2:
            places = (rng.random() + np.arange(N_PARTICLES)) / N_PARTICLES
            chosen = np.minimum(np.searchsorted(np.cumsum(shares), places), N_PARTICLES - 1)
            states, paths = [states[i] for i in chosen], [list(paths[i]) for i in chosen]
            weights = np.zeros(N_PARTICLES)
    return paths[int(weights.argmax())]


def _take_in(
    points: FloatArray, state: MixtureState, parameters: MixtureParameters, seed: int
) -> tuple[MixtureState, IntArray, float]:
    """Return a particle's memory after a batch, the identities it gave, and its log evidence."""
    prior = batch_prior(state, parameters)
    found = particle_learning(points, prior, n_particles=N_INNER, seed=seed)
    labels = found.labels[seed % N_INNER]  # inner particles weigh the same
    seen = center_posteriors(points, labels, prior)
    costs = -found.log_posteriors[[seed % N_INNER]]
    after, _ = remember(state, labels, seen, parameters, 1.0, costs)
    evidence = found.log_evidence - log_label_mass(prior, len(points))
    return after, identities(labels, state), float(evidence)


def log_label_mass(prior: BatchPrior, n_points: int) -> float:
    """log of the sum of f(z) over all labels, as `paper.label_mass.log_label_mass` has it.

    In plain numbers, which 75 points of some dozens of clusters do not overflow: ten thousand such
    sums make a stream.
    """
    n = np.maximum(np.arange(n_points + 1), 1)
    counts = np.append(prior.past_counts, np.exp(prior.log_new_weight))[:, None]
    weights = np.append(prior.log_weights, prior.log_new_weight)[:, None]
    logs = weights + gammaln(counts + n) - gammaln(counts + 1) - gammaln(n + 1)
    factors = np.exp(logs)
    factors[:, 0] = 1.0
    total = factors[-1]
    for factor in factors[:-1]:
        total = np.convolve(total, factor)[: n_points + 1]
    return float(np.log(total[-1]) + gammaln(n_points + 1))


if __name__ == "__main__":
    about = {"n_particles": N_PARTICLES, "n_inner": N_INNER, "n_clusters": N_CLUSTERS}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
