"""What following a stream of small batches costs beside the bare steps: ratios, taken in turns.

Usage: python -m benchmarks.engine.small_batches

All ways take in the same batches of 75 points, 5 clusters, by the same 3 visiting orders and the
same search, turn by turn in one process, so that another load on the machine slows all alike. The
authors' program is not run: its figures elsewhere are constants.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dynmeans import ClusterState, DynamicMeans, Penalties, VisitingOrders, step
from dynmeans.datasets.moving_gaussians import moving_gaussians

TO_REACH = {"partial_fit": 1.2, "fit_sequence": 0.9}  # times a step


def measure(n_turns: int) -> dict[str, float]:
    """Return the median microseconds of a batch in each way."""
    batches = moving_gaussians(100, 5, rng=np.random.default_rng(0)).batches
    penalties = Penalties(0.04, max_gap=6.8, reach=1.01)
    whole = DynamicMeans(penalties, random_state=0)
    model = DynamicMeans(penalties, random_state=0).partial_fit(batches[0])
    orders = VisitingOrders(model.memory_.seed, model.n_init, search=model.search)

    def steps() -> None:
        state = ClusterState.empty(2)
        for points in batches:
            state, _ = step(points, state, penalties, orders=orders)

    ways: dict[str, Callable[[], Any]] = {
        "step": steps,
        "partial_fit": lambda: [model.partial_fit(points) for points in batches],
        "fit_sequence": lambda: whole.fit_sequence(batches),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(n_turns):
        for name, way in ways.items():
            began = time.process_time()
            way()
            spent[name].append((time.process_time() - began) * 1e6 / len(batches))
    return {name: float(np.median(times)) for name, times in spent.items()}


def main() -> None:
    """Print microseconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=201)
    spent = measure(parser.parse_args().turns)
    for name, microseconds in spent.items():
        ratio = microseconds / spent["step"]
        aim = f", at most {TO_REACH[name]}" if name in TO_REACH else ""
        print(f"{name:<13} {microseconds:6.2f} us a batch, {ratio:.2f} times a step{aim}")


if __name__ == "__main__":
    main()
