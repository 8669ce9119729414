"""Sources that change while they are read, and labels that could end up where they must not."""

import os

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blobs import blobs, write_parquet

from dynmeans.scale import anytime_results, fit_anytime, label_rows

POINTS = blobs(3000)
RESULT = fit_anytime(POINTS, new_penalty=4.0, batch_size=500, max_batches=3, random_state=1)


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "s.npy", POINTS)
    return tmp_path / "s.npy"


def by_path(path):
    return str(path)


def by_map(path):
    return np.load(path, mmap_mode="r")


def by_part_of_map(path):
    return np.load(path, mmap_mode="r+")[5:, :]


@pytest.mark.parametrize("opened", [by_path, by_map, by_part_of_map])
@pytest.mark.parametrize("name", ["s.npy", "link.npy", "hard.npy"])
def test_labels_are_never_written_over_the_array_they_come_from(source, opened, name):
    (source.parent / "link.npy").symlink_to(source)
    os.link(source, source.parent / "hard.npy")
    with pytest.raises(ValueError, match="to must not be the file of the source"):
        label_rows(opened(source), RESULT, to=source.parent / name)
    np.testing.assert_array_equal(np.load(source), POINTS)


def test_a_pass_that_fails_leaves_the_old_labels(source):
    to = source.parent / "labels.npy"
    np.save(to, np.arange(3))
    bad = POINTS.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(ValueError, match="finite"):
        label_rows(bad, RESULT, to=to)
    assert np.load(to).tolist() == [0, 1, 2]
    assert sorted(os.listdir(source.parent)) == ["labels.npy", "s.npy"]


def test_a_pass_that_fails_leaves_no_file_of_labels_for_parquet(tmp_path):
    bad = POINTS.copy()
    bad[-1, 0] = np.nan
    folder = write_parquet(bad, tmp_path / "parts", rows_per_file=3000)
    with pytest.raises(ValueError, match="finite"):
        label_rows(folder, RESULT, to=tmp_path / "labels")
    assert os.listdir(tmp_path / "labels") == []


@pytest.mark.parametrize("name", ["parts", "parts/labels", "link", "other/../parts"])
def test_labels_never_become_a_part_of_a_parquet_source(tmp_path, name):
    folder = write_parquet(POINTS, tmp_path / "parts")
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(ValueError, match="to must not be the folder of the source or inside it"):
        label_rows(folder, RESULT, to=tmp_path / name)


def test_a_single_parquet_file_is_not_overwritten(tmp_path):
    folder = write_parquet(POINTS, tmp_path / "parts", rows_per_file=3000)
    with pytest.raises(ValueError, match="to must not be the folder of the source"):
        label_rows(folder / "part-0.parquet", RESULT, to=folder)


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


def test_a_result_of_another_kind_is_refused(source):
    with pytest.raises(TypeError, match="result must be an AnytimeResult, got ndarray"):
        label_rows(source, POINTS)
    with pytest.raises(ValueError, match="n_threads must be at least 1, got 0"):
        label_rows(source, RESULT, n_threads=0)


def test_chunks_that_are_not_as_long_as_they_were_said_to_be_are_refused(tmp_path):
    lying = da.map_blocks(
        lambda rows: rows[:-1], da.from_array(POINTS, chunks=(1000, 2)), chunks=((1000,) * 3, (2,))
    )
    with pytest.raises(ValueError, match="source must have the 3000 rows it said it had, got 2997"):
        label_rows(lying, RESULT, to=tmp_path / "labels.npy")
    assert os.listdir(tmp_path) == []
