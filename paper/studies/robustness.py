"""Accuracy where parameters are wrong by factors up to 4 (the paper, Sec. 6.1, claims robustness).

Run as ``python -m paper.studies.robustness``. From the setting that the committed search found for
each method, one parameter at a time is multiplied by 1/4 to 4: lambda, T_Q and k_tau of Dynamic
Means (Q follows lambda, as in the paper), alpha, q and xi of the mixture. A value that would leave
its range stays at the end of it. The streams are those of the comparison with five clusters. Writes
paper/results/robustness.parquet, a row for each stream, and resumes where it was stopped.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from dynmeans.datasets.moving_gaussians import NOISES
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.rows import run_study
from paper.synthetic.config import METHODS, Setting, SyntheticConfig
from paper.synthetic.tasks import EFFORTS, comparison_task
from paper.synthetic.trial import run_trial

EXPERIMENT = "robustness"
FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
N_STREAMS, N_CLUSTERS = 20, 5
# Gibbs sampling tracks as well with a fifth of the published sweeps, in a fifth of the time.
SWEEPS = 1000
# The least T_Q and k_tau, and a q that is below 1.
LEAST = {"max_gap": 1.001, "reach": 1.0}
MOST = {"survival": 0.999}
KEY = ("noise", "method", "parameter", "factor", "trial")
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in KEY[:3]),
        *(("factor", pa.float64()), ("trial", pa.int64()), ("value", pa.float64())),
        *(("effort", pa.int64()), *((name, pa.float64()) for name in SCORES)),
    ]
)


def wrong(setting: Setting, parameter: str, factor: float) -> Setting:
    """Return the setting with one parameter multiplied, within its range."""
    value = factor * setting[parameter]
    value = min(max(value, LEAST.get(parameter, 0.0)), MOST.get(parameter, float("inf")))
    return {**setting, parameter: value}


def tasks(n_streams: int = N_STREAMS) -> Iterator[Row]:
    """Yield the first stream of every kind, then the second, and so on."""
    for trial in range(n_streams):
        for noise in NOISES:
            found = found_settings(noise)
            for method in METHODS:
                for parameter in found[method]:
                    for factor in FACTORS:
                        row = (noise, method, parameter, factor, trial)
                        yield dict(zip(KEY, row, strict=True))


def run(task: Row) -> dict[str, Any]:
    """Return the accuracies on one stream with one parameter wrong."""
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    method = task["method"]
    setting = wrong(found_settings(task["noise"])[method], task["parameter"], task["factor"])
    effort = SWEEPS if method == "gibbs" else EFFORTS[method]
    trial = comparison_task(method, setting, N_CLUSTERS, task["trial"])
    scores = run_trial(config, {**trial, "effort": effort})
    row = {name: task[name] for name in KEY}
    row |= {"value": setting[task["parameter"]], "effort": effort}
    return row | {name: scores[name] for name in SCORES}


def main() -> None:
    """Measure what is missing."""
    about = {"factors": FACTORS, "n_clusters": N_CLUSTERS, "sweeps": SWEEPS}
    run_study(EXPERIMENT, run, list(tasks()), schema=SCHEMA, key=KEY, configuration=about)


if __name__ == "__main__":
    main()
