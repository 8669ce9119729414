"""A step of long vectors, raw and on the sphere: time beside scikit-learn, and memory.

Run as ``python -m benchmarks.engine.vectors``. 10,000 rows of float32 with 384 or 1,024 features in
300 clusters, two steps of a moving stream, one visiting order, one thread, processor time; both
steps and one call of scikit-learn's nearest-center search on the same float32 rows take turns in
one process. The highest resident memory of a process of its own is read before and after one step
of ten times as many rows. Writes benchmarks/results/engine/vectors.json.
"""

import argparse
import json
import resource
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np

from benchmarks.engine.cases import time_nearest, timed
from benchmarks.machine import machine, write_results
from dynmeans import ClusterState, Penalties, step
from dynmeans.records.arrays import BatchArray, IntArray
from dynmeans.spaces.cosine import unit_rows

TO_REACH = 0.6  # calls for each step
N_POINTS, N_CLUSTERS, SPREAD, MOTION = 10_000, 300, 0.6, 0.2
WIDTHS, SPACES = (384, 1024), ("raw", "sphere")
_MANY = 10  # times the rows where memory is read


def penalties_of(space: str, d: int) -> Penalties:
    """Return lambda such that about as many clusters are found as there are."""
    is_raw = space == "raw"
    penalties = Penalties(0.95 * d if is_raw else 0.9, max_gap=6.8, reach=1.01)
    return penalties if is_raw else penalties.with_centers("sphere")


def made_batches(space: str, d: int, n_points: int, n_steps: int = 2) -> list[BatchArray]:
    """Return normal clusters that move; on the sphere their rows have length 1."""
    rng = np.random.default_rng(0)
    centers, batches = rng.normal(size=(N_CLUSTERS, d)), []
    for _ in range(n_steps):
        rows = rng.standard_normal((n_points, d), dtype=np.float32)
        rows *= SPREAD
        members = rng.integers(N_CLUSTERS, size=n_points)
        for begin in range(0, n_points, 1000):
            part = rows[begin : begin + 1000]
            part += centers[members[begin : begin + 1000]]
            if space == "sphere":
                part[:] = unit_rows(part)
        batches.append(rows)
        centers = centers + MOTION * rng.normal(size=centers.shape)
    return batches


def run_steps(space: str, batches: list[BatchArray], order: IntArray) -> tuple[Any, list[Any]]:
    """Cluster the batches one after the other."""
    d = batches[0].shape[1]
    state, found = ClusterState.empty(d), []
    for rows in batches:
        given = (rows, state, penalties_of(space, d))
        state, clustering = step(*given, orders=order, search="paper", n_threads=1)
        found.append(clustering)
    return state, found


def time_case(space: str, d: int, repeats: int) -> dict[str, Any]:
    """Medians over repeats in which our steps and scikit-learn's calls take turns."""
    batches = made_batches(space, d, N_POINTS)
    order = np.random.default_rng(1).permutation(N_POINTS)[None, :]
    _, found = run_steps(space, batches, order)
    centers = found[-1].centers.astype(np.float32)
    ours, theirs = [], []
    for _ in range(repeats):
        ours.append(timed(lambda: run_steps(space, batches, order), 0.05)[1].cpu / len(batches))
        theirs.append(time_nearest(batches[-1], centers).cpu)
    return {
        "space": space,
        "n_points": N_POINTS,
        "n_features": d,
        "n_found": len(found[-1].ids),
        "n_passes": sum(one.n_iter for one in found),
        "ms_per_step": 1e3 * float(np.median(ours)),
        "sklearn_ms": 1e3 * float(np.median(theirs)),
        "calls_per_step": float(np.median(np.array(ours) / np.array(theirs))),
        "to_reach": TO_REACH,
        **_memory(space, d),
    }


def _memory(space: str, d: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.engine.vectors", "--memory", space, str(d)]
    found: dict[str, float] = json.loads(subprocess.check_output(command))
    return found


def memory_of_step(space: str, d: int) -> dict[str, float]:
    """Bytes of a step beyond its rows, a row; those of a copy in float64 for comparison."""
    n_points = _MANY * N_POINTS
    (rows,) = made_batches(space, d, n_points, 1)
    order = np.arange(n_points)[None, :]
    run_steps(space, [rows[:2000]], order[:, :2000])  # load all
    before = _highest_bytes()
    run_steps(space, [rows], order)
    return {
        "rows_of_memory": n_points,
        "bytes_a_row": (_highest_bytes() - before) / n_points,
        "bytes_of_float64": 8.0 * d,
    }


def _highest_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Measure all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--memory", nargs=2, metavar=("SPACE", "FEATURES"))
    options = parser.parse_args()
    if options.memory:
        print(json.dumps(memory_of_step(options.memory[0], int(options.memory[1]))))
        return
    cases = []
    for d, space in product(WIDTHS, SPACES):
        cases.append(time_case(space, d, options.repeats))
        one = cases[-1]
        verdict = "reached" if one["calls_per_step"] <= TO_REACH else "NOT REACHED"
        print(
            f"{space:<6} d={d:<5} K={one['n_found']} {one['n_passes']} passes "
            f"{one['ms_per_step']:.1f} ms  scikit-learn {one['sklearn_ms']:.1f} ms  a step is "
            f"{one['calls_per_step']:.2f} calls ({verdict}), {one['bytes_a_row']:.0f} bytes a row "
            "beyond the input",
            flush=True,
        )
    write_results("engine/vectors", {"machine": machine(), "cases": cases})


if __name__ == "__main__":
    main()
