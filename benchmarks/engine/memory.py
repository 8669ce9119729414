"""Memory of one step beyond its input, in bytes a point, on a large batch of float32 points.

Run as ``python -m benchmarks.engine.memory``; ``--points 100_000_000`` needs a machine of 24 GB.
The highest resident memory of the process is read before and after the step; the visiting order is
made inside it. Writes benchmarks/results/engine/memory.json.
"""

import argparse
import resource
import time

import numpy as np

from benchmarks.machine import machine, write_results
from dynmeans import ClusterState, Penalties, step
from dynmeans.records.orders import VisitingOrders

TO_REACH = 32.0  # bytes a point beyond the input
N_CLUSTERS, SPREAD, PENALTY = 100, 0.06, 0.25
CHUNK = 1_000_000


def made_points(n_points: int) -> np.ndarray:
    """Points around centers that are kept apart, made in chunks: no array is larger than theirs."""
    rng = np.random.default_rng(0)
    centers = np.stack(np.unravel_index(np.arange(N_CLUSTERS), (10, 10)), axis=1)
    points = np.empty((n_points, 2), dtype=np.float32)
    for begin in range(0, n_points, CHUNK):
        part = points[begin : begin + CHUNK]
        part[:] = centers[rng.integers(N_CLUSTERS, size=len(part))]
        part += SPREAD * rng.standard_normal(part.shape, dtype=np.float32)
    return points


def highest_bytes() -> int:
    """Highest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Cluster one batch and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=10_000_000)
    options = parser.parse_args()
    points = made_points(options.points)
    before, start = highest_bytes(), time.perf_counter()
    penalties = Penalties(PENALTY, max_gap=6.8, reach=1.01)
    orders = VisitingOrders(seed=0)
    _, clustering = step(points, ClusterState.empty(2), penalties, orders=orders)
    seconds = time.perf_counter() - start
    beyond = (highest_bytes() - before) / options.points
    print(
        f"{options.points:,} points, {len(clustering.ids)} clusters, {clustering.n_iter} passes, "
        f"{seconds:.1f} s: {beyond:.1f} bytes a point beyond the input "
        f"({'reached' if beyond <= TO_REACH else 'NOT REACHED'}: {TO_REACH:g})"
    )
    figures = {"n_points": options.points, "bytes_a_point": beyond}
    figures |= {"seconds": seconds, "n_passes": clustering.n_iter, "to_reach": TO_REACH}
    write_results("engine/memory", {"machine": machine(), "figures": figures})


if __name__ == "__main__":
    main()
