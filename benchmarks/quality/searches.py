"""Algorithm 2 and the deeper search: identities kept over lambda and n_init, and what a step costs.

Run as ``python -m benchmarks.quality.searches``. Streams of thirteen kinds (`suggest_streams`,
seeds that nothing was developed on) are clustered at eight lambdas with either search and 1, 3 or
10 visiting orders, the memory fixed; ``--times 10`` gives every cluster ten times its points. Then
whole steps of the measured cases and of small batches, both searches in turns in one process, so
that the ratios hold on a busy machine too. Writes benchmarks/results/quality/searches.json.
"""

import argparse
import time
from typing import Any

import numpy as np

from benchmarks.engine.cases import CASES, Case
from benchmarks.machine import machine, write_results
from benchmarks.quality.suggest_streams import FAMILIES, TestStream, make_stream
from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.batch import Batch
from dynmeans.engine.sequence import step_sequence
from dynmeans.metrics import accuracy_global

MULTIPLES = (1, 2, 4, 8, 16, 32, 64, 128)  # lambda over the variance of a move
AROUND = (-1, 0, 1, 2, 3)  # octaves from the best lambda of a stream
FIRST_SEED, N_STEPS = 3000, 30
SEARCHES = ("paper", "deep")


def keep_identities(
    streams: list[TestStream], search: str, n_init: int
) -> tuple[list[list[float]], float]:
    """Return accuracy by stream and lambda, and the time of all runs."""
    scores, seconds = [], 0.0
    for stream in streams:
        batches, row = [Batch(points) for points in stream.batches], []
        for multiple in MULTIPLES:
            penalties = Penalties(stream.unit * multiple, max_gap=6.8, reach=1.2)
            orders, gaps = VisitingOrders(7, n_init, search=search), [1.0] * len(batches)
            began = time.process_time()
            found = [c.labels for _, c in step_sequence(batches, penalties, orders, gaps)]
            seconds += time.process_time() - began
            row.append(accuracy_global(stream.labels, found))
        scores.append(row)
    return scores, seconds


def around_the_best(scores: list[list[float]]) -> list[float]:
    """Return the mean accuracy at lambda x 1/2, 1, 2, 4 and 8 of each stream's own best."""
    found, last = np.array(scores), len(MULTIPLES) - 1
    best = found.argmax(axis=1)
    rows = np.arange(len(found))
    return [float(found[rows, np.clip(best + o, 0, last)].mean()) for o in AROUND]


def measure_identities(n_seeds: int, times: int) -> list[dict[str, Any]]:
    """Return a row for each search and number of orders."""
    streams = [
        make_stream(family, FIRST_SEED + seed, N_STEPS, times)
        for family in FAMILIES
        for seed in range(n_seeds)
    ]
    rows = []
    for search in SEARCHES:
        for n_init in (1, 3, 10):
            scores, seconds = keep_identities(streams, search, n_init)
            around = around_the_best(scores)
            row = {
                "search": search,
                "n_init": n_init,
                "times": times,
                "n_streams": len(streams),
                "by_lambda": np.mean(scores, axis=0).round(3).tolist(),
                "around_the_best": np.round(around, 3).tolist(),
                "mean": round(float(np.mean(around)), 3),
                "seconds": round(seconds, 2),
            }
            print(search, n_init, row["by_lambda"], row["around_the_best"], row["mean"], seconds)
            rows.append(row)
    return rows


def step_ratio(case: Case, n_turns: int, factor: float = 1.0) -> dict[str, Any]:
    """Time whole steps with either search in turns, one order each; the middle of the ratios."""
    batches, lam = case.batches(), case.penalties.new_penalty * factor
    penalties = Penalties(lam, max_gap=6.8, reach=1.01)
    took: dict[str, list[float]] = {search: [] for search in SEARCHES}
    clusters: dict[str, int] = {}
    for _ in range(n_turns):
        for search in SEARCHES:
            state = ClusterState.empty(case.n_features)
            began = time.process_time()
            for points, order in batches:
                state, found = step(
                    points, state, penalties, orders=order[None, :], search=search, n_threads=1
                )
                clusters[search] = len(found.ids)
            took[search].append(time.process_time() - began)
    ratios = np.array(took["deep"]) / np.array(took["paper"])
    row = {"case": case.name, "factor": factor, "ratio": round(float(np.median(ratios)), 3)}
    row |= {"seconds": min(took["paper"]), "clusters": clusters}
    print(row)
    return row


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--times", type=int, nargs="*", default=[1, 10])
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    rows = [row for times in asked.times for row in measure_identities(asked.seeds, times)]
    cases = [case for case in CASES if " " not in case.name]
    steps = [step_ratio(Case("small", 75, 5, 2), 200)]
    steps += [step_ratio(case, asked.turns) for case in cases]
    steps.append(step_ratio(CASES[1], 1, factor=16.0))
    write_results("quality/searches", {**machine(), "identities": rows, "steps": steps})


if __name__ == "__main__":
    main()
