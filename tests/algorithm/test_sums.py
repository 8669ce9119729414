"""The one order of additions that every backend follows."""

import numpy as np
import pytest

from dynmeans.algorithm.sums import BLOCK, squared_distances, sum_by_slot, sum_in_order


def test_squares_are_added_in_eight_lanes_and_then_in_halves():
    # Lane 0 holds 1e8 from feature 0 and 1 from feature 8; lane 4 holds -; by hand:
    # ((s0 + s8) + s4) with s0 = 1e32, s8 = 1e16, s4 = 1e16: each alone is lost, so 1e32 stays,
    # while s4 + s8 first would give 2e16, which is not lost.
    y = np.zeros(9)
    y[0], y[4], y[8] = 1e16, 1e8, 1e8
    assert squared_distances(y, np.zeros(9)) == (1e32 + 1e16) + 1e16


@pytest.mark.parametrize("n_features", [1, 2, 3, 7, 8, 9, 17])
def test_squared_distance_is_that_of_a_plain_sum(n_features):
    rng = np.random.default_rng(0)
    y, theta = rng.normal(size=(2, n_features))
    np.testing.assert_allclose(squared_distances(y, theta), np.sum((y - theta) ** 2))


def test_rows_are_added_into_their_slots_and_unlabelled_ones_left_out():
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    labels = np.array([1, -1, 0, 1])
    assert sum_by_slot(values, labels, n_slots=3).tolist() == [[4.0], [9.0], [0.0]]


def test_blocks_are_summed_apart_and_then_together():
    # 1e16 + 1 + 1 loses both ones; in blocks (1e16 + 0...) + (1 + 1) keeps them.
    values = np.zeros(2 * BLOCK)
    values[0], values[BLOCK], values[BLOCK + 1] = 1e16, 1.0, 1.0
    assert sum_in_order(values) == 1e16 + 2.0
    assert sum_by_slot(values[:, None], np.zeros(2 * BLOCK, dtype=int), 1)[0, 0] == 1e16 + 2.0
