"""Time per pass of the engine, beside one call of scikit-learn's nearest-center search.

Run as ``python benchmarks/engine.py`` (``make bench``): one process, one thread. Each figure is
a ratio of times taken one after the other in the same run; absolute times depend on the machine.
"""

import argparse
import time

import numpy as np
from cases import CASES, Case
from sklearn.metrics import pairwise_distances_argmin_min
from threadpoolctl import threadpool_limits

from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians

# What the authors' C++ reaches: time per pass over one call of scikit-learn.
TO_REACH = {"A": 0.6, "B": 1.1, "C": 0.75, "D": 2.2, "E": 1.8}


def time_case(case: Case, repeats: int) -> None:
    """Print one line: both times, and the median of their ratio over the repeats."""
    batches = case.batches()
    ours, theirs, n_passes = [], [], 0
    for _ in range(repeats):
        state, n_passes, spent = ClusterState.empty(case.n_features), 0, 0.0
        for points, order in batches:
            start = time.process_time()
            state, clustering = step(points, state, case.penalties, orders=order[None, :])
            spent += time.process_time() - start
            n_passes += clustering.n_iter
        ours.append(spent / n_passes)
        start = time.process_time()
        pairwise_distances_argmin_min(points, clustering.centers)
        theirs.append(time.process_time() - start)
    ratio = np.median(np.array(ours) / np.array(theirs))
    print(
        f"{case.name}  N={case.n_points:<8} K={len(clustering.ids):<5} d={case.n_features:<4} "
        f"{n_passes:>3} passes  {np.median(ours) * 1e3:9.2f} ms/pass  "
        f"sklearn {np.median(theirs) * 1e3:9.2f} ms  ratio {ratio:6.3f}  "
        f"(to reach {TO_REACH[case.name]})",
        flush=True,
    )


def time_small_step(repeats: int = 2000) -> None:
    """Print the time of one step of 75 points, 5 clusters, 3 orders."""
    rng = np.random.default_rng(0)
    stream = moving_gaussians(n_steps=100, n_clusters=5, rng=rng)
    penalties, state = Penalties(0.04, max_gap=6.8, reach=1.01), ClusterState.empty(2)
    steps = []
    for points in stream.batches:
        orders = np.array([rng.permutation(len(points)) for _ in range(3)])
        steps.append((points, state, orders))
        state, _ = step(points, state, penalties, orders=orders)
    start = time.process_time()
    for i in range(repeats):
        points, before, orders = steps[i % len(steps)]
        step(points, before, penalties, orders=orders)
    spent = (time.process_time() - start) / repeats
    print(f"one step, 75 points, d=2, 5 clusters, 3 orders: {spent * 1e6:.1f} us through step()")


def main() -> None:
    """Run the cases named on the command line, all by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="ABCDE")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    with threadpool_limits(1):
        for case in CASES:
            if case.name in options.cases:
                time_case(case, options.repeats)
        time_small_step()


if __name__ == "__main__":
    main()
