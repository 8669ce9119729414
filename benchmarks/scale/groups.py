"""Many small streams: fit_groups beside a Python loop over estimators, in the same run.

Run as ``python -m benchmarks.scale.groups``. 100,000 streams of 50 points each, as one batch or as
five; the loop takes the first 10,000 of them, one estimator each, from arrays cut beforehand, and
its time is scaled up. Times are processor time of one thread, so that a busy machine does not
matter; with all cores the call is shorter still. Writes benchmarks/results/scale/groups.json.
"""

import argparse
import sys
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.engine.cases import N_CORES, timed
from benchmarks.machine import machine
from benchmarks.machine import write_results as write
from dynmeans import DynamicMeans, fit_groups
from dynmeans.groups.key_seeds import key_seed

TO_REACH = 20.0  # times as fast as the loop
N_POINTS = 50


def make_table(n_streams: int, n_batches: int, seed: int = 0) -> pa.Table:
    """Three blobs for every stream; rows come in the order of time, all streams mixed."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n_streams, 3, 2)) * 3
    key = np.repeat(np.arange(n_streams), N_POINTS)
    batch = np.tile(np.repeat(np.arange(n_batches), N_POINTS // n_batches), n_streams)
    points = places[key, rng.integers(3, size=len(key))] + 0.2 * rng.normal(size=(len(key), 2))
    order = np.argsort(batch + rng.random(len(key)))
    columns = {"key": key, "batch": batch, "x": points[:, 0], "y": points[:, 1]}
    return pa.table({name: values[order] for name, values in columns.items()})


def cut(table: pa.Table, n_streams: int) -> list[list[Any]]:
    """Cut the batches of the first streams out of the table, and their rows."""
    columns = {name: table[name].to_numpy() for name in table.column_names}
    rows = np.flatnonzero(columns["key"] < n_streams)
    rows = rows[np.lexsort((rows, columns["batch"][rows], columns["key"][rows]))]
    points = np.column_stack([columns["x"], columns["y"]])
    streams: list[list[Any]] = [[] for _ in range(n_streams)]
    ends = np.flatnonzero(np.diff(columns["key"][rows]) | np.diff(columns["batch"][rows])) + 1
    for part in np.split(rows, ends):
        streams[int(columns["key"][part[0]])].append((part, points[part]))
    return streams


def loop(streams: list[list[Any]]) -> list[DynamicMeans]:
    """Fit one estimator for each stream, batch after batch."""
    models = []
    for key, batches in enumerate(streams):
        model = DynamicMeans(new_penalty=4.0, random_state=key_seed(0, key))
        for _, points in batches:
            model.partial_fit(points)
        models.append(model)
    return models


def measure(n_streams: int, n_loop: int, n_batches: int) -> dict[str, Any]:
    """Time both on the same rows, and compare what they find."""
    table = make_table(n_streams, n_batches)
    options: dict[str, Any] = {"by": "key", "batch": "batch", "new_penalty": 4.0, "random_state": 0}
    fit_groups(table.slice(0, 1000), **options, n_threads=1)
    result, ours = timed(lambda: fit_groups(table, **options, n_threads=1))
    _, threads = timed(lambda: fit_groups(table, **options, n_threads=N_CORES))
    streams = cut(table, n_loop)
    models, theirs = timed(lambda: loop(streams))
    same = sum(result.states[key] == model.state_ for key, model in enumerate(models))
    rows_of_last = [batches[-1][0] for batches in streams]
    same_labels = sum(
        bool(np.array_equal(result.labels[rows], model.labels_))
        for rows, model in zip(rows_of_last, models, strict=True)
    )
    scaled = theirs.cpu * n_streams / n_loop
    return {
        "n_streams": n_streams,
        "n_batches": n_batches,
        "n_loop": n_loop,
        "seconds": ours.cpu,
        "seconds_all_cores_wall": threads.wall,
        "loop_seconds": scaled,
        "times_as_fast": scaled / ours.cpu,
        "equal_states": same,
        "equal_last_labels": same_labels,
    }


def main() -> int:
    """Print one line for each case; fail where the aim is missed or a stream differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--loop", type=int, default=10_000)
    arguments = parser.parse_args()
    results: dict[str, Any] = {"machine": machine(), "to_reach": TO_REACH, "cases": []}
    for n_batches in (1, 5):
        found = measure(arguments.streams, arguments.loop, n_batches)
        results["cases"].append(found)
        print(
            f"{found['n_streams']} streams of {n_batches} batches: {found['seconds']:.2f} s, "
            f"loop {found['loop_seconds']:.1f} s: {found['times_as_fast']:.1f} times as fast "
            f"(to reach {TO_REACH:g}); {found['equal_states']} of {found['n_loop']} states equal",
            flush=True,
        )
    write("scale/groups", results)
    is_good = all(
        case["times_as_fast"] >= TO_REACH
        and case["equal_states"] == case["equal_last_labels"] == case["n_loop"]
        for case in results["cases"]
    )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
