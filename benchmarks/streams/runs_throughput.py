"""Rows per second of ``dynmeans cluster``, end to end, beside the engine on the same batches.

Run as ``python -m benchmarks.streams.runs_throughput`` (``make bench``). Every command runs in a
process of its own, on one thread; rates are by processor time, which other work on the machine does
not change much, and the clock's are given beside them. Writes
benchmarks/results/streams/runs_throughput.json and ends with an error if a limit is missed.
"""

import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.machine import RESULTS, machine, write_results
from dynmeans import DynamicMeans
from dynmeans.engine import step
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.input import Input
from dynmeans.runs.reading.rows import RollingDigest
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.time_bounds import TimeBounds
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.store import commit, label_files

N_ROWS, N_WINDOWS, N_FEATURES = 5_000_000, 500, 4
N_CLUSTERS = 80
NEW_PENALTY, MAX_GAP, REACH = 2.0, 5.0, 1.2
FEATURES = tuple(f"x{j}" for j in range(N_FEATURES))
ROWS_PER_SECOND, SHARE_OF_ENGINE, MEGABYTES = 1e6, 1 / 3, 500.0
ROWS_DIGEST, DIGESTS_AND_GUARDS = 0.03, 0.05  # of the time of a run
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_NUM_THREADS": "1"}
SORTED = ("parquet", "csv")
_DIGESTS_OF_TABLES = ("row_digest", "rows_digest")


