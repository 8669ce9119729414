"""Gibbs sampling and Dynamic Means as sigma goes to 0, alpha, xi and q tied to it by Eq. 4.

Run as ``python -m paper.studies.low_variance_limit``. Every batch of a stream is clustered by
Dynamic Means and, from the same state and in the same order of the points, by 100 sweeps of the
Gibbs sampler; the share of points with the same label is averaged over batches, then over streams.
Both take the uncertainty of old positions into account (revival="exact"). Writes
paper/results/low_variance_limit.json.
"""

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.low_variance import low_variance_mixture
from dynmeans.mixture.model import BatchPrior, batch_prior
from dynmeans.records.arrays import IntArray
from dynmeans.records.mixture import MixtureState
from dynmeans.records.stream import LabeledStream
from paper.results_file import RESULTS

PENALTIES = Penalties(0.05, max_gap=5, reach=1.2)
SIGMAS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
N_STREAMS, N_STEPS, N_CLUSTERS, N_SWEEPS = 8, 30, 4, 100


def main() -> None:
    """Measure and print everything."""
    streams = [
        moving_gaussians(N_STEPS, N_CLUSTERS, vanish=0.2, rng=np.random.default_rng(seed))
        for seed in range(N_STREAMS)
    ]
    rows = []
    for sigma in SIGMAS:
        shares = np.array([agreement(stream, sigma) for stream in streams])
        rows.append(
            {
                "noise_variance": sigma,
                "agreement": shares.mean(),
                "agreement_error": shares.std(ddof=1) / np.sqrt(N_STREAMS),
                "n_streams": N_STREAMS,
            }
        )
        print(rows[-1], flush=True)
    write_results("low_variance_limit", {"machine": machine(), "rows": rows}, RESULTS)


def agreement(stream: LabeledStream, sigma: float) -> float:
    """Return the mean share of points that both label alike, from the state of Dynamic Means."""
    state, shares = ClusterState.empty(2), []
    penalties = PENALTIES.with_revival("exact")
    for points in stream.batches:
        after, clustering = step(points, state, penalties, orders=[np.arange(len(points))])
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
    main()
