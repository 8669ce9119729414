import numpy as np
import pytest

from dynmeans.estimators.tuning import search_ranges

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
    with pytest.raises(ValueError, match="batches must have distinct points"):
        search_ranges([np.ones((3, 2))], None)
