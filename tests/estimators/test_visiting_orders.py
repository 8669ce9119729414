"""Visiting orders: random, reproducible, blind to the arrangement of the rows."""

import numpy as np

from dynmeans.engine.compiled import compiled

ROWS = np.random.default_rng(0).normal(size=(200, 3))


def orders(rows=ROWS, seed=0, n_init=2):
    return compiled.visiting_orders(np.ascontiguousarray(rows), seed, 0, n_init)


def test_every_order_is_a_permutation():
    for order in orders():
        assert sorted(order) == list(range(200))


def test_orders_of_restarts_and_of_seeds_differ():
    assert not np.array_equal(orders()[0], orders()[1])
    assert not np.array_equal(orders(seed=0), orders(seed=1))


def test_rows_are_visited_alike_however_they_are_arranged():
    shuffle = np.random.default_rng(1).permutation(200)
    np.testing.assert_array_equal(ROWS[orders()[0]], ROWS[shuffle][orders(ROWS[shuffle])[0]])


def test_equal_rows_are_visited_one_after_the_other():
    order = orders(ROWS.repeat(3, axis=0))[0]
    assert np.all(np.diff((order // 3).reshape(-1, 3), axis=1) == 0)


def test_negative_zero_is_zero():
    rows = np.array([[0.0], [5.0], [-0.0]])
    assert abs(np.diff(np.flatnonzero(orders(rows)[0] != 1))) in (1, 2)
    np.testing.assert_array_equal(orders(rows), orders(np.abs(rows)))


def test_float32_rows_are_visited_like_the_same_rows_in_float64():
    rows = ROWS.astype(np.float32)
    np.testing.assert_array_equal(orders(rows), orders(rows.astype(np.float64)))


def test_many_rows_are_sorted_like_few():
    # Above 4096 rows the keys are dealt into runs first.
    rows = np.random.default_rng(3).normal(size=(10_000, 2))
    order = orders(rows)[0]
    assert sorted(order) == list(range(10_000))
    shuffle = np.random.default_rng(1).permutation(10_000)
    np.testing.assert_array_equal(rows[order], rows[shuffle][orders(rows[shuffle])[0]])


def test_float32_coordinates_are_spread_as_well_as_float64():
    # Positions of sorted float32 rows must look uniform: no correlation with the coordinate.
    rows = np.sort(np.random.default_rng(2).random(5000).astype(np.float32))[:, None]
    position = np.argsort(orders(rows.astype(np.float64))[0])
    assert abs(np.corrcoef(position, np.arange(5000))[0, 1]) < 0.05
