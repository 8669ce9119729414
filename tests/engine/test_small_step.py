"""A small batch is checked and clustered in one crossing; everything else goes the long way."""

import numpy as np
import pytest

from dynmeans import ClusterState, Penalties, step
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine.native import step_if_small
from dynmeans.records.orders import VisitingOrders

PENALTIES = Penalties(0.04, max_gap=6.8, reach=1.01)
ROWS = np.random.default_rng(0).normal(size=(20, 2))
EMPTY = ClusterState.empty(2)
ORDERS = np.array([np.arange(20), np.arange(20)[::-1]])


def ask(points=ROWS, weights=None, state=EMPTY, penalties=PENALTIES, orders=ORDERS, elapsed=1.0):
    return step_if_small(points, weights, state, penalties, orders, elapsed)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_listed", [False, True])
def test_one_crossing_gives_the_bits_of_the_long_way(dtype, is_weighted, is_listed):
    rng = np.random.default_rng(1)
    short = long = EMPTY
    for points in moving_gaussians(n_steps=8, n_clusters=5, rng=rng).batches:
        rows = points.astype(dtype)
        weights = rng.integers(0, 4, size=len(rows)).astype(float) if is_weighted else None
        orders = rng.permutation(len(rows))[None] if is_listed else VisitingOrders(7, 3)
        short, found = step_if_small(rows, weights, short, PENALTIES, orders, 1.5)
        long, expected = step(
            rows, long, PENALTIES, orders=orders, elapsed=1.5, sample_weight=weights, n_threads=1
        )
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.cost_trace.tobytes() == expected.cost_trace.tobytes()
        assert short == long
        assert found.counts.dtype == expected.counts.dtype
        assert found.execution == "native"


def test_equal_rows_of_unequal_weight_get_the_labels_of_the_specification():
    rng = np.random.default_rng(2)
    for seed in range(20):
        rows = rng.integers(0, 3, size=(60, 2)).astype(float)
        weights = rng.integers(0, 5, size=60).astype(float)
        orders = VisitingOrders(seed, 2)
        args = (EMPTY, Penalties(1.0, max_gap=3, reach=1.5))
        found = step_if_small(rows, weights, *args, orders, 1.0)[1]
        expected = step(rows, *args, orders=orders, sample_weight=weights, backend="reference")[1]
        np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize(
    "asked",
    [
        {"points": ROWS.tolist()},
        {"points": np.where(ROWS > 1, np.nan, ROWS)},
        {"points": np.zeros((513, 2)), "orders": VisitingOrders(0)},
        {"points": ROWS[:, :1].copy()},
        {"weights": np.full(20, -1.0)},
        {"weights": np.ones(19)},
        {"orders": ORDERS + 1},
        {"orders": ORDERS.tolist()},
        {"elapsed": 0.0},
        {"elapsed": float("inf")},
        {"elapsed": 1},
        {"penalties": PENALTIES.with_motion("constant_velocity")},
        {"penalties": None},
        {"state": None},
    ],
    ids=lambda asked: next(iter(asked)),
)
def test_what_needs_more_goes_the_long_way(asked):
    assert ask() is not None
    assert ask(**asked) is None
