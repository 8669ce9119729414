"""What is refused at the door, and in which words."""

import numpy as np
import pytest

from dynmeans import metrics
from dynmeans.metrics.check_labels import check_labels, number_distinct

EVERY_METRIC = [getattr(metrics, name) for name in sorted(metrics.__all__) if name != "HotaScores"]
WEIGHTED = [
    metric for metric in EVERY_METRIC if metric.__name__ not in {"ari_per_step", "ari_global"}
]


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_empty_history_is_refused(metric):
    with pytest.raises(ValueError, match="true must hold at least one batch, got 0"):
        metric([], [])


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_different_numbers_of_batches_are_refused(metric):
    with pytest.raises(ValueError, match=r"same number of batches, got 2 and 1\."):
        metric([[0], [1]], [[0]])


@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_different_numbers_of_rows_are_refused(metric):
    with pytest.raises(ValueError, match=r"true\[1\] and found\[1\] .* same .* rows, got 2 and 3"):
        metric([[0], [1, 1]], [[0], [1, 1, 1]])


@pytest.mark.parametrize("metric", EVERY_METRIC)
@pytest.mark.parametrize("true", [[[], []], [[-1, -1], []]])
def test_no_labeled_point_is_refused(metric, true):
    with pytest.raises(ValueError, match="true must hold at least one labeled point, got "):
        metric(true, true)


@pytest.mark.parametrize("metric", WEIGHTED)
@pytest.mark.parametrize("bad", [-0.5, np.nan, np.inf])
def test_weight_that_is_negative_or_not_finite_is_refused(metric, bad):
    with pytest.raises(
        ValueError, match=rf"weights\[1\] must be finite and 0 .*got {bad} in row 2"
    ):
        metric([[0], [1, 1, 1]], [[0], [1, 1, 1]], [[1.0], [1.0, 1.0, bad]])


@pytest.mark.parametrize("metric", WEIGHTED)
def test_weights_that_leave_no_labeled_point_are_refused(metric):
    with pytest.raises(ValueError, match="weights must be above 0 for a labeled point"):
        metric([[0, -1]], [[0, 1]], [[0.0, 3.0]])


@pytest.mark.parametrize("metric", WEIGHTED)
@pytest.mark.parametrize("weights", [[[1.0]], [[1.0], [1.0, 1.0]]])
def test_weights_that_do_not_fit_the_labels_are_refused(metric, weights):
    with pytest.raises(ValueError, match=r"true.* and weights.* must have the same number"):
        metric([[0], [1]], [[0], [1]], weights)


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match=r"weights\[0\] must hold numbers, got dtype <U4"):
        check_labels([[0]], [[0]], [["high"]])


@pytest.mark.parametrize("dtype", [float, np.uint64, object])
def test_labels_that_are_neither_integers_nor_strings_are_refused(dtype):
    with pytest.raises(TypeError, match=r"found\[1\] must hold integers or strings, got dtype "):
        check_labels([[0], [1]], [[0], np.array([1], dtype=dtype)])


def test_integers_and_strings_on_one_side_are_refused():
    with pytest.raises(TypeError, match="found must hold integers only or strings only"):
        check_labels([[0], [1]], [[0], ["0"]])


def test_one_flat_array_instead_of_batches_is_refused():
    with pytest.raises(ValueError, match=r"true\[0\] must have one dimension, got shape \(\)"):
        check_labels(np.array([0, 1]), np.array([0, 1]))


def test_missing_labels_are_refused():
    with pytest.raises(TypeError, match="found must be a list with one array per batch, got None"):
        check_labels([[0]], None)


def test_labels_are_numbered_in_sorted_order_over_all_batches():
    points = check_labels([[30, 10], [20]], [[-1, 7], [5]])
    assert points.true_labels.tolist() == [2, 0, 1]
    assert points.found_labels.tolist() == [-1, 1, 0]
    assert points.steps.tolist() == [0, 0, 1]


def test_strings_are_labels_and_none_of_them_means_no_cluster():
    points = check_labels([["b", "a"], []], [np.array(["-1", "x"], dtype=object), []])
    assert points.true_labels.tolist() == [1, 0]
    assert points.found_labels.tolist() == [0, 1]


def test_unlabeled_and_weightless_points_are_dropped():
    points = check_labels([[0, -1, 2], [4]], [[5, 6, 7], [8]], [[1, 1, 0], [2]])
    assert points.true_labels.tolist() == [0, 1]
    assert points.found_labels.tolist() == [0, 1]
    assert points.steps.tolist() == [0, 1]


def test_empty_batches_may_have_any_type():
    empty = np.array([], dtype=object)
    points = check_labels([empty, ["a"]], [[], [1]], [empty, [2.0]])
    assert points.steps.tolist() == [1]


def test_inputs_are_not_changed():
    true, found, weights = np.array([3, -1]), np.array([-1, 9]), np.array([4.0, 8.0])
    check_labels([true], [found], [weights])
    assert (true.tolist(), found.tolist(), weights.tolist()) == ([3, -1], [-1, 9], [4.0, 8.0])


@pytest.mark.parametrize("keys", [[5, 3, 3, 9], [5, -(10**18), 10**18, 5], [7], []])
def test_distinct_keys_are_numbered_as_numpy_does_it(keys):
    keys = np.array(keys, dtype=np.int64)
    expected = np.unique(keys, return_inverse=True)
    np.testing.assert_array_equal(number_distinct(keys)[0], expected[0])
    np.testing.assert_array_equal(number_distinct(keys)[1], expected[1])
