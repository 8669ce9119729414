"""Algorithm 2 to the letter beside the searches that go on, on the synthetic streams.

Run as ``python -m paper.studies.searches``. All begin with the same visiting orders. At the
paper's parameters and at those found, with every number of clusters; and from those found, five
clusters, with one parameter wrong by factors up to 4: does the deeper search make the paper's claim
of robustness true? Writes paper/results/searches.parquet.
"""

import time
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.datasets.moving_gaussians import NOISES
from dynmeans.engine.compiled import compiled
from dynmeans.records.orders import SEARCHES
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.robustness import FACTORS, wrong
from paper.studies.rows import run_study
from paper.synthetic.config import N_INIT, PAPER_PENALTIES, SyntheticConfig
from paper.synthetic.streams import method_seed, score_labels, stream_of
from paper.synthetic.tasks import FOUND, PAPER

EXPERIMENT = "searches"
N_STREAMS, N_CLUSTERS = 20, 5
KEY = ("noise", "origin", "search", "n_clusters", "parameter", "factor", "trial")
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in KEY[:3]),
        *(("n_clusters", pa.int64()), ("parameter", pa.string())),
        *(("factor", pa.float64()), ("trial", pa.int64())),
        *((name, pa.float64()) for name in SCORES),
        ("cost", pa.float64()),  # sum over all batches
        ("cpu_s", pa.float64()),
    ]
)


def tasks() -> list[Row]:
    """Return all kinds, the first streams first."""
    ks = SyntheticConfig.of_size("full").n_clusters
    right = [(origin, k, "none", 1.0) for origin in (PAPER, FOUND) for k in ks]
    wrongs = [(FOUND, N_CLUSTERS, name, f) for name in PAPER_PENALTIES for f in FACTORS if f != 1]
    return [
        dict(zip(KEY, (noise, origin, search, k, name, factor, trial), strict=True))
        for trial in range(N_STREAMS)
        for noise in NOISES
        for origin, k, name, factor in (*right, *wrongs)
        for search in SEARCHES
    ]


def run(task: Row) -> dict[str, Any]:
    """Return accuracies, the cost and the time of one search on one stream."""
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    place = (0, task["n_clusters"], task["trial"])
    stream, seed = stream_of(config, *place), method_seed(config, *place)
    setting = found_settings(task["noise"], task["origin"])["dynamic_means"]
    if task["parameter"] != "none":
        setting = wrong(setting, task["parameter"], task["factor"])
    penalties = Penalties(**setting)
    entropy = int(compiled.entropy_of_seed(seed))
    orders = VisitingOrders(entropy, N_INIT, search=task["search"])
    state, labels, cost = ClusterState.empty(2), [], 0.0
    started = time.thread_time()
    for points in stream.batches:
        state, clustering = step(points, state, penalties, orders=orders)
        labels.append(clustering.labels)
        cost += clustering.cost
    seconds = float(f"{time.thread_time() - started:.3g}")
    scores = score_labels(stream, labels)
    row = {name: task[name] for name in KEY} | {name: scores[name] for name in SCORES}
    return row | {"cost": float(np.float32(cost)), "cpu_s": seconds}


if __name__ == "__main__":
    about = {"n_streams": N_STREAMS, "n_init": N_INIT}
    run_study(EXPERIMENT, run, tasks(), schema=SCHEMA, key=KEY, configuration=about)
