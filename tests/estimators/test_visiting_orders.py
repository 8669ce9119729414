"""Visiting orders: random, reproducible, blind to the arrangement of the rows."""

import numpy as np

from dynmeans.estimators.visiting_orders import visiting_orders

ROWS = np.random.default_rng(0).normal(size=(200, 3))


def orders(rows=ROWS, seed=0, n_init=2):
    return visiting_orders(rows, np.random.SeedSequence(seed), n_init)


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


def test_float32_coordinates_are_spread_as_well_as_float64():
    # Positions of sorted float32 rows must look uniform: no correlation with the coordinate.
    rows = np.sort(np.random.default_rng(2).random(5000).astype(np.float32))[:, None]
    position = np.argsort(orders(rows.astype(np.float64))[0])
    assert abs(np.corrcoef(position, np.arange(5000))[0, 1]) < 0.05
