"""Tuning with labels on the paper's synthetic data: scores on streams not tuned on.

Run as ``python -m benchmarks.quality.tune``. For both noises and K = 5, 10, 20 the penalties are
tuned on one long stream and scored on others of 100 steps, beside the paper's own penalties and the
accuracies to reach. Writes benchmarks/results/quality/tune.json.
"""

import argparse
from typing import Any

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import DynamicMeans, tune
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.metrics import accuracy_global
from dynmeans.records.penalties import Penalties
from dynmeans.records.stream import LabeledStream

PAPER = Penalties(0.04, max_gap=6.8, reach=1.01)
# Global accuracy to reach, by noise and number of clusters.
TO_REACH = {
    ("isotropic", 5): 0.75,
    ("isotropic", 10): 0.59,
    ("isotropic", 20): 0.43,
    ("radial", 5): 0.77,
    ("radial", 10): 0.69,
    ("radial", 20): 0.51,
}
TUNED_STEPS = {5: 300, 10: 200, 20: 100}
N_SCORED = 40
TUNED_SEED, SCORED_SEED = 1_000, 2_000


def stream_of(noise: str, n_clusters: int, seed: int, n_steps: int = 100) -> LabeledStream:
    """Make one stream."""
    rng = np.random.default_rng([seed, n_clusters])
    return moving_gaussians(n_steps, n_clusters, noise=noise, rng=rng)


def score(penalties: Penalties, streams: list[LabeledStream]) -> tuple[float, float]:
    """Return the mean accuracy over the streams, and its standard error."""
    scores = []
    for seed, stream in enumerate(streams):
        model = DynamicMeans(
            penalties,
            n_threads=1,
            random_state=seed,
        )
        scores.append(accuracy_global(stream.labels, model.fit_sequence(stream.batches)[0]))
    return float(np.mean(scores)), float(np.std(scores, ddof=1) / np.sqrt(len(scores)))


def measure(noise: str, n_clusters: int, n_trials: int, n_jobs: int) -> dict[str, Any]:
    """Tune on one stream, score on others."""
    tuned_on = stream_of(noise, n_clusters, TUNED_SEED, TUNED_STEPS[n_clusters])
    result = tune(tuned_on.batches, tuned_on.labels, n_trials=n_trials, n_jobs=n_jobs)
    streams = [stream_of(noise, n_clusters, SCORED_SEED + i) for i in range(N_SCORED)]
    mean, error = score(result.penalties, streams)
    return {
        "noise": noise,
        "n_clusters": n_clusters,
        "n_trials": len(result.trials),
        "new_penalty": result.penalties.new_penalty,
        "max_gap": result.penalties.max_gap,
        "reach": result.penalties.reach,
        "score_tuned_on": result.score,
        "score": mean,
        "error": error,
        "score_of_paper": score(PAPER, streams)[0],
        "to_reach": TO_REACH[noise, n_clusters],
        "is_reached": mean >= TO_REACH[noise, n_clusters],
    }


def main() -> None:
    """Run every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n-trials", type=int, default=64)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="K = 5 only; writes nothing")
    arguments = parser.parse_args()
    config = {"n_tuned_steps": TUNED_STEPS, "n_scored_streams": N_SCORED}
    results: dict[str, Any] = {"config": config, "machine": machine(), "cases": []}
    for noise, n_clusters in TO_REACH:
        if arguments.quick and n_clusters > 5:
            continue
        r = measure(noise, n_clusters, arguments.n_trials, arguments.n_jobs)
        results["cases"].append(r)
        print(
            f"{noise:<9} K={n_clusters:<3}{r['n_trials']:>4} trials: "
            f"lambda {r['new_penalty']:.3f}, T_Q {r['max_gap']:5.2f}, k_tau {r['reach']:.2f}; "
            f"accuracy {r['score']:.3f} +- {r['error']:.3f} "
            f"(to reach {r['to_reach']:.2f}: {'yes' if r['is_reached'] else 'NO'}; "
            f"paper's penalties {r['score_of_paper']:.3f})",
            flush=True,
        )
    if not arguments.quick:
        write_results("quality/tune", results)


if __name__ == "__main__":
    main()
