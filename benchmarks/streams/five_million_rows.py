"""Five million rows of six features, as a user calls it: suggestion, clustering and report.

Run as ``python -m benchmarks.streams.five_million_rows``. Each command runs in a process of its
own, on all cores; seconds are by the clock, start of the program included. The suggestion is also
timed inside a process, without reading. Writes benchmarks/results/streams/five_million_rows.json
and ends with an error if a limit is missed.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow.parquet as pq

from benchmarks.machine import machine, write_results
from benchmarks.streams import runs_throughput
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows
from dynmeans.runs.warm_up import initial_memory, read_warm_up

N_FEATURES = 6
FEATURES = tuple(f"x{j}" for j in range(N_FEATURES))
LIMITS = {"suggestion_s": 5.0, "cluster_s": 15.0, "report_s": 5.0}


def write_rows(path: Path) -> None:
    """Write the streams of runs_throughput.py with six features."""
    changed = {"N_FEATURES": N_FEATURES, "FEATURES": FEATURES}
    writer = None
    with mock.patch.multiple(runs_throughput, **changed):
        rng = np.random.default_rng(0)
        for table in runs_throughput.windows_of_rows(runs_throughput.N_WINDOWS, rng):
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
    assert writer is not None
    writer.close()


def seconds_of(*words: str) -> float:
    """Run a command and return how long it took."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "dynmeans.cli", *words], check=True, capture_output=True)
    return time.perf_counter() - begin


def suggestion_seconds(path: Path) -> float:
    """Time the choice alone, on the windows that it is made on."""
    with Source(str(path)) as source:
        first = read_warm_up(Windows(source, WindowOptions(FEATURES, time="t", every="1h")))
    begin = time.perf_counter()
    initial_memory(RunConfig(FEATURES), first)
    return time.perf_counter() - begin


def main() -> None:
    """Measure, print, write; end with an error if a limit is missed."""
    with tempfile.TemporaryDirectory() as name:
        rows, run = Path(name) / "rows.parquet", Path(name) / "run"
        write_rows(rows)
        options = ["--time", "t", "--every", "1h", "-f", "x*", "-o", str(run)]
        found = {
            "suggestion_s": suggestion_seconds(rows),
            "cluster_s": seconds_of("cluster", str(rows), *options),
            "report_s": seconds_of("report", str(run), "-o", str(Path(name) / "report.html")),
        }
    for key, value in found.items():
        print(f"{key:<13} {value:6.1f} s (at most {LIMITS[key]:g})")
    write_results("streams/five_million_rows", {"machine": machine(), "limits": LIMITS, **found})
    if missed := [key for key, value in found.items() if value > LIMITS[key]]:
        sys.exit("missed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
