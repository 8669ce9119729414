"""Identities kept where clusters keep a course, where they wander, on ships and in a crowd.

Run as ``python -m benchmarks.quality.motion``. Parameters are chosen without labels on the first
batches; the share of rows that keep their identity is global tracking accuracy on all. Beside still
and steady motion: the motion that `suggest_penalties` chooses, velocity as more features, a Kalman
tracker with Hungarian matching fed with clusters of each batch, and MiniBatchKMeans, K given. Also
the time of a step with either motion, in one run. Writes benchmarks/results/quality/motion.json.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.machine import machine, write_results
from benchmarks.quality.kalman_tracker import track_batches
from benchmarks.quality.motion_streams import (
    SPEEDS,
    WANDERS,
    Stream,
    crossing_stream,
    walking_groups,
    wandering_stream,
)
from benchmarks.quality.ships import SHIPS, WINDOWS, read_ships
from dynmeans import ClusterState, Penalties, VisitingOrders, step, suggest_penalties
from dynmeans.metrics import accuracy_global
from dynmeans.records.arrays import FloatArray, IntArray

N_CHOSEN_ON = {"crossing": 30, "wandering": 30, "walking groups": 60, "ships": 120}
TO_REACH = {
    "crossing": 0.15,
    "wandering": -0.01,
    "walking groups": 0.65,
    "ships": 0.0,
    "time": 1.05,
}


def main() -> None:
    """Measure and print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=4)
    n_seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")  # of doubtful choices
    rows = []
    for kind, name, stream in streams(n_seeds):
        row = {"kind": kind, "stream": name, **scores(stream, N_CHOSEN_ON[kind])}
        rows.append(row)
        print(f"{kind}, {name}: {_shown(row)}", flush=True)
    times = step_times()
    summary = summarize(rows) | {"steady over still, time of a step": times}
    for name, value in summary.items():
        print(f"{name}: {value}")
    write_results("quality/motion", {"machine": machine(), "summary": summary, "rows": rows})


def streams(n_seeds: int) -> Iterator[tuple[str, str, Stream]]:
    """Yield the kind, the name and the batches with their truth."""
    for seed in range(100, 100 + n_seeds):
        for speed in SPEEDS:
            yield "crossing", f"speed {speed} seed {seed}", crossing_stream(seed, speed)
        for wander in WANDERS:
            yield "wandering", f"wander {wander} seed {seed}", wandering_stream(seed, wander)
        for arrivals in (0.06, 0.12, 0.2):
            name = f"{arrivals} a frame seed {seed}"
            yield "walking groups", name, walking_groups(seed, arrivals=arrivals)
    if SHIPS["ships, Virginia"].exists():
        WINDOWS["ships, Virginia"] = "2min"
        yield "ships", "Virginia, two minutes", read_ships("ships, Virginia")


def scores(stream: Stream, n_chosen_on: int) -> dict[str, Any]:
    """Score every way on one stream."""
    batches, truth = stream
    chosen = suggest_penalties(batches[:n_chosen_on])
    ways: dict[str, Callable[[], list[IntArray]]] = {
        "still": lambda: follow(batches, n_chosen_on, "random_walk"),
        "steady": lambda: follow(batches, n_chosen_on, "constant_velocity"),
        "velocity as features": lambda: follow(with_velocity(batches), n_chosen_on, "random_walk"),
        "Kalman, Hungarian": lambda: track_batches(batches, chosen.new_penalty, chosen.max_gap),
        "MiniBatchKMeans, K given": lambda: mini_batches(batches, truth),
    }
    found: dict[str, Any] = {
        name: accuracy_global(truth, labels()) for name, labels in ways.items()
    }
    return found | {"chosen": found[chosen.motion], "motion": chosen.motion}


def follow(batches: list[FloatArray], n_chosen_on: int, motion: str) -> list[IntArray]:
    """Choose on the first batches, and follow all."""
    p = suggest_penalties(batches[:n_chosen_on], motion=motion)
    state, labels = ClusterState.empty(batches[0].shape[1]), []
    for points in batches:
        state, found = step(points, state, p, orders=VisitingOrders(7, 3))
        labels.append(np.asarray(found.labels))
    return labels


