"""The first trial of every row of Table 1 once more: errors over flights, and times in turns.

Run as ``python -m paper.studies.first_trials`` where the flights are beside the repository. All
methods on the same flights follow one another in one process, so that whatever else the machine
does falls on all of them; a trial that is over in a moment is timed over several. The scored
flights are then drawn anew with replacement 200 times, the same draws for all rows of a span, and
true and found flows are matched in every draw (a bootstrap; clustering itself is not repeated).
Writes paper/results/first_trials.parquet.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from dynmeans.records.arrays import FloatArray, IntArray
from paper.aircraft.config import AircraftConfig
from paper.aircraft.data import AircraftData, prepare_data
from paper.aircraft.settings import SETTING_NAMES
from paper.aircraft.trial import cluster_flights
from paper.results_file import RESULTS, Results, Row, read_results
from paper.studies.rows import run_study

EXPERIMENT = "first_trials"
FILES = {"real": "aircraft-real", "simulated": "aircraft-simulated"}
N_DRAWS = 200
MAX_RUNS, LONG = 5, 0.5  # of one trial; seconds after which it is not run again
ROW = ("span", "feature", "hours", "method", "choice", "origin")
KEY = ("data", *ROW)
SCHEMA = pa.schema(
    [
        *(("data", pa.string()), ("span", pa.string()), ("feature", pa.string())),
        *(("hours", pa.float64()), ("method", pa.string())),
        *(("choice", pa.string()), ("origin", pa.string())),
        ("accuracy", pa.float64()),
        ("cpu_s", pa.float64()),  # processor time of the clustering, one thread
        ("drawn", pa.list_(pa.float32())),  # accuracy in every draw
    ]
)


@cache
def committed(data: str) -> Results:
    """Return the committed rows of Table 1."""
    return read_results(RESULTS / f"{FILES[data]}.parquet", "aircraft")


def tasks() -> list[Row]:
    """Return the first trial of every row of both tables, those on the same flights in a row."""
    place = ["feature", "span", "origin", "hours", "method", "choice"]
    return [
        {"data": data, **row}
        for data in FILES
        for row in committed(data)
        .frame.query("trial == 0")
        .sort_values(place, ascending=[False, *[True] * 5])
        .to_dict("records")
    ]


def run(task: Row) -> dict[str, Any]:
    """Return accuracy and time of one trial, and the accuracy in every draw of its flights."""
    config, data = flights_of(task["data"])
    setting = {name: task[name] for name in SETTING_NAMES if not np.isnan(task[name])}
    trial = {**{name: task[name] for name in ROW}, **setting, "trial": 0}
    seconds: list[float] = []
    while len(seconds) < MAX_RUNS and sum(seconds) < LONG:
        windows, labels, took = cluster_flights(config, data, trial)
        seconds.append(took)
    rows, found = np.concatenate(windows), np.concatenate(labels)
    is_scored = data.scored[rows] >= 0
    true, found = data.scored[rows][is_scored], found[is_scored]
    weights = data.confidences[rows][is_scored]
    return {
        **{name: task[name] for name in KEY},
        "accuracy": accuracy(true, found, weights),
        "cpu_s": float(f"{np.mean(seconds):.3g}"),
        "drawn": [accuracy(true, found, weights * times) for times in draws(len(true))],
    }


def draws(n_flights: int) -> IntArray:
    """Return how many times each flight is drawn, a row for each draw."""
    rng = np.random.default_rng(n_flights)
    return rng.multinomial(n_flights, np.full(n_flights, 1 / n_flights), size=N_DRAWS)


def accuracy(true: IntArray, found: IntArray, weights: FloatArray) -> float:
    """Return the share of the weight that the best one-to-one match of labels makes correct."""
    found_ids, cols = np.unique(found, return_inverse=True)
    shape = (int(true.max()) + 1, len(found_ids))
    cells = np.bincount(true * shape[1] + cols, weights, minlength=shape[0] * shape[1])
    table = cells.reshape(shape)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / weights.sum())


@cache
def flights_of(data: str) -> tuple[AircraftConfig, AircraftData]:
    """Return what the committed rows are of, and the flights themselves."""
    given = committed(data).configuration
    config = AircraftConfig(**{**given, "area": tuple(given["area"])})
    return config, prepare_data(config, cache=RESULTS / "cache", n_jobs=1)


def is_there(data: str) -> bool:
    """Whether the messages are beside the repository, or simulated."""
    messages = committed(data).configuration["messages"]
    return messages is None or Path(messages).exists()


if __name__ == "__main__":
    chosen = [task for task in tasks() if is_there(str(task["data"]))]
    about = {"n_draws": N_DRAWS}
    run_study(EXPERIMENT, run, chosen, schema=SCHEMA, key=KEY, configuration=about)
