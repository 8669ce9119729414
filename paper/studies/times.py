"""Times of all methods on the same streams, in turns in one process.

Run as ``python -m paper.studies.times``. A row is one stream at one origin of the parameters:
Dynamic Means, then one of the others, and so on, so that whatever else the machine does falls on
all of them. Times are processor times of one thread. The first five streams of each number of
clusters, both noises; writes paper/results/times.parquet, and resumes where it was stopped.
"""

from itertools import product
from typing import Any

import pyarrow as pa

from dynmeans.datasets.moving_gaussians import NOISES
from paper.results_file import Row
from paper.studies.found import found_settings
from paper.studies.rows import run_study
from paper.synthetic.config import SAMPLERS, SyntheticConfig
from paper.synthetic.tasks import DEVIATION, FOUND, PAPER, comparison_task
from paper.synthetic.trial import run_trial

EXPERIMENT = "times"
ORIGINS = (PAPER, DEVIATION, FOUND)
N_STREAMS = 5
FEW, FEW_SWEEPS = "gibbs_few", 50  # of Gibbs sampling, in place of 5,000
KEY = ("noise", "origin", "n_clusters", "trial")
SCHEMA = pa.schema(
    [
        *(("noise", pa.string()), ("origin", pa.string())),
        *(("n_clusters", pa.int64()), ("trial", pa.int64())),
        ("dynamic_means", pa.float64()),  # seconds of the whole stream, mean of the turns
        *((method, pa.float64()) for method in SAMPLERS),
        (FEW, pa.float64()),
    ]
)


def tasks() -> list[Row]:
    """Return the first streams of all kinds first, more of the short ones before long ones."""
    kinds = product(range(N_STREAMS), NOISES, ORIGINS, SyntheticConfig.of_size("full").n_clusters)
    rows = [dict(zip(KEY, (*kind[1:], kind[0]), strict=True)) for kind in kinds]
    return sorted(
        rows,
        key=lambda row: (row["trial"] + (row["n_clusters"] == 50)) * max(10, row["n_clusters"]),
    )


def in_turns(task: Row) -> dict[str, Any]:
    """Return the times of all methods on one stream, Dynamic Means before each of the others."""
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    of_method = found_settings(task["noise"], task["origin"])
    row: dict[str, Any] = {name: task[name] for name in KEY}
    ours = []
    for column in (*SAMPLERS, FEW):
        for name in ("dynamic_means", column.removesuffix("_few")):
            place = (of_method[name], task["n_clusters"], task["trial"])
            trial = comparison_task(name, *place)
            trial |= {"effort": FEW_SWEEPS} if column == FEW and name == "gibbs" else {}
            seconds = run_trial(config, trial)["cpu_s"]
            if name == "dynamic_means":
                ours.append(seconds)
            else:
                row[column] = seconds
    return {**row, "dynamic_means": sum(ours) / len(ours)}


def main() -> None:
    """Measure what is missing."""
    about = {"n_streams": N_STREAMS}
    run_study(EXPERIMENT, in_turns, tasks(), schema=SCHEMA, key=KEY, configuration=about)


if __name__ == "__main__":
    main()
