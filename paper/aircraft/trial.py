"""One trial of the aircraft experiment: a method on the flights, a row of accuracy and time."""

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dynmeans.estimators.dp_means import DPMeans
from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.metrics.accuracy import accuracy_global
from dynmeans.records.arrays import FloatArray, IntArray
from paper.aircraft.config import (
    HANDICAP,
    HONEST,
    N_INIT,
    PLAIN,
    AircraftConfig,
)
from paper.aircraft.data import AircraftData
from paper.aircraft.settings import SETTING_NAMES, mixture
from paper.handicap import ClosestToTruth

KEY = ("span", "feature", "hours", "method", "choice", "origin", "trial")
SCHEMA = pa.schema(
    [
        ("span", pa.string()),
        ("feature", pa.string()),
        ("hours", pa.float64()),  # of a window; 0 is all flights in one batch
        ("method", pa.string()),
        ("choice", pa.string()),  # of the sample carried on
        ("origin", pa.string()),  # of the setting
        ("trial", pa.int64()),
        *((name, pa.float64()) for name in SETTING_NAMES),
        ("accuracy", pa.float64()),  # confidence-weighted, one-to-one over all time
        ("n_found", pa.int64()),
        ("n_flights", pa.int64()),
        ("n_scored", pa.int64()),
        ("cpu_s", pa.float64()),  # processor time of the clustering, one thread
    ]
)
_SAME_SETTING = 1e-9  # the last digits depend on the processor
# About how many seconds a trial takes, in units of that of Dynamic Means.
_EFFORTS = {"dynamic_means": 0.3, "dp_means": 0.5, "gibbs": 6.0}

SettingKey = tuple[str, str, float, str]  # span, feature, hours, origin
Settings = Mapping[SettingKey, Any]  # of each method; None where there is none
Task = dict[str, Any]


def table_tasks(config: AircraftConfig, data: AircraftData, settings: Settings) -> list[Task]:
    """List the trials of the table: every method on every part of the data, the quick first."""
    tasks = []
    for span in data.spans:
        for feature in config.features:
            for hours in config.windows:
                for origin in config.origins:
                    of_method = settings[span, feature, hours, origin]
                    if of_method is None:
                        continue
                    for method, choice, n_trials in _rows(config, hours):
                        task = {
                            "span": span,
                            "feature": feature,
                            "hours": 0.0 if method == "dp_means" else hours,
                            "method": method,
                            "choice": choice,
                            "origin": origin,
                            **of_method[method],
                        }
                        tasks += [{**task, "trial": trial} for trial in range(n_trials)]
    # One trial of every row before the next one: a run that is stopped has as many of each.
    return sorted(
        tasks, key=lambda task: (task["feature"] == PLAIN, effort_of(task), task["trial"])
    )


def check_settings(path: Path, rows: pd.DataFrame, tasks: Sequence[Task]) -> None:
    """Refuse to add trials to rows that were made with other parameters."""
    wanted = {tuple(task[name] for name in KEY): task for task in tasks}
    for row in rows.to_dict("records"):
        task = wanted.get(tuple(row[name] for name in KEY), {})
        for name in task.keys() & set(SETTING_NAMES):
            if not math.isclose(row[name], task[name], rel_tol=_SAME_SETTING):
                raise ValueError(
                    f"{str(path)!r} has trials of {row['method']}, {row['origin']}, with {name} "
                    f"{row[name]:.12g}, where it is {task[name]:.12g} now: another version made "
                    "them. Write elsewhere, or delete the file to start over."
                )


def _rows(config: AircraftConfig, hours: float) -> list[tuple[str, str, int]]:
    """Methods, and how the sampler's choice is made; DP-Means knows no windows, and is run once."""
    rows = [("dynamic_means", HONEST, config.n_trials)]
    if hours == config.windows[0]:
        rows.append(("dp_means", HONEST, config.n_trials))
    return [*rows, *(("gibbs", choice, config.gibbs_trials) for choice in (HONEST, HANDICAP))]


def effort_of(task: Mapping[str, Any]) -> float:
    """About how many seconds a trial takes."""
    return _EFFORTS[task["method"]]