def windows_of_rows(n_windows: int, rng: np.random.Generator) -> Iterator[pa.Table]:
    """Eighty clusters on slow walks; each window shows nine of ten of them."""
    n_rows = N_ROWS // N_WINDOWS
    centers = rng.uniform(0, 30, size=(N_CLUSTERS, N_FEATURES))
    start = np.datetime64("2024-01-01", "us")
    for window in range(n_windows):
        centers += rng.normal(0, 0.03, centers.shape)
        visible = rng.permutation(N_CLUSTERS)[: N_CLUSTERS * 9 // 10]
        points = centers[rng.choice(visible, n_rows)] + rng.normal(0, 0.15, (n_rows, N_FEATURES))
        micros = (window * n_rows + np.arange(n_rows)) * (3_600_000_000 // n_rows)
        times = start + micros.astype("timedelta64[us]")
        columns = {name: points[:, j] for j, name in enumerate(FEATURES)}
        yield pa.table({"t": times, **columns})


def write_tables(folder: Path, n_windows: int) -> None:
    """Write the same rows as Parquet, as CSV, and as Parquet out of order."""
    writer = None
    for table in windows_of_rows(n_windows, np.random.default_rng(0)):
        writer = writer or pq.ParquetWriter(folder / "rows.parquet", table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{folder}/rows.parquet') TO '{folder}/rows.csv'")
        connection.execute(
            f"COPY (FROM '{folder}/rows.parquet' ORDER BY hash(t)) TO '{folder}/mixed.parquet'"
        )


def follow(table: Path, run: Path) -> dict[str, float]:
    """Call the command as a user does, on one thread: start and imports included."""
    options = ["--time", "t", "--every", "1h", "-f", "x*", "--n-threads", "1", "--quiet"]
    options += ["--new-penalty", str(NEW_PENALTY), "--max-gap", str(MAX_GAP)]
    options += ["--reach", str(REACH), "-o", str(run)]
    program = [sys.executable, "-m", "dynmeans.cli", "cluster", str(table), *options]
    begin = time.perf_counter()
    process = subprocess.Popen(program, env={**os.environ, **ONE_THREAD})
    peak_mb, done = 0.0, 0
    while not done:
        # The kernel's own maximum of a child starts at the size of its parent; this one does not.
        peak_mb = max(peak_mb, _peak_megabytes(process.pid))
        time.sleep(0.02)
        done, status, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return {
        "cpu_s": used.ru_utime + used.ru_stime,
        "wall_s": time.perf_counter() - begin,
        "peak_mb": peak_mb,
    }


def _peak_megabytes(process_id: int) -> float:
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    sizes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(sizes[0]) / 1e3 if sizes else 0.0


def engine_alone(table: Path) -> dict[str, float]:
    """Time the steps only, on the very batches that the command makes."""
    options = WindowOptions(FEATURES, time="t", every="1h")
    parameters = {"new_penalty": NEW_PENALTY, "max_gap": MAX_GAP, "reach": REACH}
    model = DynamicMeans(**parameters, random_state=0, n_threads=1)
    cpu, largest = 0.0, 0
    with Source(str(table)) as source:
        for batch in Windows(source, options):
            begin = time.process_time()
            model.partial_fit(batch.points, elapsed=batch.elapsed)
            cpu += time.process_time() - begin
            largest = max(largest, len(model.cluster_ids_))
    return {"cpu_s": cpu, "most_clusters": largest}


def shares(table: Path, run: Path) -> dict[str, float]:
    """Shares of a run's processor time spent in digests and in guards.

    Digests are those of the rows read, and of what is written: parts, tables, states. Guards are
    the bounds of times and of the number of clusters.
    """
    spent = {"digest_of_rows": 0.0, "other_digests": 0.0, "guards": 0.0}

    def timed(work: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(work)
        def call(*arguments: Any, **named: Any) -> Any:
            begin = time.thread_time()
            found = work(*arguments, **named)
            spent[kind] += time.thread_time() - begin
            return found

        return call

    watched: list[tuple[Any, str, str]] = [
        (RollingDigest, "feed", "digest_of_rows"),
        *((commit, name, "other_digests") for name in _DIGESTS_OF_TABLES),
        (TimeBounds, "check", "guards"),
        *((step, name, "guards") for name in ("foresee", "check_growth")),
    ]
    with ExitStack() as stack:
        hashes = types.SimpleNamespace(sha256=timed(hashlib.sha256, "other_digests"))
        stack.enter_context(mock.patch.object(label_files, "hashlib", hashes))
        for owner, name, kind in watched:
            instead = timed(getattr(owner, name), kind)
            stack.enter_context(mock.patch.object(owner, name, instead))
        begin = time.process_time()
        job = ClusterJob(
            Input(str(table)),
            WindowOptions(FEATURES, time="t", every="1h"),
            ModelConfig(new_penalty=NEW_PENALTY, max_gap=MAX_GAP, reach=REACH, random_state=0),
            run,
        )
        job.start(overwrite=True)
        whole = time.process_time() - begin
    return {kind: seconds / whole for kind, seconds in spent.items()}


def measure(n_windows: int) -> dict[str, Any]:
    """Measure all ways of reading rows of so many windows."""
    n_rows = N_ROWS // N_WINDOWS * n_windows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, n_windows)
        engine = engine_alone(folder / "rows.parquet")
        result: dict[str, Any] = {
            "n_rows": n_rows,
            "n_windows": n_windows,
            "engine": {**engine, "rows_per_s": n_rows / engine["cpu_s"]},
        }
        for kind, file in (
            ("parquet", "rows.parquet"),
            ("csv", "rows.csv"),
            ("parquet_out_of_order", "mixed.parquet"),
        ):
            found = follow(folder / file, folder / f"run-{kind}")
            found["rows_per_s"] = n_rows / found["cpu_s"]
            found["share_of_engine"] = found["rows_per_s"] / result["engine"]["rows_per_s"]
            result[kind] = found
            print(
                f"{n_rows:>9,} rows, {kind:<20} {found['rows_per_s']:>11,.0f} rows/s "
                f"({found['share_of_engine']:.2f} of the engine), {found['peak_mb']:.0f} MB"
            )
    return result


def measured_shares() -> dict[str, Any]:
    """Measure what digests and guards cost in a run of all rows."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        table = Path(name) / "rows.parquet"
        write_tables(Path(name), N_WINDOWS)
        found = shares(table, Path(name) / "run")
    for kind, share in found.items():
        print(f"{kind.replace('_', ' ')}: {100 * share:.2f} % of the time")
    return {**{kind: round(share, 5) for kind, share in found.items()}, "load_average": load}


def missed(whole: dict[str, Any]) -> list[str]:
    """Say which limits were missed."""
    found, faults = whole["parquet"], []
    is_fast = found["rows_per_s"] >= ROWS_PER_SECOND or found["share_of_engine"] >= SHARE_OF_ENGINE
    if not is_fast:
        faults.append(f"Parquet at {found['rows_per_s']:,.0f} rows/s")
    if whole["engine"]["most_clusters"] >= 100:
        faults.append(f"{whole['engine']['most_clusters']} clusters alive")
    for kind in SORTED:
        if whole[kind]["peak_mb"] >= MEGABYTES:
            faults.append(f"{kind} took {whole[kind]['peak_mb']:.0f} MB")
    return faults


def missed_shares(found: dict[str, Any]) -> list[str]:
    """Say which limits digests and guards missed."""
    total = found["digest_of_rows"] + found["other_digests"] + found["guards"]
    is_small = found["digest_of_rows"] <= ROWS_DIGEST and total <= DIGESTS_AND_GUARDS
    return [] if is_small else [f"digests and guards take {100 * total:.1f} %"]


def main() -> None:
    """Measure, print, write; end with an error if a limit is missed.

    With ``--shares`` only the shares of digests and guards are measured again.
    """
    if sys.argv[1:] == ["--shares"]:
        found = measured_shares()
        results = json.loads((RESULTS / "streams" / "runs_throughput.json").read_text())
        write_results("streams/runs_throughput", {**results, "shares": found})
        sys.exit("missed: " + "; ".join(faults) if (faults := missed_shares(found)) else 0)
    small, whole, found = measure(N_WINDOWS // 5), measure(N_WINDOWS), measured_shares()
    results = {
        "to_reach": {
            "rows_per_s": ROWS_PER_SECOND,
            "or_share_of_engine": SHARE_OF_ENGINE,
            "peak_mb": MEGABYTES,
            "digest_of_rows": ROWS_DIGEST,
            "digests_and_guards": DIGESTS_AND_GUARDS,
        },
        "a_fifth": small,
        "whole": whole,
        "shares": found,
    }
    write_results("streams/runs_throughput", {"machine": machine(), **results})
    if faults := missed(whole) + missed_shares(found):
        sys.exit("missed: " + "; ".join(faults))


if __name__ == "__main__":
    main()
