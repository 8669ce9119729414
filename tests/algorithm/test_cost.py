"""Theorem 1's cost, Eq. 15, with numbers worked by hand."""

import numpy as np

from dynmeans.algorithm.cost import clustering_cost
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

PENALTIES = Penalties(4.0, revival_penalty=1.0, drift=0.5)
STATE = ClusterState(
    ids=[5, 6], centers=[[0.0], [50.0]], weights=[1.0, 1.0], ages=[2.0, 2.0], next_id=7
)


def test_cost_sums_new_revival_displacement_and_spread():
    # new: 4; revival: 1 * 2; displacement: gamma 1/2 * (3 - 0)^2 = 4.5; spread: 1 + 1 + 0
    points = np.array([[2.0], [4.0], [9.0]])
    labels, counts = np.array([0, 0, 2]), np.array([2.0, 0.0, 1.0])
    centers = np.array([[3.0], [50.0], [9.0]])
    cost = clustering_cost(points, np.ones(3), labels, counts, centers, STATE, PENALTIES)
    assert cost == 4 + 2 + 4.5 + 2


def test_spread_counts_a_point_as_often_as_it_weighs():
    # 4 + 3 * 1 + 0.5 * 4
    points, labels = np.array([[1.0], [2.0]]), np.array([2, 2])
    centers, counts = np.array([[0.0], [50.0], [0.0]]), np.array([0.0, 0.0, 3.5])
    weights = np.array([3.0, 0.5])
    cost = clustering_cost(points, weights, labels, counts, centers, STATE, PENALTIES)
    assert cost == 9.0
