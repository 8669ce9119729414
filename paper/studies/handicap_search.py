"""The samplers searched with the handicap: their best settings where they are told the truth.

Run as ``python -m paper.studies.handicap_search``. The grids and the first rungs of the committed
search, on the same streams, but the sample carried on is always the one closest to the truth, as in
the paper's Figure 1d. The best setting of each sampler then follows streams of the comparison, with
the handicap and all sweeps. Writes paper/results/handicap_search.parquet, and resumes where it was
stopped.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd
import pyarrow as pa

from dynmeans.datasets.moving_gaussians import NOISES
from paper.results_file import RESULTS, Row, read_results
from paper.studies.rows import run_study
from paper.synthetic.config import PAPER_MIXTURE, Setting, SyntheticConfig
from paper.synthetic.search import n_settings, settings_of_rung
from paper.synthetic.tasks import HANDICAP, comparison_task, search_tasks
from paper.synthetic.tasks import KEY as TRIAL_KEY
from paper.synthetic.trial import run_trial

EXPERIMENT = "handicap_search"
METHODS = ("particle", "gibbs")  # variational inference has no samples to choose from
N_RUNGS = 3  # the last of the four takes as long as all else, for a choice among six
N_CLUSTERS, N_STREAMS = (2, 5, 10, 20), 20
KEY = ("noise", "part", "method", "n_clusters", "trial", "effort", *PAPER_MIXTURE)
SCORES = ("accuracy_frozen", "accuracy_global", "accuracy_per_step")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in KEY[:3]),
        *((name, pa.int64()) for name in KEY[3:6]),
        *((name, pa.float64()) for name in (*PAPER_MIXTURE, *SCORES)),
    ]
)


def config_of(noise: str) -> SyntheticConfig:
    """Return the experiment at its published size."""
    return SyntheticConfig.of_size("full", noise=noise)


def found(noise: str, frame: pd.DataFrame) -> dict[str, Setting]:
    """Return the best settings with the handicap of the samplers whose search is done."""
    passed = settings_of_rung(config_of(noise), frame[frame["noise"] == noise], N_RUNGS)
    return {method: passed[method][0] for method in METHODS if method in passed}


def known_tasks(frame: pd.DataFrame) -> list[Row]:
    """Return the rungs that can be tried by now, and the comparison where the search is done.

    One sampler comes after the other.
    """
    tasks: list[Row] = []
    for method in METHODS:
        for noise in NOISES:
            tasks += [{"noise": noise, **task} for task in _tasks_of(noise, method, frame)]
        if not all(method in found(noise, frame) for noise in NOISES):
            break
    return tasks


def tasks() -> list[Row]:
    """Return all trials by the committed rows; those to come, at most, have no setting."""
    frame = read_results(RESULTS / f"{EXPERIMENT}.parquet", EXPERIMENT).frame
    known = [
        {"noise": noise, **task}
        for noise, method in product(NOISES, METHODS)
        for task in _tasks_of(noise, method, frame)
    ]
    n_to_come = sum(_n_to_come(noise, method, frame) for noise, method in product(NOISES, METHODS))
    return [*known, *({**dict.fromkeys(KEY), "trial": i} for i in range(n_to_come))]


def _tasks_of(noise: str, method: str, frame: pd.DataFrame) -> Iterator[Row]:
    config, rows = config_of(noise), frame[frame["noise"] == noise]
    for rung in range(N_RUNGS):
        tried = settings_of_rung(config, rows, rung)
        if method in tried:
            for task in search_tasks(config, rung, {method: tried[method]}):
                yield {name: task[name] for name in KEY[1:]}
    if setting := found(noise, frame).get(method):
        for trial, n_clusters in product(range(N_STREAMS), N_CLUSTERS):
            task = comparison_task(method, setting, n_clusters, trial)
            yield {name: task[name] for name in KEY[1:]}


def _n_to_come(noise: str, method: str, frame: pd.DataFrame) -> int:
    """Return how many trials at most wait for a rung that is not done."""
    config, rows = config_of(noise), frame[frame["noise"] == noise]
    waiting = [r for r in range(N_RUNGS) if method not in settings_of_rung(config, rows, r)]
    n_search = sum(n_settings(config, method, r) * config.search_streams[r] for r in waiting)
    is_found = method in found(noise, frame)
    return n_search + (0 if is_found else N_STREAMS * len(N_CLUSTERS))


def run(task: Row) -> dict[str, Any]:
    """Return the accuracies of one trial with the handicap."""
    trial = {**dict.fromkeys(TRIAL_KEY), **task, "choice": HANDICAP}
    scores = run_trial(config_of(task["noise"]), trial)
    return {name: task[name] for name in KEY} | {name: scores[name] for name in SCORES}


if __name__ == "__main__":
    about = {"n_rungs": N_RUNGS, "n_streams": N_STREAMS}
    run_study(EXPERIMENT, run, known_tasks, schema=SCHEMA, key=KEY, configuration=about)
