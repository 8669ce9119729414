"""Eq. 12, with numbers worked by hand."""

import numpy as np

from dynmeans.algorithm.assign_params import assign_params, prior_weights
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

PENALTIES = Penalties(1.0, revival_penalty=0.1, drift=0.5)
UNSEEN_FOR_THREE = ClusterState(ids=[7], centers=[[4.0]], weights=[2.0], ages=[3], next_id=8)
ONES = np.ones(2)


def test_prior_weight_fades_with_time_unseen():
    # 1 / (1/2 + 3 * 0.5) = 1/2
    np.testing.assert_allclose(prior_weights(UNSEEN_FOR_THREE, PENALTIES), [0.5])


def test_revived_center_is_the_weighted_mean_of_memory_and_data():
    # (4 * 1/2 + 1 + 2) / (1/2 + 2) = 2
    points, labels = np.array([[1.0], [2.0]]), np.array([0, 0])
    counts, centers = assign_params(points, ONES, labels, UNSEEN_FOR_THREE, PENALTIES)
    assert counts.tolist() == [2]
    np.testing.assert_allclose(centers, [[2.0]])


def test_new_center_is_the_plain_mean():
    points, labels = np.array([[1.0], [2.0]]), np.array([1, 1])
    counts, centers = assign_params(points, ONES, labels, UNSEEN_FOR_THREE, PENALTIES)
    assert counts.tolist() == [0, 2]
    assert centers.tolist() == [[4.0], [1.5]]


def test_weights_count_as_repeated_points():
    # (3 * 1 + 1 * 2) / 4
    points, labels = np.array([[1.0], [2.0]]), np.array([1, 1])
    weights = np.array([3.0, 1.0])
    counts, centers = assign_params(points, weights, labels, UNSEEN_FOR_THREE, PENALTIES)
    assert counts.tolist() == [0, 4]
    assert centers.tolist() == [[4.0], [1.25]]
