"""Time of the whole tracking report: a million labeled points over 1,000 steps.

Run with ``python -m benchmarks.quality.score_labels``; ends with an error above the limit.
"""

import argparse
import time

import numpy as np

from dynmeans.metrics import tracking_report
from dynmeans.records.arrays import IntArray

N_STEPS = 1_000
N_POINTS = 1_000  # in each step
N_CLUSTERS = 50  # alive in each step
DEATH = 0.05  # a cluster dies, and another is born, with this probability in each step
SWITCH = 0.02  # a found cluster gets a new identity
MISLABELED = 0.05  # share of points in the cluster of another
LIMIT_S = 5.0


def make_streams(rng: np.random.Generator) -> tuple[list[IntArray], list[IntArray]]:
    """True and found labels with a few thousand identities over time."""
    true_ids, found_ids = np.arange(N_CLUSTERS), np.arange(N_CLUSTERS)
    true, found = [], []
    for _ in range(N_STEPS):
        has_died = rng.random(N_CLUSTERS) < DEATH
        true_ids = _renew(true_ids, has_died)
        found_ids = _renew(found_ids, has_died | (rng.random(N_CLUSTERS) < SWITCH))
        members = rng.integers(N_CLUSTERS, size=N_POINTS)
        others = rng.integers(N_CLUSTERS, size=N_POINTS)
        is_mislabeled = rng.random(N_POINTS) < MISLABELED
        true.append(true_ids[members])
        found.append(found_ids[np.where(is_mislabeled, others, members)])
    return true, found


def _renew(ids: IntArray, is_new: np.ndarray) -> IntArray:
    """Give the clusters that are new an identity never used before; each place has its own row."""
    return np.where(is_new, ids + N_CLUSTERS, ids)


def main() -> None:
    """Time the report, print its scores, and fail above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the slowest counts")
    repeats = parser.parse_args().repeats
    true, found = make_streams(np.random.default_rng(0))
    n_ids = [len(np.unique(np.concatenate(labels))) for labels in (true, found)]
    print(f"{N_STEPS * N_POINTS:,} points, {N_STEPS:,} steps")
    print(f"{n_ids[0]:,} true and {n_ids[1]:,} found identities")
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        report = tracking_report(true, found)
        seconds.append(time.perf_counter() - start)
    for name, score in report.items():
        print(f"{name:<17} {score:.6g}")
    print(f"time: {max(seconds):.2f} s (all runs: {', '.join(f'{s:.2f}' for s in seconds)})")
    if max(seconds) > LIMIT_S:
        raise SystemExit(f"too slow: {max(seconds):.2f} s, the limit is {LIMIT_S:.0f} s.")


if __name__ == "__main__":
    main()
