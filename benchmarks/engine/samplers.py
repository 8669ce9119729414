"""Time of the samplers of the DDP mixture, and the ratio to the same Gibbs sampler in NumPy.

Run as ``python -m benchmarks.engine.samplers`` (``make bench``): one thread, CPU time, the median
of a few runs. The batches are those of the paper's synthetic experiment, with its parameters.
"""

import argparse
import time
from collections.abc import Callable
from itertools import islice

import numpy as np

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.mixture.gibbs import gibbs
from dynmeans.mixture.model import (
    BatchPrior,
    batch_prior,
    carry_over,
    center_posteriors,
)
from dynmeans.mixture.particle_learning import particle_learning
from dynmeans.mixture.variational import variational
from dynmeans.records.arrays import FloatArray
from dynmeans.records.mixture import MixtureParameters, MixtureState
from paper.reference_gibbs import plain_gibbs

N_SWEEPS = 5000
N_PLAIN_SWEEPS = 10
# Points, clusters, and seconds that 5,000 sweeps may take.
GIBBS_CASES = [(75, 5, 0.15), (300, 20, 1.5)]
PARTICLES_LIMIT_S = 0.020
PARAMETERS = MixtureParameters(
    concentration=1.0,
    survival=0.05,
    noise_variance=0.0025,
    motion_variance=0.05,
    prior_mean=0.5,
    prior_variance=0.1,
)


def second_batch(n_clusters: int) -> tuple[FloatArray, BatchPrior]:
    """Return a batch of 15 points for each cluster, and its prior after the true first batch."""
    rng = np.random.default_rng(0)
    stream = moving_gaussians(n_steps=2, n_clusters=n_clusters, death=0.0, rng=rng)
    nothing = MixtureState.empty(2)
    prior = batch_prior(nothing, PARAMETERS)
    seen = center_posteriors(stream.batches[0], stream.labels[0], prior)
    return stream.batches[1], batch_prior(carry_over(nothing, seen, PARAMETERS, 1.0), PARAMETERS)


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Median CPU time of a few runs, after one to warm up."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return float(np.median(times))


def time_gibbs(n_points: int, n_clusters: int, limit: float, repeats: int) -> None:
    """Print the time of 5,000 sweeps, one in five recorded, and the ratio to NumPy."""
    points, prior = second_batch(n_clusters)
    assert len(points) == n_points
    spent = seconds(lambda: gibbs(points, prior, n_samples=N_SWEEPS // 5, thin=5, seed=0), repeats)

    def plain() -> None:
        for _ in islice(plain_gibbs(points, prior, np.random.default_rng(0)), N_PLAIN_SWEEPS):
            pass

    in_numpy = seconds(plain, 1) * N_SWEEPS / N_PLAIN_SWEEPS
    print(
        f"Gibbs: {N_SWEEPS} sweeps, {n_points} points, {n_clusters} clusters: {spent:.3f} s "
        f"(to reach {limit}); NumPy {in_numpy:.1f} s, ratio {in_numpy / spent:.0f}"
    )


def time_others(repeats: int) -> None:
    """Print the time of 100 particles, and of a climb to the paper's tolerance."""
    points, prior = second_batch(5)
    spent = seconds(lambda: particle_learning(points, prior, n_particles=100, seed=0), repeats)
    print(
        f"Particle learning: 100 particles, {len(points)} points: {spent * 1e3:.2f} ms "
        f"(to reach {PARTICLES_LIMIT_S * 1e3:.0f})"
    )
    climb = {"truncation": 20, "tol": 1e-20, "max_iter": 5000, "seed": 0}
    spent = seconds(lambda: variational(points, prior, **climb), repeats)
    n_iter = len(variational(points, prior, **climb).bounds)
    print(
        f"Variational inference: tolerance 1e-20, {len(points)} points, 20 sticks: "
        f"{spent * 1e3:.2f} ms, {n_iter} iterations"
    )


def main() -> None:
    """Run every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for n_points, n_clusters, limit in GIBBS_CASES:
        time_gibbs(n_points, n_clusters, limit, repeats)
    time_others(repeats)


if __name__ == "__main__":
    main()
