"""Clusters that vanish for a while and come back: where T_Q matters, a panel Figure 1 lacks.

Run as ``python -m paper.studies.vanishing``. The streams of the synthetic experiment, five
clusters, in which each cluster is absent in a fifth of the steps (`moving_gaussians(vanish=0.2)`);
Dynamic Means with the lambda and k_tau that the committed search found, and T_Q from 1.2 to 15.
Writes paper/results/vanishing.parquet.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans import DynamicMeans
from dynmeans.datasets.moving_gaussians import NOISES, moving_gaussians
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.rows import run_study
from paper.synthetic.streams import score_labels

EXPERIMENT = "vanishing"
VANISH, N_STREAMS, N_CLUSTERS = 0.2, 50, 5
MAX_GAPS = (1.2, 1.5, 2.0, 2.5, 3.5, 5.0, 6.8, 10.0, 15.0)
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
KEY = ("noise", "vanish", "max_gap", "trial")
SCHEMA = pa.schema(
    [
        *(("noise", pa.string()), ("vanish", pa.float64())),
        *(("max_gap", pa.float64()), ("trial", pa.int64())),
        *((name, pa.float64()) for name in SCORES),
    ]
)


def tasks() -> list[Row]:
    """Return all streams, with and without absences, at every T_Q."""
    return [
        dict(zip(KEY, (noise, vanish, max_gap, trial), strict=True))
        for trial in range(N_STREAMS)
        for noise in NOISES
        for vanish in (0.0, VANISH)
        for max_gap in MAX_GAPS
    ]


def run(task: Row) -> dict[str, Any]:
    """Return the accuracies on one stream at one T_Q."""
    rng = np.random.default_rng([7, task["trial"]])
    stream = moving_gaussians(100, N_CLUSTERS, noise=task["noise"], vanish=task["vanish"], rng=rng)
    setting = {**found_settings(task["noise"])["dynamic_means"], "max_gap": task["max_gap"]}
    model = DynamicMeans(
        **setting, n_init=3, search="paper", n_threads=1, random_state=task["trial"]
    )
    scores = score_labels(stream, model.fit_sequence(stream.batches)[0])
    return {name: task[name] for name in KEY} | {name: scores[name] for name in SCORES}


if __name__ == "__main__":
    about = {"n_streams": N_STREAMS, "n_clusters": N_CLUSTERS}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
