"""Every kind of source gives good clusters, and says which of its rows is wrong."""

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from blobs import blobs

from dynmeans import fit_anytime

OPTIONS = {"new_penalty": 4.0, "batch_size": 2000, "max_batches": 6, "random_state": 1}


def as_array(points, folder):
    return points


def as_float32(points, folder):
    return points.astype(np.float32)


def as_memory_map(points, folder):
    np.save(folder / "points.npy", points)
    return np.load(folder / "points.npy", mmap_mode="r")


def as_fortran_file(points, folder):
    np.save(folder / "points.npy", np.asfortranarray(points))
    return np.load(folder / "points.npy", mmap_mode="r")


def as_record_batches(points, folder):
    shuffled = pd.DataFrame(np.random.default_rng(0).permutation(points), columns=["x", "y"])
    shuffled.to_parquet(folder / "points.parquet")
    reader = pq.ParquetFile(folder / "points.parquet").iter_batches(700)
    return (batch.to_pandas().to_numpy() for batch in reader)


def as_iterator(points, folder):
    shuffled = np.random.default_rng(0).permutation(points)
    return (part for part in np.array_split(shuffled, 37))


@pytest.mark.parametrize(
    "make",
    [
        as_array,
        as_float32,
        as_memory_map,
        as_fortran_file,
        as_record_batches,
        as_iterator,
    ],
)
def test_clusters_are_found_from_every_source(make, tmp_path):
    result = fit_anytime(make(blobs(), tmp_path), **OPTIONS)
    spread = 2 * 0.3**2  # of a blob around its center
    assert result.n_points == 12_000
    assert result.n_clusters >= 30
    assert result.cost < 1.1 * spread + 4.0 * result.n_clusters / 20_000


def test_integers_are_taken_as_numbers():
    result = fit_anytime(np.arange(100).reshape(-1, 1) // 50 * 10, max_batches=2, random_state=0)
    assert sorted(result.centers.ravel()) == [0.0, 10.0]


def test_an_iterator_that_ends_ends_the_run():
    arrays = np.array_split(blobs(5000), 9)
    result = fit_anytime(
        iter(arrays),
        new_penalty=4.0,
        batch_size=1000,
        random_state=0,
        patience=None,
        max_batches=99,
        holdout_size=100,
    )
    assert result.stop_reason == "end_of_source"
    assert result.n_points == 4900


def test_an_iterator_without_random_rows_is_read_no_further_than_needed():
    def arrays():
        yield blobs(3000)
        raise AssertionError("read too far")

    result = fit_anytime(
        arrays(), new_penalty=4.0, batch_size=1000, holdout_size=100, max_batches=2
    )
    assert result.n_points == 2000


def bad_rows(value=np.nan, row=12_345):
    points = blobs()
    points[row, 1] = value
    return points


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (as_array, "row 12345"),
        (as_memory_map, "row 12345"),
    ],
)
def test_rows_that_are_no_numbers_are_named(make, name, tmp_path):
    source = make(bad_rows(), tmp_path)
    with pytest.raises(ValueError, match=f"source must be finite .* got nan in {name}"):
        fit_anytime(source, **(OPTIONS | {"max_batches": 20}), patience=None)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (np.empty((0, 2)), ValueError, "source must have at least one row and one feature"),
        (np.empty((5, 0)), ValueError, r"got shape \(5, 0\)"),
        (np.zeros(5), ValueError, r"source must have two dimensions, got shape \(5,\)"),
        (np.array([["a"]]), TypeError, "source must be numeric"),
        (iter([]), ValueError, "an iterator of none"),
        (iter([np.empty((0, 2))]), ValueError, "an iterator of none"),
        (iter([np.zeros((3, 2)), np.zeros((3, 1))]), ValueError, "array of source has 1 features"),
        (iter([np.full((3, 2), np.inf)]), ValueError, "array of source must be finite"),
        (da.zeros((9, 2)), TypeError, "blocks of Dask, are such an iterator"),
        (7, TypeError, "source must be an array or an iterator of arrays, got int"),
        ("rows.npy", TypeError, r"np\.load\(path, mmap_mode='r'\)"),
    ],
)
def test_bad_sources_are_refused(source, error, message):
    with pytest.raises(error, match=message):
        fit_anytime(source, **OPTIONS)
