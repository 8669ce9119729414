"""Sources that change while they are read."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blobs import blobs, write_parquet

from dynmeans.scale import anytime_results, fit_anytime

POINTS = blobs(3000)


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "s.npy", POINTS)
    return tmp_path / "s.npy"


@pytest.mark.parametrize("change", ["rewritten", "replaced", "removed"])
def test_parquet_that_changes_on_the_way_is_refused(tmp_path, change):
    folder = write_parquet(POINTS, tmp_path / "parts", rows_per_file=1000)
    path = folder / "part-1.parquet"
    results = anytime_results(folder, batch_size=500, random_state=0, patience=None, max_batches=50)
    next(results)
    if change == "removed":
        path.unlink()
    else:
        target = path if change == "rewritten" else tmp_path / "new"
        pq.write_table(pa.table({"x0": np.zeros(9), "x1": np.zeros(9)}), target)
        os.replace(target, path)
    with pytest.raises(
        ValueError, match=r"must not change while it is read, but '.*part-1\.parquet'"
    ):
        list(results)


def test_a_mapped_file_that_changes_on_the_way_is_refused(source):
    results = anytime_results(source, batch_size=500, random_state=0, patience=None, max_batches=50)
    next(results)
    np.load(source, mmap_mode="r+")[:] = 7.0
    os.utime(source)
    with pytest.raises(ValueError, match=r"must not change while it is read, but '.*s\.npy'"):
        list(results)


@pytest.mark.parametrize("n_bytes", [0, 5, 50, 100, 1000])
def test_a_truncated_array_file_is_refused_in_one_line(source, n_bytes):
    source.write_bytes(source.read_bytes()[:n_bytes])
    with pytest.raises(ValueError, match=r"is not a \.npy file of numbers, or it is damaged"):
        fit_anytime(source)
