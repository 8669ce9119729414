"""Names in a column."""

import numpy as np

from dynmeans.plots.name_heights import spread_heights


def test_heights_far_apart_stay():
    np.testing.assert_array_equal(spread_heights(np.array([3.0, 1.0]), 1.0), [3.0, 1.0])


def test_heights_too_near_move_apart_evenly():
    # Both half of what is missing: 2.0 and 2.5 become 1.75 and 2.75.
    np.testing.assert_allclose(spread_heights(np.array([2.5, 2.0]), 1.0), [2.75, 1.75])


def test_neighbors_make_room_one_after_the_other():
    # 0 and 0 move to -0.5 and 0.5, which is too near to 1: 0, 0, 1 become -2/3, 1/3, 4/3.
    spread = spread_heights(np.array([0.0, 0.0, 1.0]), 1.0)
    np.testing.assert_allclose(spread, [-2 / 3, 1 / 3, 4 / 3])


def test_no_heights_are_no_heights():
    assert spread_heights(np.empty(0), 1.0).shape == (0,)
