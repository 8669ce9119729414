"""Plain arguments pass the door as they are; others are converted or refused as before."""

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step
from dynmeans.engine.batch import prepare_batch
from dynmeans.engine.checks import check_orders, check_points
from dynmeans.engine.compiled import compiled

ROWS = np.random.default_rng(0).normal(size=(6, 2))


def is_plain(points, allow_float32=True):
    return compiled.is_plain_batch(points, 2, allow_float32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_plain_batch_is_taken_without_a_copy(dtype):
    rows = ROWS.astype(dtype)
    assert check_points(rows, 2) is rows


@pytest.mark.parametrize(
    "points",
    [
        ROWS.tolist(),
        ROWS.astype(">f8"),
        np.asfortranarray(ROWS),
        ROWS[:, :1],
        ROWS[0],
        ROWS.astype(int),
        ROWS.view(np.ma.MaskedArray),
        np.where(ROWS > 1, np.nan, ROWS),
        ROWS * 1e101,
    ],
    ids=["list", "swapped", "columns", "narrow", "flat", "int", "masked", "nan", "far"],
)
def test_other_batches_are_not_plain(points):
    assert not is_plain(points)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", range(ROWS.size))
def test_one_value_that_is_not_finite_makes_a_batch_not_plain(place, bad, dtype):
    rows = ROWS.astype(dtype)
    rows.flat[place] = bad
    assert not is_plain(rows)


def test_float32_is_plain_only_where_it_is_allowed():
    assert not is_plain(ROWS.astype(np.float32), allow_float32=False)


def test_plain_orders_are_taken_without_a_copy():
    orders = np.array([[2, 0, 1], [0, 1, 2]])
    assert check_orders(orders, 3) is orders


@pytest.mark.parametrize(
    "orders", [[[0, 1, 1]], [[0, 1, 3]], [[0, 1, -1]], [[0, 1]], np.empty((0, 3), dtype=np.int64)]
)
def test_what_is_no_permutation_is_refused(orders):
    assert not compiled.are_plain_orders(np.array(orders), 3)
    with pytest.raises(ValueError, match="orders must"):
        check_orders(np.array(orders), 3)


@pytest.mark.parametrize("has_weights", [False, True])
def test_arrays_of_a_step_are_read_only_and_of_the_documented_types(has_weights):
    weights = np.ones(6) if has_weights else None
    state, found = step(
        ROWS,
        ClusterState.empty(2),
        Penalties(0.5, max_gap=3, reach=1.2),
        orders=np.arange(6)[None, :],
        sample_weight=weights,
    )
    assert found.counts.dtype == (np.float64 if has_weights else np.int64)
    assert found.labels.dtype == found.ids.dtype == state.ids.dtype == np.int64
    arrays = [found.labels, found.ids, found.counts, found.centers, found.cost_trace]
    arrays += [state.ids, state.centers, state.weights, state.ages, state.counts]
    assert not any(array.flags.writeable for array in arrays)
    assert (found.n_iter, found.cost) == (len(found.cost_trace), found.cost_trace[-1])
    assert (state.next_id, state.n_steps, state.time) == (len(found.ids), 1, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("place", [0, 1, 2_222_221, 4_444_443])
def test_a_bad_value_is_found_wherever_it_lies_in_a_large_batch(place, dtype):
    """Several threads look at parts of it."""
    points = np.zeros((2_222_222, 2), dtype)
    assert prepare_batch(points).n_points == 2_222_222
    points.reshape(-1)[place] = np.nan
    with pytest.raises(ValueError, match="points must be finite"):
        prepare_batch(points)
