"""A gate against slower code: ratios of times, compared with committed ones.

Run as ``python -m benchmarks.engine.check`` (``make bench-check``), in under two minutes. Every
figure is our time over that of a fixed piece of work in the same process, taken in turns: NumPy's
nearest centers for small batches, scikit-learn's for large ones. A figure above its committed value
by more than 15 % is measured again, and fails the check if it stays there. ``--write`` commits new
values for the instruction set at hand (benchmarks/results/engine/check.json).
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.engine.cases import CASES, run_steps, time_nearest, timed
from benchmarks.machine import RESULTS, machine, write_results
from dynmeans import ClusterState, DynamicMeans, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine.compiled import INSTRUCTION_SET
from dynmeans.records.arrays import FloatArray
from dynmeans.records.orders import VisitingOrders

SLACK = 1.15
ROUNDS = 4  # at most, for a figure that is too high
LARGE = ("A", "A apart", "C apart", "D", "E")
SMALL = [(75, 2), (10, 2), (300, 2), (75, 1), (75, 8)]  # points, features
PENALTIES = {"max_gap": 6.8, "reach": 1.01}
Ratio = Callable[[], float]


def small_batches(n_points: int, d: int) -> list[FloatArray]:
    """Return 100 batches of a moving stream with about 5 clusters."""
    rng = np.random.default_rng(0)
    made = moving_gaussians(n_steps=100, n_clusters=5, points_per_cluster=n_points // 5, rng=rng)
    more = [0.02 * rng.normal(size=(len(batch), max(d - 2, 0))) for batch in made.batches]
    pairs = zip(made.batches, more, strict=True)
    return [np.ascontiguousarray(np.hstack(pair)[:, :d]) for pair in pairs]


def nearest(points: FloatArray, centers: FloatArray) -> Any:
    """The fixed piece of work beside small batches: one line of NumPy."""
    return ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)


def small_works(n_points: int, d: int) -> dict[str, Callable[[], Any]]:
    """Return what is done with 100 small batches, by name."""
    batches, penalties = small_batches(n_points, d), Penalties(0.04, **PENALTIES)
    orders, state, states = VisitingOrders(1, 3), ClusterState.empty(d), []
    for points in batches:
        states.append(state)
        state, _ = step(points, state, penalties, orders=orders)
    weights = [np.full(len(points), 2.0) for points in batches]
    model = DynamicMeans(penalties, random_state=0)

    def steps(given: list[Any]) -> None:
        for y, before, w in zip(batches, states, given, strict=True):
            step(y, before, penalties, orders=orders, sample_weight=w)

    return {
        "step": lambda: steps([None] * len(batches)),
        "step with weights": lambda: steps(weights),
        "partial_fit": lambda: [model.partial_fit(points) for points in batches],
        "fit_sequence": lambda: model.fit_sequence(batches),
    }


def ratio_of_small(work: Callable[[], Any], repeats: int = 41) -> float:
    """Median ratio of `work` to 100 calls of the line of NumPy."""
    points, centers = small_batches(75, 2)[0], np.linspace(0.0, 1.0, 10).reshape(5, 2)
    ratios = []
    for _ in range(repeats):
        ours = timed(work)[1].cpu
        ratios.append(ours / timed(lambda: [nearest(points, centers) for _ in range(100)])[1].cpu)
    return float(np.median(ratios))


def ratio_of_large(name: str, repeats: int = 3) -> float:
    """Median ratio of two steps of a case to one call of scikit-learn."""
    case = next(case for case in CASES if case.name == name)
    batches = case.batches()
    centers, ratios = run_steps(case, batches, n_threads=1).centers, []
    for _ in range(repeats):
        ours = timed(lambda: run_steps(case, batches, n_threads=1), 0.05)[1].cpu
        ratios.append(ours / time_nearest(batches[-1][0], centers).cpu)
    return float(np.median(ratios))


def figures() -> dict[str, Ratio]:
    """Return every figure by name, as a function that takes it."""
    found: dict[str, Ratio] = {}
    for n_points, d in SMALL:
        for what, work in small_works(n_points, d).items():
            found[f"{n_points} points, d={d}, {what}"] = lambda work=work: ratio_of_small(work)
    return found | {name: lambda name=name: ratio_of_large(name) for name in LARGE}


def take(figure: Ratio, committed: float | None) -> float:
    """Measure; again, where it is above its limit, keeping the lowest."""
    lowest = figure()
    for _ in range(ROUNDS - 1):
        if committed is None or lowest <= SLACK * committed:
            break
        lowest = min(lowest, figure())
    return lowest


def main() -> None:
    """Compare all figures with the committed ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="commit what is measured now")
    write, path = parser.parse_args().write, RESULTS / "engine" / "check.json"
    results = json.loads(path.read_text()) if path.exists() else {"ratios": {}, "machine": {}}
    committed = {} if write else results["ratios"].get(INSTRUCTION_SET, {})
    began, measured, slower = time.perf_counter(), {}, []
    with threadpool_limits(1):
        for name, figure in figures().items():
            before = committed.get(name)
            ratio = measured[name] = take(figure, before)
            change = (
                "" if before is None else f"  {ratio / before:5.2f} of the committed {before:.3g}"
            )
            print(f"{name:<36} {ratio:8.3f}{change}", flush=True)
            if before is not None and ratio > SLACK * before:
                slower.append(name)
    print(f"{len(measured)} figures in {time.perf_counter() - began:.0f} s, {INSTRUCTION_SET}")
    if write:
        results["ratios"][INSTRUCTION_SET] = measured
        results["machine"][INSTRUCTION_SET] = machine()
        write_results("engine/check", results)
    elif not committed:
        print(f"Nothing is committed for {INSTRUCTION_SET}: --write does that.")
    if slower:
        sys.exit(f"Slower by more than {SLACK - 1:.0%}: {', '.join(slower)}")


if __name__ == "__main__":
    main()