def with_velocity(batches: list[FloatArray]) -> list[FloatArray]:
    """Add how far each point is from the nearest one of the batch before."""
    made, before = [], batches[0]
    for points in batches:
        away = np.zeros_like(points)
        if len(points) and len(before):
            nearest = NearestNeighbors(n_neighbors=1).fit(before).kneighbors(points)[1][:, 0]
            away = points - before[nearest]
        made.append(np.hstack([points, away]))
        before = points
    return made


def mini_batches(batches: list[FloatArray], truth: list[IntArray]) -> list[IntArray]:
    """Tell it how many clusters a batch has at most."""
    n_clusters = max(len(np.unique(labels)) for labels in truth)
    n_clusters = min(n_clusters, max(map(len, batches)))
    model, labels = MiniBatchKMeans(n_clusters, random_state=0, n_init=3), []
    waiting: list[FloatArray] = []  # the first call needs as many points as clusters
    for points in batches:
        waiting.append(points)
        if sum(map(len, waiting)) >= n_clusters:
            model.partial_fit(np.vstack(waiting))
            labels += [model.predict(rows) if len(rows) else np.empty(0, int) for rows in waiting]
            waiting = []
    return labels + [np.zeros(len(points), dtype=int) for points in waiting]


def step_times(n_rounds: int = 15) -> dict[str, float]:
    """Ratio of the time of a step, the smallest of many rounds taken in turn."""
    sizes = {"100 points": (8, 12), "20,000 points": (200, 100), "200,000 points": (1000, 200)}
    ratios = {}
    for name, (n_clusters, n_points) in sizes.items():
        batches = _moving_blobs(n_clusters, n_points)
        best = dict.fromkeys(("still", "steady"), np.inf)
        for _ in range(n_rounds):
            for motion in best:
                best[motion] = min(best[motion], _time(batches, motion))
        ratios[name] = best["steady"] / best["still"]
    return ratios


def _moving_blobs(n_clusters: int, n_points: int) -> list[FloatArray]:
    rng = np.random.default_rng(0)
    places = 12.0 * np.stack(np.divmod(np.arange(n_clusters), int(n_clusters**0.5)), axis=1)
    return [
        np.repeat(places + 0.5 * t, n_points, axis=0) + rng.normal(size=(n_clusters * n_points, 2))
        for t in range(4)
    ]


def _time(batches: list[FloatArray], motion: str) -> float:
    penalties = Penalties(25.0, max_gap=6.8, reach=1.2, motion=motion)
    state, _ = step(batches[0], ClusterState.empty(2), penalties, orders=VisitingOrders(7, 1))
    n_repeats = max(1, 2000 // len(batches[0]))
    begin = time.perf_counter()
    for _ in range(n_repeats):
        after = state
        for points in batches[1:]:
            after, _ = step(points, after, penalties, orders=VisitingOrders(7, 1), n_threads=1)
    return time.perf_counter() - begin


def summarize(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Median gain of the chosen motion over still, and the worst, for each kind."""
    summary: dict[str, Any] = {}
    for kind in N_CHOSEN_ON:
        of_kind = [row for row in rows if row["kind"] == kind]
        if not of_kind:
            continue
        gains = [row["chosen"] - row["still"] for row in of_kind]
        names = [name for name, value in of_kind[0].items() if isinstance(value, float)]
        summary[kind] = {
            "median gain over still": float(np.median(gains)),
            "worst gain over still": float(np.min(gains)),
            "to reach": TO_REACH[kind],
            **{name: float(np.median([row[name] for row in of_kind])) for name in names},
        }
    return summary


def _shown(row: dict[str, Any]) -> str:
    values = (f"{n} {v:.3f}" for n, v in row.items() if isinstance(v, float))
    return ", ".join(values) + f" ({row['motion']})"


if __name__ == "__main__":
    main()