def run_trial(
    config: AircraftConfig, data: AircraftData, task: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the row of one trial: a pure function, but for the time."""
    windows, labels, seconds = cluster_flights(config, data, task)
    true = [data.scored[rows] for rows in windows]
    weights = [data.confidences[rows] for rows in windows]
    return {
        **{name: task[name] for name in KEY},
        **{name: task.get(name) for name in SETTING_NAMES},
        "accuracy": accuracy_global(true, labels, weights),
        "n_found": len(np.unique(np.concatenate(labels))),
        "n_flights": sum(map(len, windows)),
        "n_scored": int(sum(np.count_nonzero(labels >= 0) for labels in true)),
        "cpu_s": seconds,
    }


def cluster_flights(
    config: AircraftConfig, data: AircraftData, task: Mapping[str, Any]
) -> tuple[list[IntArray], list[IntArray], float]:
    """Return the flights of each window of a trial, their labels and the processor time."""
    sequence = np.random.SeedSequence(config.seed, spawn_key=(3, task["trial"]))
    seed = int(sequence.generate_state(1)[0])
    windows = data.windows(task["span"], task["hours"] or config.windows[0])
    if task["method"] == "dp_means":
        windows = [np.concatenate(windows)]
    return windows, *_METHODS[task["method"]](data, task, windows, seed)


def follow_flows(
    data: AircraftData, setting: Mapping[str, Any], windows: list[IntArray], feature: str, seed: int
) -> tuple[list[IntArray], float]:
    """Run Dynamic Means; return the labels of each window and the processor time."""
    model = DynamicMeans(
        setting["new_penalty"],
        max_gap=setting["max_gap"],
        reach=setting["reach"],
        n_init=N_INIT,
        search="paper",
        n_threads=1,
        random_state=seed,
    )
    batches = [data.features[feature][rows] for rows in windows]
    started = time.thread_time()
    labels, _ = model.fit_sequence(batches)
    return labels, time.thread_time() - started


def _follow(
    data: AircraftData, task: Mapping[str, Any], windows: list[IntArray], seed: int
) -> tuple[list[IntArray], float]:
    return follow_flows(data, task, windows, task["feature"], seed)


def _cluster(
    data: AircraftData, task: Mapping[str, Any], windows: list[IntArray], seed: int
) -> tuple[list[IntArray], float]:
    model = DPMeans(
        task["new_penalty"], n_init=N_INIT, search="paper", n_threads=1, random_state=seed
    )
    points = data.features[task["feature"]][windows[0]]
    started = time.thread_time()
    labels = model.fit(points).labels_
    return [labels], time.thread_time() - started


def _sample(
    data: AircraftData, task: Mapping[str, Any], windows: list[IntArray], seed: int
) -> tuple[list[IntArray], float]:
    points = data.features[task["feature"]]
    closest = _ClosestOfLabeled(
        [data.scored[rows] for rows in windows], [data.confidences[rows] for rows in windows]
    )
    setting = {name: task[name] for name in SETTING_NAMES if task.get(name) is not None}
    carried_sample = closest if task["choice"] == HANDICAP else "best"
    model = mixture(setting, points.mean(axis=0), seed, carried_sample)
    batches = [points[rows] for rows in windows]
    started = time.thread_time()
    labels, _ = model.fit_sequence(batches)
    return labels, time.thread_time() - started - closest.seconds


class _ClosestOfLabeled:
    """The paper's handicap where only some flights of a window have labels, of some confidence."""

    def __init__(self, true: list[IntArray], confidences: list[FloatArray]) -> None:
        rows = [
            np.flatnonzero((labels >= 0) & (weights > 0))
            for labels, weights in zip(true, confidences, strict=True)
        ]
        self._rows = iter(rows)
        self._closest = ClosestToTruth(
            [t[r] for t, r in zip(true, rows, strict=True) if len(r)],
            weights=[w[r] for w, r in zip(confidences, rows, strict=True) if len(r)],
        )

    @property
    def seconds(self) -> float:
        return self._closest.seconds

    def __call__(self, samples: IntArray) -> Any:
        rows = next(self._rows)
        if not len(rows):
            return np.zeros(len(samples))
        return self._closest(samples[:, rows])


_METHODS = {"dynamic_means": _follow, "dp_means": _cluster, "gibbs": _sample}
