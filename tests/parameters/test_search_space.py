import numpy as np
import pytest

from dynmeans.parameters.search_space import grid_values, search_ranges

# Squared distances to the batch means: 1, 1 and 4, 4, along one axis; mean 2.5.
BATCHES = [
    np.array([[0.0, 5.0], [2.0, 5.0]]),
    np.empty((0, 2)),
    np.array([[10.0, 0.0], [14.0, 0.0]]),
]


def test_lambda_is_looked_for_in_proportion_to_the_variance_of_a_batch():
    assert search_ranges(BATCHES, None)["new_penalty"] == pytest.approx((0.0025, 10.0))


def test_ranges_given_come_first():
    ranges = search_ranges(BATCHES, {"max_gap": (2, 4)})
    assert ranges["max_gap"] == (2.0, 4.0)
    assert ranges["reach"] == (1.0, 4.0)


@pytest.mark.parametrize("n_trials", [1, 2, 7, 16, 63, 64, 100, 500])
def test_grid_has_no_more_points_than_asked_for(n_trials):
    values = grid_values(search_ranges(BATCHES, None), n_trials)
    n_points = np.prod([len(v) for v in values.values()])
    assert n_trials / 2 < n_points <= n_trials


def test_most_points_of_the_grid_are_over_lambda():
    # 3 = (54 / 2) ** (1 / 3), and 54 / 3 / 3 = 6
    values = grid_values(search_ranges(BATCHES, None), 54)
    assert [len(v) for v in values.values()] == [6, 3, 3]


def test_grid_ends_at_the_ends_of_the_ranges():
    ranges = search_ranges(BATCHES, None)
    for name, values in grid_values(ranges, 128).items():
        assert (values[0], values[-1]) == pytest.approx(ranges[name], rel=1e-12)
        assert ranges[name][0] <= min(values)
        assert max(values) <= ranges[name][1]


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"speed": (1, 2)}, "ranges must be of new_penalty, max_gap, reach, got 'speed'"),
        ({"reach": 2.0}, r"ranges\['reach'\] must be \(lowest, highest\), got 2.0"),
        ({"reach": (0.5, 2.0)}, "reach must be at least 1, got 0.5"),
        ({"max_gap": (1.0, 2.0)}, "max_gap must be greater than 1, got 1.0"),
        ({"max_gap": (2.0, np.inf)}, r"ranges\['max_gap'\] must rise and be finite"),
        ({"new_penalty": (2.0, 1.0)}, r"ranges\['new_penalty'\] must rise and be finite"),
    ],
)
def test_ranges_that_are_none_are_refused(ranges, message):
    with pytest.raises(ValueError, match=message):
        search_ranges(BATCHES, ranges)


def test_points_that_all_agree_say_nothing_of_lambda():
    with pytest.raises(ValueError, match="batches must have points apart from each other"):
        search_ranges([np.ones((3, 2))], None)
