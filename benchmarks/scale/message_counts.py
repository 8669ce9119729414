"""What a growing number of machines sends in one run: the protocol itself, in one process.

Run: python -m benchmarks.scale.message_counts [--largest 1000]
Writes benchmarks/results/scale/message_counts.json; docs/scaling-out.md compares it with the
formula.

Every machine holds 16,384 rows. The requests and replies are those of a real run, made and answered
here without a network; only their numbers and bytes are looked at.
"""

import argparse
import json
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks import machine
from benchmarks.scale.one_process import OneProcess, cut_here
from dynmeans import ClusterState, Penalties, VisitingOrders
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered
from dynmeans.engine.dask.cluster import cluster
from dynmeans.engine.dask.step import runs_of, sum_facts
from dynmeans.engine.dask.workers import Round

ROWS_OF_ONE = 16_384  # on each machine
N_FEATURES, N_CLUSTERS, DEVIATION = 2, 100, 0.02
PENALTIES = Penalties(0.05, max_gap=6.8, reach=1.01)
RESULTS = machine.RESULTS / "scale" / "message_counts.json"


def make_points(n_rows: int) -> np.ndarray:
    """Clusters on a grid, with some noise."""
    rng = np.random.default_rng(0)
    side = int(np.sqrt(N_CLUSTERS))
    return rng.integers(side, size=(n_rows, N_FEATURES)) + DEVIATION * rng.normal(
        size=(n_rows, N_FEATURES)
    )


def expected_out(n_machines: int, n_rounds: int, n_slots: int) -> float:
    """Two tables of clusters (the pass before and this one) to each machine in each round."""
    table = n_slots * (8 * N_FEATURES + 8 + 8 + 1)
    return n_machines * n_rounds * 2 * table


def measure(n_machines: int) -> dict[str, Any]:
    """One run."""
    n_rows = n_machines * ROWS_OF_ONE
    points = make_points(n_rows)
    workers: Any = OneProcess(cut_here(points, cuts=range(0, n_rows, ROWS_OF_ONE)))
    remembered = Remembered(ClusterState.empty(N_FEATURES), PENALTIES)
    sums = sum_facts(workers.magnitudes(), n_rows, False, remembered)
    ((run, _),) = runs_of(VisitingOrders(5), remembered.state, PENALTIES, sums)
    found = cluster(PassRequests.of(workers, n_rows, remembered, run))
    by_pass: dict[int, list[Round]] = defaultdict(list)
    for entry in workers.rounds:
        by_pass[entry.pass_number].append(entry)
    n_slots = len(found.counts)
    return {
        "n_machines": n_machines,
        "n_rows": n_rows,
        "n_clusters": n_slots,
        "n_passes": found.labeling.n_passes,
        "n_rounds": len(workers.rounds),
        "rounds_of_first_pass": len(by_pass[1]),
        "n_messages": 2 * n_machines * len(workers.rounds),
        "n_proposals": sum(entry.n_proposals for entry in workers.rounds),
        "bytes_out": sum(entry.bytes_out for entry in workers.rounds),
        "bytes_out_expected": expected_out(n_machines, len(workers.rounds), n_slots),
        "bytes_in": sum(entry.bytes_in for entry in workers.rounds),
    }


def main() -> None:
    """Measure growing numbers of machines, print a table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1000)
    options = parser.parse_args()
    results = []
    print("machines      rows  rounds  proposed  kB out a machine  kB in a machine")
    for n_machines in [n for n in (1, 3, 10, 30, 100, 300, 1000) if n <= options.largest]:
        found = measure(n_machines)
        results.append(found)
        print(
            f"{n_machines:8d} {found['n_rows']:9d} {found['n_rounds']:7d} "
            f"{found['n_proposals']:9d} {found['bytes_out'] / n_machines / 1e3:17.1f} "
            f"{found['bytes_in'] / n_machines / 1e3:16.1f}",
            flush=True,
        )
    RESULTS.write_text(json.dumps({"commit": machine.commit(), "counts": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
