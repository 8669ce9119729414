"""What each acceleration of the engine brings: its time left out over the time with all of them.

Run as ``python -m benchmarks.engine.ablation``. Each ratio is the least processor time of a case
with one acceleration left out over the least with all, taken in turns in one process; with more
threads, the least time by the clock. No result depends on any of them
(native/records/accelerations.hpp). One that brings less than 10 % on every case is to be deleted.
Adds to benchmarks/results/engine/ablation.json, from which ``benchmarks/pages/speed_tables.py``
fills a table of benchmarks/results/tables/engine.md.
"""

import argparse
import json
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.engine.cases import CASES, Case, run_steps, timed
from benchmarks.engine.check import PENALTIES, small_batches
from benchmarks.machine import RESULTS, machine, write_results
from dynmeans import ClusterState, Penalties, step
from dynmeans.engine import native
from dynmeans.engine.compiled import INSTRUCTION_SET, INSTRUCTION_SETS
from dynmeans.records.orders import VisitingOrders

MORE = [
    Case("8 features", 100_000, 500, 8),
    Case("3 features", 100_000, 20, 3),
    Case("a crowd", 200_000, 10_000, 2),
    Case("6 clusters", 100_000, 6, 2, "apart"),
    Case("4 features", 100_000, 30, 4, "apart"),
]
SMALL = {"75 points": (75, 2), "300 points": (300, 2), "75 points in 8 features": (75, 8)}
# Hundreds of passes over every cluster would take minutes; "apart" tells as much.
WITHOUT_BOUNDS_TOO_SLOW = ("B", "C", "a crowd")
Work = Callable[[int], Any]


def works() -> dict[str, Callable[[], Work]]:
    """Return how to prepare each case; prepared, it is run with a number of threads."""
    large = {case.name: lambda case=case: prepare_large(case) for case in CASES + MORE}
    small = {name: lambda shape=shape: prepare_small(*shape) for name, shape in SMALL.items()}
    return {**large, "A with orders made": prepare_orders, **small}


def prepare_large(case: Case) -> Work:
    """Two steps in orders that are given."""
    batches = case.batches()
    return lambda n_threads: run_steps(case, batches, n_threads=n_threads)


def prepare_small(n_points: int, d: int) -> Work:
    """A hundred steps, three orders each."""
    return prepare_steps(small_batches(n_points, d), Penalties(0.04, **PENALTIES), 3)


def prepare_orders() -> Work:
    """Case A in an order that the engine makes."""
    return prepare_steps([points for points, _ in CASES[0].batches()], CASES[0].penalties, 1)


def prepare_steps(batches: list[Any], penalties: Penalties, n_init: int) -> Work:
    """Steps in orders that the engine makes."""
    orders = VisitingOrders(1, n_init)

    def run(n_threads: int) -> None:
        state = ClusterState.empty(batches[0].shape[1])
        for points in batches:
            state, _ = step(points, state, penalties, orders=orders, n_threads=n_threads)

    return run


def time_without(work: Work, names: list[str], n_threads: int, repeats: int) -> dict[str, float]:
    """Return the ratio of every acceleration, in turns."""
    spent: dict[str, list[float]] = {one: [] for one in ("", *names)}
    try:
        for _ in range(repeats):
            for one, times in spent.items():
                native.compiled.leave_out([one])
                taken = timed(lambda: work(n_threads), 0.02)[1]
                times.append(taken.cpu if n_threads == 1 else taken.wall)
    finally:
        native.compiled.leave_out([])
    return {one: min(spent[one]) / min(spent[""]) for one in names}


def measure(name: str, options: argparse.Namespace) -> None:
    """Take, print and keep the ratios of one case."""
    names = options.only.split(",") if options.only else native.compiled.acceleration_names()
    if name in WITHOUT_BOUNDS_TOO_SLOW:
        names = [one for one in names if one != "bounds"]
    found = time_without(works()[name](), names, options.threads, options.repeats)
    print(name, *(f"{one} {x:.2f}" for one, x in found.items()), flush=True)
    if options.quick:
        return
    path = RESULTS / "engine" / "ablation.json"
    results = json.loads(path.read_text()) if path.exists() else {"machine": {}, "ratios": {}}
    key = f"{options.instruction_set}, {options.threads} thread{'s'[: options.threads - 1]}"
    known = results["ratios"].get(key, {})
    rows = {**known, name: {**known.get(name, {}), **found}}
    kept = {case: rows[case] for case in works() if case in rows}
    write_results(
        "engine/ablation", {"machine": machine(), "ratios": {**results["ratios"], key: kept}}
    )


def main() -> None:
    """Measure the cases named on the command line, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(works()))
    parser.add_argument("--only", help="only these, separated by commas")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--instruction-set", default=INSTRUCTION_SET, choices=INSTRUCTION_SETS)
    parser.add_argument("--quick", action="store_true", help="writes nothing")
    options = parser.parse_args()
    module = INSTRUCTION_SETS[options.instruction_set]
    native.compiled = __import__(module, fromlist=["step"])
    with threadpool_limits(1):
        for name in options.cases.split(","):
            measure(name, options)


if __name__ == "__main__":
    main()
