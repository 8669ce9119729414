"""Accuracy where parameters are wrong by factors up to 4 (the paper, Sec. 6.1, claims robustness).

Run as ``python -m paper.studies.robustness``. The streams are those of the comparison of the
synthetic experiment. lambda, Q and tau of Dynamic Means, and alpha, q and xi of the mixture by
variational inference and by particle learning, are each multiplied by 1/4 to 4, one at a time,
from a setting that tracks well. Writes paper/results/robustness.json.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import DDPMixture, DynamicMeans, Penalties
from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.metrics import tracking_report
from paper.results_file import RESULTS
from paper.synthetic.config import SyntheticConfig
from paper.synthetic.streams import stream_of

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
# The best of the search of each noise, by global accuracy.
PENALTIES = {
    "isotropic": Penalties(0.06, max_gap=2.0, reach=1.1),
    "radial": Penalties(0.04, max_gap=5.0, reach=1.25),
}
# The best of the grid for variational inference; particle learning starts from it too.
MIXTURE = {"concentration": 1.0, "survival": 0.05, "motion_variance": 0.001}
INFERENCES = ("variational", "particle")
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
N_CLUSTERS = 5


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=20)
    n_streams = parser.parse_args().streams
    rows = []
    for noise in NOISES:
        config = SyntheticConfig(noise=noise)
        for method, parameter, factor, model in models(config):
            scores = [scores_of(config, model, trial) for trial in range(n_streams)]
            rows.append(
                {
                    "noise": noise,
                    "method": method,
                    "parameter": parameter,
                    "factor": factor,
                    "n_streams": n_streams,
                    **summary(np.array(scores)),
                }
            )
            print(rows[-1], flush=True)
    write_results("robustness", {"machine": machine(), "rows": rows}, RESULTS)


def models(config: SyntheticConfig) -> Iterator[tuple[str, str, float, Any]]:
    """Yield every model with one parameter multiplied."""
    p = PENALTIES[config.noise]
    right = {
        "new_penalty": p.new_penalty,
        "revival_penalty": p.revival_penalty,
        "drift": p.drift,
    }
    # lambda and Q together is lambda with the paper's T_Q and k_tau fixed.
    for names in (*((name,) for name in right), ("new_penalty", "revival_penalty")):
        for factor in FACTORS:
            wrong = right | {name: factor * right[name] for name in names}
            model = DynamicMeans(**wrong, n_init=3, random_state=0)
            yield "dynamic_means", " and ".join(names), factor, model
    for inference in INFERENCES:
        for name in MIXTURE:
            for factor in FACTORS:
                wrong = MIXTURE | {name: factor * MIXTURE[name]}
                yield inference, name, factor, mixture(config, inference, wrong)


def mixture(config: SyntheticConfig, inference: str, setting: dict[str, float]) -> DDPMixture:
    """Return the mixture, told the true noise and where clusters are born."""
    return DDPMixture(
        inference,
        **setting,
        noise_variance=config.noise_variance,
        prior_mean=0.5,
        prior_variance=1 / 12,
        random_state=0,
    )


def scores_of(config: SyntheticConfig, model: Any, trial: int) -> list[float]:
    """Return the accuracies on one stream of the comparison."""
    stream = stream_of(config, 0, N_CLUSTERS, trial)
    labels, _ = model.fit_sequence(stream.batches)
    report = tracking_report(stream.labels, labels)
    return [float(report[name]) for name in SCORES]


def summary(scores: Any) -> dict[str, float]:
    """Return means and standard errors of the columns."""
    errors = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    return dict(zip(SCORES, scores.mean(axis=0), strict=True)) | {
        f"{name}_error": error for name, error in zip(SCORES, errors, strict=True)
    }


if __name__ == "__main__":
    main()
