"""Times of all methods on the same streams, in turns in one process.

Run as ``python -m paper.studies.times``. A row is one stream at one origin of the parameters:
Dynamic Means, then one of the others, and so on, so that whatever else the machine does falls on
all of them. Times are processor times of one thread. The first five streams of each number of
clusters, both noises; writes paper/results/times.parquet, and resumes where it was stopped.
"""

import argparse
import time
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import pyarrow as pa

from dynmeans.datasets.moving_gaussians import NOISES
from paper.results_file import RESULTS, ResultsFile, Row, read_results
from paper.run_tasks import run_tasks
from paper.synthetic.config import SAMPLERS, SyntheticConfig
from paper.synthetic.summary import settings_of
from paper.synthetic.tasks import DEVIATION, FOUND, PAPER, Settings, comparison_task
from paper.synthetic.trial import run_trial

EXPERIMENT = "times"
ORIGINS = (PAPER, DEVIATION, FOUND)
N_STREAMS = 5
KEY = ("noise", "origin", "n_clusters", "trial")
SCHEMA = pa.schema(
    [
        *(("noise", pa.string()), ("origin", pa.string())),
        *(("n_clusters", pa.int64()), ("trial", pa.int64())),
        ("dynamic_means", pa.float64()),  # seconds of the whole stream, mean of the turns
        *((method, pa.float64()) for method in SAMPLERS),
    ]
)


def tasks() -> Iterator[Row]:
    """Yield the first stream of every kind, then the second, and so on."""
    for trial in range(N_STREAMS):
        for noise, origin in product(NOISES, ORIGINS):
            for n_clusters in SyntheticConfig.of_size("full").n_clusters:
                yield dict(zip(KEY, (noise, origin, n_clusters, trial), strict=True))


@cache
def settings(noise: str, origin: str) -> Settings:
    """Return the setting of every method, that of the search from the committed rows."""
    path = RESULTS / f"synthetic-{noise}-full.parquet"
    config = SyntheticConfig.of_size("full", noise=noise)
    return settings_of(config, read_results(path, "synthetic").frame, origin)


def in_turns(task: Row, until: float = float("inf")) -> dict[str, Any]:
    """Return the times of all methods on one stream, Dynamic Means before each of the others."""
    if time.monotonic() > until:
        raise TimeoutError
    config = SyntheticConfig.of_size("full", noise=task["noise"])
    of_method = settings(task["noise"], task["origin"])
    row: dict[str, Any] = {name: task[name] for name in KEY}
    ours = []
    for method in SAMPLERS:
        for name in ("dynamic_means", method):
            place = (of_method[name], task["n_clusters"], task["trial"])
            seconds = run_trial(config, comparison_task(name, *place))["cpu_s"]
            if name == method:
                row[method] = seconds
            else:
                ours.append(seconds)
    return {**row, "dynamic_means": sum(ours) / len(ours)}


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    until = time.monotonic() + parser.parse_args().seconds
    with ResultsFile(
        RESULTS / "times.parquet",
        experiment=EXPERIMENT,
        configuration={"n_streams": N_STREAMS},
        schema=SCHEMA,
        key=KEY,
    ) as results:
        try:
            run_tasks(partial(in_turns, until=until), tasks(), results)
        except TimeoutError:
            print(f"{len(results)} of {len(list(tasks()))} done")


if __name__ == "__main__":
    main()
