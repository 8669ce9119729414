"""The trials of the synthetic experiment: which streams, which methods, which settings.

A task is a mapping with the columns of `KEY`; what a method does not have is None. Trials of
the search and of the comparison are on different streams, so that no setting is scored on the
streams it was found on. All methods see the same streams.
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd
import pyarrow as pa

from dynmeans.experiments.synthetic.config import (
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

SEARCH, COMPARISON = "search", "comparison"
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


def paper_settings() -> dict[str, Setting]:
    """Return the paper's own setting of each method."""
    return {"dynamic_means": PAPER_PENALTIES, **dict.fromkeys(SAMPLERS, PAPER_MIXTURE)}


def search_tasks(config: SyntheticConfig) -> Iterator[Task]:
    """All settings of the grids, on the streams of the search; one stream after the other."""
    for trial in range(max(config.search_trials.values())):
        for method in METHODS:
            if trial >= config.search_trials[method]:
                continue
            effort = config.search_sweeps if method == "gibbs" else EFFORTS[method]
            for setting in _grid(config, method):
                yield _task(SEARCH, method, setting, config.search_clusters, trial, effort=effort)


def comparison_tasks(config: SyntheticConfig, found: Mapping[str, Setting]) -> Iterator[Task]:
    """Every method at the paper's setting and at the one found, by clusters and by effort."""
    for trial in range(max(max(n) for n in config.n_trials.values())):
        for k, method in product(range(len(config.n_clusters)), METHODS):
            if trial >= config.n_trials[method][k]:
                continue
            for setting, choice in product(_settings(method, found), _choices(method)):
                yield _task(COMPARISON, method, setting, config.n_clusters[k], trial, choice=choice)
            if method == "dynamic_means":
                yield _task(
                    *(COMPARISON, method, PAPER_PENALTIES, config.n_clusters[k], trial),
                    revival="exact",
                )
    yield from _tradeoff_tasks(config, found)


def _tradeoff_tasks(config: SyntheticConfig, found: Mapping[str, Setting]) -> Iterator[Task]:
    for trial in range(config.tradeoff_trials):
        for method, efforts, choices in (
            ("dynamic_means", config.restarts, (HONEST,)),
            ("gibbs", config.sweeps, (HONEST, HANDICAP, HANDICAP_PER_STEP)),
        ):
            for setting, choice in product(_settings(method, found), choices):
                for effort in efforts:
                    yield _task(
                        *(COMPARISON, method, setting, config.search_clusters, trial),
                        choice=choice,
                        effort=effort,
                    )


def best_settings(frame: pd.DataFrame, score: str = "accuracy_global") -> dict[str, Setting]:
    """Return the setting of the highest mean score of each method in the search."""
    search = frame[frame["part"] == SEARCH]
    best = {}
    for method, paper in paper_settings().items():
        names = list(paper)
        means = search[search["method"] == method].groupby(names)[score].mean()
        if len(means):
            best[method] = dict(zip(names, map(float, means.idxmax()), strict=True))
    return best


def seconds_of(config: SyntheticConfig, task: Mapping[str, Any]) -> float:
    """About how long a trial takes: only chunks and the time left depend on it."""
    k, share = task["n_clusters"], config.n_steps / 100
    seconds = {
        "dynamic_means": 0.02 + 0.0008 * k * task["effort"] / N_INIT,
        "gibbs": 0.1 + (0.5 * k + 0.033 * k**2) * task["effort"] / N_SWEEPS,
        "variational": 0.08 + 0.0025 * k**2.2,
        "particle": 0.08 + 0.015 * k,
    }
    return float(seconds[task["method"]]) * share


def _grid(config: SyntheticConfig, method: str) -> Iterator[Setting]:
    values = (
        (config.new_penalties, config.max_gaps, config.reaches)
        if method == "dynamic_means"
        else (config.concentrations, config.survivals, config.motion_variances)
    )
    names = paper_settings()[method]
    for point in product(*values):
        yield dict(zip(names, point, strict=True))


def _settings(method: str, found: Mapping[str, Setting]) -> tuple[Setting, Setting]:
    return paper_settings()[method], found[method]


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
