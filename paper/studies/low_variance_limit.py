"""Gibbs sampling and Dynamic Means as sigma goes to 0, alpha, xi and q tied to it by Eq. 4.

Run as ``python -m paper.studies.low_variance_limit``. Every batch of a stream is clustered by
Dynamic Means and, from the same state and in the same order of the points, by 100 sweeps of the
Gibbs sampler; the share of points with the same label is averaged over batches, then over streams.
Both take the uncertainty of old positions into account (revival="exact"). Writes
paper/results/low_variance_limit.parquet.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import BatchPrior, batch_prior
from dynmeans.records.arrays import IntArray
from dynmeans.records.mixture import MixtureState
from dynmeans.records.stream import LabeledStream
from paper.low_variance import low_variance_mixture
from paper.results_file import Row
from paper.studies.rows import run_study

PENALTIES = Penalties(0.05, max_gap=5, reach=1.2)
SIGMAS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8, 1e-10)
N_STREAMS, N_STEPS, N_CLUSTERS, N_SWEEPS = 8, 30, 4, 100
EXPERIMENT = "low_variance_limit"
KEY = ("noise_variance", "trial")
SCHEMA = pa.schema(
    [("noise_variance", pa.float64()), ("trial", pa.int64()), ("agreement", pa.float64())]
)


def tasks() -> list[Row]:
    """Return every stream at every sigma."""
    return [{"noise_variance": s, "trial": t} for s in SIGMAS for t in range(N_STREAMS)]


def run(task: Row) -> dict[str, Any]:
    """Return how many points of one stream both label alike."""
    rng = np.random.default_rng(task["trial"])
    stream = moving_gaussians(N_STEPS, N_CLUSTERS, vanish=0.2, rng=rng)
    return {**task, "agreement": agreement(stream, task["noise_variance"])}


def agreement(stream: LabeledStream, sigma: float) -> float:
    """Return the mean share of points that both label alike, from the state of Dynamic Means."""
    state, shares = ClusterState.empty(2), []
    penalties = PENALTIES.with_revival("exact")
    for points in stream.batches:
        order = np.arange(len(points))
        after, clustering = step(points, state, penalties, orders=[order], search="paper")
        drawn = gibbs(points, tied_prior(state, sigma), n_samples=1, burn_in=N_SWEEPS - 1, seed=0)
        found = np.append(state.ids, state.next_id + np.arange(len(points)))[drawn.labels[0]]
        if len(points):
            shares.append(np.mean(found == _by_appearance(clustering.labels, state.next_id)))
        state = after
    return float(np.mean(shares))


def tied_prior(state: ClusterState, sigma: float) -> BatchPrior:
    """Return the prior of the mixture that remembers what Dynamic Means does."""
    carried = MixtureState(
        *(state.ids, state.weights, state.centers, sigma / state.weights, state.ages),
        next_id=state.next_id,
        n_steps=state.n_steps,
        time=state.time,
    )
    mixture = low_variance_mixture(PENALTIES, sigma, 2, prior_mean=0.5)
    return batch_prior(carried, mixture)


def _by_appearance(labels: IntArray, next_id: int) -> IntArray:
    names: dict[int, int] = {}
    return np.array(
        [k if k < next_id else next_id + names.setdefault(k, len(names)) for k in labels.tolist()]
    )


if __name__ == "__main__":
    about = {"n_steps": N_STEPS, "n_clusters": N_CLUSTERS, "n_sweeps": N_SWEEPS}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
