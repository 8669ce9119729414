"""The trials of the synthetic experiment: which streams, which methods, which settings.

A task is a mapping with the columns of `KEY`; what a method does not have is None. Trials of
the search and of the comparison are on different streams, so that no setting is scored on the
streams it was found on. All methods see the same streams.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa

from paper.synthetic.config import (
    DEVIATION_MIXTURE,
    MAX_ITER,
    METHODS,
    N_INIT,
    N_PARTICLES,
    N_SWEEPS,
    PAPER_MIXTURE,
    PAPER_PENALTIES,
    SAMPLERS,
    Setting,
    SyntheticConfig,
)

Task = dict[str, Any]
Settings = Mapping[str, Setting]  # of every method

SEARCH, COMPARISON = "search", "comparison"
# Where settings come from: the paper, its variance of 0.05 read as a variance or as a deviation;
# or the search.
PAPER, DEVIATION, FOUND = "paper", "deviation", "found"
# Which sample is carried on: the most probable; or, with the handicap, the one of the highest
# accuracy, with tracking or of the batch by itself.
HONEST, HANDICAP, HANDICAP_PER_STEP = "honest", "handicap", "handicap_per_step"
KEY_FIELDS = (
    ("part", pa.string()),  # search or comparison
    ("method", pa.string()),
    ("choice", pa.string()),
    ("n_clusters", pa.int64()),
    ("trial", pa.int64()),
    ("effort", pa.int64()),  # restarts, sweeps, iterations at most, or particles
    ("revival", pa.string()),
    *((name, pa.float64()) for name in PAPER_PENALTIES),
    *((name, pa.float64()) for name in PAPER_MIXTURE),
)
KEY = tuple(name for name, _ in KEY_FIELDS)
SETTING = (*PAPER_PENALTIES, *PAPER_MIXTURE)
EFFORTS = dict(zip(METHODS, (N_INIT, N_SWEEPS, MAX_ITER, N_PARTICLES), strict=True))

_SHORT = 5.0  # seconds of a trial that is not put off


def paper_settings(reading: str = PAPER) -> dict[str, Setting]:
    """Return the paper's own setting of each method, its variance of 0.05 read either way."""
    mixture = PAPER_MIXTURE if reading == PAPER else DEVIATION_MIXTURE
    return {"dynamic_means": PAPER_PENALTIES, **dict.fromkeys(SAMPLERS, mixture)}


def grid(config: SyntheticConfig, method: str) -> list[Setting]:
    """Return all settings of a method that the search may try."""
    values = (
        (config.new_penalties, config.max_gaps, config.reaches)
        if method == "dynamic_means"
        else (config.concentrations, config.survivals, config.motion_variances)
    )
    names = paper_settings()[method]
    return [dict(zip(names, point, strict=True)) for point in product(*values)]


def search_tasks(
    config: SyntheticConfig, rung: int, settings: Mapping[str, Sequence[Setting]]
) -> Iterator[Task]:
    """One rung of the search: these settings on its streams, one stream after the other."""
    for trial in range(config.search_streams[rung]):
        for method in settings:
            for setting in settings[method]:
                effort = search_effort(config, method, rung)
                yield _task(SEARCH, method, setting, config.search_clusters, trial, effort=effort)


def search_effort(config: SyntheticConfig, method: str, rung: int) -> int:
    """Return how much work a trial of this rung may do: fewer sweeps in the first rungs."""
    return config.search_sweeps[rung] if method == "gibbs" else EFFORTS[method]


def comparison_tasks(
    config: SyntheticConfig, settings: Sequence[Settings], first: int | None = None
) -> list[Task]:
    """Every method at all of these settings, by clusters and by effort; first streams first.

    Long trials are put off: one that takes n times as long as a short one comes when the short
    ones are at n times its stream, so that all numbers of clusters get about the same time.
    `first` stops when the short ones are at that stream.
    """

    def place(task: Task) -> float:
        return float(task["trial"]) * max(1.0, seconds_of(config, task) / _SHORT)

    tasks = [*_cluster_tasks(config, settings), *_tradeoff_tasks(config, settings)]
    return sorted((task for task in tasks if first is None or place(task) < first), key=place)


def _cluster_tasks(config: SyntheticConfig, settings: Sequence[Settings]) -> Iterator[Task]:
    for k, n_clusters in enumerate(config.n_clusters):
        for method in METHODS:
            for trial in range(config.n_trials[method][k]):
                place = (COMPARISON, method)
                for setting, choice in product(_of(method, settings), _choices(method)):
                    yield _task(*place, setting, n_clusters, trial, choice=choice)
                if method == "dynamic_means":
                    yield _task(*place, PAPER_PENALTIES, n_clusters, trial, revival="exact")


def _tradeoff_tasks(config: SyntheticConfig, settings: Sequence[Settings]) -> Iterator[Task]:
    for method, efforts, choices in (
        ("dynamic_means", config.restarts, (HONEST,)),
        ("gibbs", config.sweeps, (HONEST, HANDICAP, HANDICAP_PER_STEP)),
    ):
        for setting, choice, effort in product(_of(method, settings), choices, efforts):
            for trial in range(config.tradeoff_trials):
                yield _task(
                    *(COMPARISON, method, setting, config.search_clusters, trial),
                    choice=choice,
                    effort=effort,
                )


def comparison_task(method: str, setting: Setting, n_clusters: int, trial: int) -> Task:
    """Return one trial of the comparison at the usual effort."""
    return _task(COMPARISON, method, setting, n_clusters, trial)


def seconds_of(config: SyntheticConfig, task: Mapping[str, Any]) -> float:
    """About how long a trial takes: only chunks, the order and the time left depend on it."""
    k, share = task["n_clusters"], config.n_steps / 100
    seconds = {
        "dynamic_means": 0.01 + 0.0008 * k * task["effort"] / N_INIT,
        "gibbs": 0.05 + (0.75 * k + 0.007 * k**2) * task["effort"] / N_SWEEPS,
        "variational": 0.08 + 0.0025 * k**2.2,
        "particle": 0.08 + 0.015 * k,
    }
    return float(seconds[task["method"]]) * share


def _of(method: str, settings: Sequence[Settings]) -> list[Setting]:
    """Return the different settings of a method, where one was found."""
    given = [s[method] for s in settings if method in s]
    return [setting for i, setting in enumerate(given) if setting not in given[:i]]


def _choices(method: str) -> tuple[str, ...]:
    """Variational inference has one answer, Dynamic Means its cheapest: nothing to choose."""
    return (HONEST, HANDICAP) if method in ("gibbs", "particle") else (HONEST,)


def _task(
    part: str,
    method: str,
    setting: Setting,
    n_clusters: int,
    trial: int,
    *,
    effort: int | None = None,
    choice: str = HONEST,
    revival: str = "paper",
) -> Task:
    return {
        **dict.fromkeys(KEY),
        "part": part,
        "method": method,
        "choice": choice,
        "n_clusters": n_clusters,
        "trial": trial,
        "effort": EFFORTS[method] if effort is None else effort,
        "revival": revival if method == "dynamic_means" else None,
        **setting,
    }
