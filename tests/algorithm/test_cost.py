"""Theorem 1's cost, Eq. 15, with numbers worked by hand."""

from fractions import Fraction

import numpy as np
import pytest

from dynmeans.algorithm.assign_params import assign_params
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


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("far_off", [0.0, 1e3, 1e6, 1e8])
def test_cost_from_sums_is_exact_to_the_last_digits_far_from_the_origin(far_off, is_weighted):
    """The sums cancel all but 1e-16 of themselves at 1e8 deviations; fractions say what is left.

    With weights it is that of the points that w y stands for as it was rounded.
    """
    rng = np.random.default_rng(0)
    points = far_off + rng.normal(size=(300, 3))
    weights = rng.uniform(0.1, 3.0, size=300) if is_weighted else np.ones(300)
    labels, nothing = rng.integers(2, size=300), ClusterState.empty(3)
    penalties = Penalties(4.0, max_gap=2, reach=1)
    counts, centers = assign_params(points, weights, labels, nothing, penalties)
    found = clustering_cost(points, weights, labels, counts, centers, nothing, penalties)
    exact = 2 * Fraction(4) + sum(
        Fraction(w) * sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(y, theta, strict=True))
        for y, w, theta in zip(
            points.tolist(), weights.tolist(), centers[labels].tolist(), strict=True
        )
    )
    of_points = far_off * 2.0**-53 if is_weighted else 0.0
    assert abs(Fraction(found) - exact) < exact * Fraction(1e-15 + of_points)


def test_points_taken_together_cost_nothing():
    points, penalties = np.full((5, 2), 1e7 + 0.1), Penalties(4.0, max_gap=2, reach=1)
    state, labels = ClusterState.empty(2), np.zeros(5, int)
    counts, centers = assign_params(points, np.ones(5), labels, state, penalties)
    assert clustering_cost(points, np.ones(5), labels, counts, centers, state, penalties) == 4.0
