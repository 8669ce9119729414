"""A batch on a Dask cluster beside the same batch on one machine: time, traffic, memory.

Run: python -m benchmarks.scale.dask_cluster [--sizes 100000 20000000] [--workers 2] [--chunks 64]
Writes benchmarks/results/scale/distributed.json.

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
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from benchmarks import machine
from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.engine.dask import prepare_batch
from dynmeans.engine.dask.step import step_with_rounds

N_CLUSTERS, N_FEATURES, DEVIATION = 500, 8, 0.06
PENALTIES = Penalties(0.3, max_gap=6.8, reach=1.01)
SIZES = (100_000, 1_000_000, 5_000_000, 20_000_000)
BLOCK = 100_000
RESULTS = machine.RESULTS / "scale" / "distributed.json"


def make_rows(first: int, stop: int) -> np.ndarray:
    """Rows `first` to `stop` of the batch; the same whoever asks for them."""
    centers = np.random.default_rng(0).random((N_CLUSTERS, N_FEATURES)) * 2.0
    parts = []
    for block in range(first // BLOCK, -(-stop // BLOCK)):
        rng = np.random.default_rng([1, block])
        rows = centers[rng.integers(N_CLUSTERS, size=BLOCK)]
        rows = rows + DEVIATION * rng.normal(size=(BLOCK, N_FEATURES))
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


def forget_peak() -> None:
    """Let the peak count from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The most memory this process had since then."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024 / 1e6


def add_up(entries: list[Any]) -> dict[str, Any]:
    """Some rounds: how many, how long, and what was sent."""
    return {
        "rounds": len(entries),
        "seconds": round(sum(e.seconds for e in entries), 4),
        "bytes_out": sum(e.bytes_out for e in entries),
        "bytes_in": sum(e.bytes_in for e in entries),
        "proposals": sum(e.n_proposals for e in entries),
    }


def cpu_seconds(client: Client) -> float:
    """CPU time of the workers and of this process, in which the scheduler runs."""
    return time.process_time() + sum(client.run(time.process_time).values())


def run_dask(client: Client, n_rows: int, n_chunks: int, n_init: int) -> dict[str, Any]:
    """One step on the cluster, and what it took."""
    batch = client.persist(make_batch(n_rows, n_chunks))
    taken = prepare_batch(batch, None, N_FEATURES)
    before = resident_mb()
    forget_peak()
    began, cpu = time.perf_counter(), cpu_seconds(client)
    orders = VisitingOrders(seed=7, n_init=n_init)
    state = ClusterState.empty(N_FEATURES)
    _, found, rounds = step_with_rounds(taken, state, PENALTIES, orders, 1.0)
    seconds, cpu = time.perf_counter() - began, cpu_seconds(client) - cpu
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "client_mb_before": before,
        "client_mb_peak": peak_mb(),
        "cost_trace": found.cost_trace.tolist(),
        "n_clusters": len(found.ids),
        "n_passes": found.n_iter,
        "first_pass": add_up([entry for entry in rounds if entry.pass_number == 1]),
        "later_passes": add_up([entry for entry in rounds if entry.pass_number > 1]),
    }


def run_native(n_rows: int, n_threads: int, n_init: int) -> dict[str, Any]:
    """The same step in this process."""
    rows = make_rows(0, n_rows)
    orders = VisitingOrders(7, n_init)
    began, cpu = time.perf_counter(), time.process_time()
    state = ClusterState.empty(N_FEATURES)
    _, found = step(rows, state, PENALTIES, orders=orders, n_threads=n_threads)
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
        on_dask = run_dask(client, n_rows, options.chunks, options.n_init)
    single = json.loads(
        subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.scale.dask_cluster",
                f"--native={n_rows}",
                f"--workers={options.workers}",
                f"--n-init={options.n_init}",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    assert on_dask.pop("cost_trace") == single.pop("cost_trace"), "not the same bits"
    grown = on_dask["client_mb_peak"] - on_dask["client_mb_before"]
    return {
        "n_rows": n_rows,
        "ratio": on_dask["seconds"] / single["seconds"],
        "cpu_ratio": on_dask["cpu_seconds"] / single["cpu_seconds"],
        "client_mb_grown": grown,
        "load": os.getloadavg()[0],
        "dask": on_dask,
        "native": single,
    }


def _row(found: dict[str, Any]) -> str:
    """One line of the table."""
    on_dask, single = found["dask"], found["native"]
    first, later = on_dask["first_pass"], on_dask["later_passes"]
    n_later = max(1, later["rounds"])

    def kilobytes(passes: dict[str, Any], n: int) -> str:
        names = ("bytes_out", "bytes_in")
        return " ".join(f"{passes[name] / n / 1e3:8.0f}" for name in names)

    return (
        f"{found['n_rows']:8d} {on_dask['seconds']:7.1f} {single['seconds']:7.1f} "
        f"{found['ratio']:6.2f} {found['cpu_ratio']:6.2f} {found['client_mb_grown']:6.0f} "
        f"{on_dask['n_passes']:6d} {first['rounds'] + later['rounds']:6d} "
        f"{first['proposals']:6d} {later['proposals']:6d} "
        f"{first['seconds']:7.2f} {kilobytes(first, 1)} "
        f"{later['seconds'] / n_later:7.3f} {kilobytes(later, n_later)} {found['load']:5.1f}"
    )


def write(found: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Put what was found in the file, beside other sizes that are there."""
    about = {
        "n_clusters": N_CLUSTERS,
        "n_features": N_FEATURES,
        "workers": options.workers,
        "chunks": options.chunks,
        "n_init": options.n_init,
        "cores": os.cpu_count(),
        "commit": machine.commit(),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in ("dynmeans", "dask", "distributed", "numpy")},
    }
    kept = json.loads(RESULTS.read_text())["sizes"] if RESULTS.exists() else []
    sizes = {entry["n_rows"]: entry for entry in [*kept, *found]}
    ordered = [sizes[n_rows] for n_rows in sorted(sizes)]
    RESULTS.write_text(json.dumps({"about": about, "sizes": ordered}, indent=1) + "\n")


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
    print(
        "       N   dask s  one s  ratio in CPU client MB passes rounds proposals, later; first "
        "pass: s, kB out, in; a later round: the same; load"
    )
    for n_rows in options.sizes:
        found = measure(n_rows, options)
        write([found], options)
        print(_row(found), flush=True)


if __name__ == "__main__":
    main()
