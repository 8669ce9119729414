"""A batch on a Dask cluster beside the same batch on one machine: time, traffic, memory.

Run: python benchmarks/dask_cluster.py [--sizes 100000 20000000] [--workers 2] [--chunks 64]
Writes benchmarks/results/distributed.json.

The rows are made on the workers from their numbers alone, and once more in this process for the
native backend on as many threads. Both visit them in the same hashed order, and the cost traces
must be equal to the last bit.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from dynmeans import ClusterState, HashOrders, Penalties
from dynmeans.backends import native
from dynmeans.backends.compiled import compiled
from dynmeans.backends.distributed.spread_batch import take_batch
from dynmeans.backends.distributed.spread_step import step_with_rounds

N_CLUSTERS, N_FEATURES, SPREAD = 500, 8, 0.06
PENALTIES = Penalties(0.3, max_gap=6.8, reach=1.01)
SIZES = (100_000, 1_000_000, 5_000_000, 20_000_000)
BLOCK = 100_000
RESULTS = Path(__file__).parent / "results" / "distributed.json"


def make_rows(first: int, stop: int) -> np.ndarray:
    """Rows `first` to `stop` of the batch; the same whoever asks for them."""
    centers = np.random.default_rng(0).random((N_CLUSTERS, N_FEATURES)) * 2.0
    parts = []
    for block in range(first // BLOCK, -(-stop // BLOCK)):
        rng = np.random.default_rng([1, block])
        rows = centers[rng.integers(N_CLUSTERS, size=BLOCK)]
        rows = rows + SPREAD * rng.normal(size=(BLOCK, N_FEATURES))
        begin = block * BLOCK
        parts.append(rows[max(first - begin, 0) : stop - begin])
    return np.concatenate(parts)


def make_batch(n_rows: int, n_chunks: int) -> da.Array:
    """The batch as a Dask array that the workers fill."""
    edges = np.linspace(0, n_rows, n_chunks + 1).astype(int)
    sizes = tuple(np.diff(edges).tolist())

    def fill(block_info: Any = None) -> np.ndarray:
        (first, stop), _ = block_info[None]["array-location"]
        return make_rows(int(first), int(stop))

    return da.map_blocks(fill, chunks=(sizes, (N_FEATURES,)), dtype=np.float64)


def resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def peak_mb() -> float:
    """The most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def cpu_seconds(client: Client) -> float:
    """CPU time of the workers and of this process, in which the scheduler runs."""
    return time.process_time() + sum(client.run(time.process_time).values())


def run_spread(client: Client, n_rows: int, n_chunks: int, n_init: int) -> dict[str, Any]:
    """One step on the cluster, and what it took."""
    batch = client.persist(make_batch(n_rows, n_chunks))
    taken = take_batch(batch, None, N_FEATURES)
    before = resident_mb()
    began, cpu = time.perf_counter(), cpu_seconds(client)
    orders = HashOrders(seed=7, n_init=n_init)
    _, found, rounds = step_with_rounds(
        taken, ClusterState.empty(N_FEATURES), PENALTIES, orders, 1.0, "paper"
    )
    seconds, cpu = time.perf_counter() - began, cpu_seconds(client) - cpu
    by_pass: dict[tuple[str, int], list[Any]] = defaultdict(list)
    for entry in rounds:
        by_pass[entry.run, entry.n_pass].append(entry)
    passes = [
        {
            "pass": n_pass,
            "rounds": len(entries),
            "seconds": sum(e.seconds for e in entries),
            "bytes_out": sum(e.bytes_out for e in entries),
            "bytes_in": sum(e.bytes_in for e in entries),
            "bytes_between": sum(e.bytes_between for e in entries),
            "proposals": sum(e.n_proposals for e in entries),
        }
        for (_, n_pass), entries in by_pass.items()
    ]
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "client_mb_before": before,
        "client_mb_peak": peak_mb(),
        "cost_trace": found.cost_trace.tolist(),
        "n_clusters": len(found.ids),
        "passes": passes,
    }


def run_native(n_rows: int, n_threads: int, n_init: int) -> dict[str, Any]:
    """The same step in this process."""
    rows = make_rows(0, n_rows)
    orders = compiled.hash_orders(n_rows, 7, n_init)
    began, cpu = time.perf_counter(), time.process_time()
    _, found = native.step(
        rows,
        ClusterState.empty(N_FEATURES),
        PENALTIES,
        orders,
        1.0,
        None,
        "paper",
        n_threads=n_threads,
    )
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "cost_trace": found.cost_trace.tolist(),
    }


def measure(n_rows: int, options: argparse.Namespace) -> dict[str, Any]:
    """One size: cluster and single process, one after the other."""
    with (
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            memory_limit=0,
            silence_logs=50,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        spread = run_spread(client, n_rows, options.chunks, options.n_init)
    single = json.loads(
        subprocess.run(
            [
                sys.executable,
                __file__,
                f"--native={n_rows}",
                f"--workers={options.workers}",
                f"--n-init={options.n_init}",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    assert spread.pop("cost_trace") == single.pop("cost_trace"), "not the same bits"
    grown = spread["client_mb_peak"] - spread["client_mb_before"]
    return {
        "n_rows": n_rows,
        "ratio": spread["seconds"] / single["seconds"],
        "cpu_ratio": spread["cpu_seconds"] / single["cpu_seconds"],
        "client_mb_grown": grown,
        "load": os.getloadavg()[0],
        "spread": spread,
        "native": single,
    }


def _row(found: dict[str, Any]) -> str:
    """One line of the table."""
    spread, passes = found["spread"], found["spread"]["passes"]
    names = ("proposals", "bytes_out", "bytes_in", "bytes_between")
    total = {name: sum(p[name] for p in passes) for name in names}
    return (
        f"{found['n_rows']:8d} {found['ratio']:6.2f} {found['cpu_ratio']:7.2f} "
        f"{spread['seconds']:9.2f} {found['native']['seconds']:9.2f} "
        f"{found['client_mb_grown']:10.0f} {total['proposals']:9d} "
        f"{total['bytes_out'] / 1e6:7.1f} {total['bytes_in'] / 1e6:6.1f} "
        f"{total['bytes_between'] / 1e6:8.1f} {len(passes):7d} "
        f"{found['load']:5.1f}"
    )


def main() -> None:
    """Measure every size, print a table, write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--chunks", type=int, default=64)
    parser.add_argument("--n-init", type=int, default=1)
    parser.add_argument("--native", type=int)
    options = parser.parse_args()
    if options.native is not None:
        print(json.dumps(run_native(options.native, options.workers, options.n_init)))
        return
    results = []
    print(
        "       N  ratio  in CPU  spread s  native s  client MB  proposed  MB out  MB in  between  "
        "passes  load"
    )
    for n_rows in options.sizes:
        found = measure(n_rows, options)
        results.append(found)
        print(_row(found), flush=True)
    about = {
        "n_clusters": N_CLUSTERS,
        "n_features": N_FEATURES,
        "workers": options.workers,
        "chunks": options.chunks,
        "n_init": options.n_init,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("dynmeans", "dask", "distributed", "numpy")},
    }
    RESULTS.write_text(json.dumps({"about": about, "sizes": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
