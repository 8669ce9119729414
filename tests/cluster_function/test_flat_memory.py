"""Large inputs go through a run folder, and memory does not grow with them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 100_000
SCHEMA = pa.schema([(name, pa.float64()) for name in ("t", "x", "y")])
CODE = """
import resource, sys, warnings, dynmeans
warnings.simplefilter("ignore")
found = dynmeans.cluster(
    sys.argv[1], time="t", every="10", features=["x", "y"], penalties=50.0, out=sys.argv[2]
)
found.report(sys.argv[2] + ".html")
found.write_labels(sys.argv[2] + ".parquet")
print(found.status.n_rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def write_rows(path, n_parts):
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, (10, 2))
    with pq.ParquetWriter(path, SCHEMA) as file:
        for part in range(n_parts):
            points = places[rng.integers(10, size=ROWS)] + rng.normal(0, 1, (ROWS, 2))
            times = np.arange(part * ROWS, (part + 1) * ROWS) / 1000.0
            file.write_table(pa.table([times, *points.T.copy()], schema=SCHEMA))


def peak_megabytes(tmp_path, n_parts):
    path, out = tmp_path / f"{n_parts}.parquet", tmp_path / f"run-{n_parts}"
    write_rows(path, n_parts)
    command = [sys.executable, "-c", CODE, str(path), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    n_rows, peak = done.stdout.split()
    assert int(n_rows) == n_parts * ROWS
    return float(peak)


@pytest.mark.slow
def test_four_times_the_rows_take_as_much_memory(tmp_path):
    small, large = peak_megabytes(tmp_path, 5), peak_megabytes(tmp_path, 20)
    assert large < small + 60
