"""Sums whose bits do not depend on the order of their terms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans import ClusterState, Penalties
from dynmeans.algorithm.sums import (
    round_to,
    squared_distances,
    sum_by_slot,
    sum_of,
    sum_over_slots,
    sum_units,
)

TERMS = st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=40)
EXPONENTS = st.integers(-1074, 500)


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


def test_rows_are_added_into_their_slots_and_unlabeled_ones_left_out():
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    labels = np.array([1, -1, 0, 1])
    assert sum_by_slot(values, labels, 3, 0.5).tolist() == [[4.0], [9.0], [0.0]]


def test_terms_are_rounded_to_multiples_of_the_unit_and_ties_to_even_ones():
    # In units of 0.5: 0.6, 0.5, 1.5 and -2.5, of which the halves go to 0, 2 and -2.
    values = np.array([0.3, 0.25, 0.75, -1.25])
    assert round_to(values, 0.5).tolist() == [0.5, 0.0, 1.0, -1.0]


@given(TERMS, EXPONENTS)
def test_rounded_terms_are_the_nearest_multiples(terms, exponent):
    unit = Fraction(2) ** exponent
    for x, found in zip(terms, round_to(np.array(terms), float(unit)).tolist(), strict=True):
        assert Fraction(found) == round(Fraction(x) / unit) * unit


@given(TERMS, EXPONENTS, st.randoms())
def test_a_sum_is_exact_but_for_one_rounding_whatever_the_order(terms, exponent, random):
    unit = 2.0**exponent
    expected = sum(round(Fraction(x) / Fraction(unit)) * Fraction(unit) for x in terms)
    random.shuffle(terms)
    assert sum_of(np.array(terms), unit) == float(expected)


def test_units_follow_from_the_lightest_point_and_the_reach_of_a_cluster():
    # sqrt(lambda) = 2 is less than 8, and more than 1; 0.25 of 2, of 1, and of 4.
    points, weights = np.array([[8.0, 1.0], [0.0, 0.5]]), np.array([0.25, 3.0])
    units = sum_units(points, weights, ClusterState.empty(2), Penalties(4.0, max_gap=2, reach=1))
    assert units.weight == 0.25 * 2.0**-60
    assert units.coordinates.tolist() == [0.5 * 2.0**-60, 0.25 * 2.0**-60]
    assert units.cost == 1.0 * 2.0**-80


def test_points_of_weight_zero_do_not_change_the_units():
    points, weights = np.array([[1.0], [1e100]]), np.array([1.0, 0.0])
    penalties, nothing = Penalties(4.0, max_gap=2, reach=1), ClusterState.empty(1)
    alone = sum_units(points[:1], weights[:1], nothing, penalties)
    assert sum_units(points, weights, nothing, penalties) == alone


def test_an_outlier_takes_nothing_from_the_other_clusters():
    points, labels = np.array([[1e100], [1.1], [1.3]]), np.array([0, 1, 1])
    units = sum_units(points, np.ones(3), ClusterState.empty(1), Penalties(1.0, max_gap=2, reach=1))
    sums = sum_by_slot(points, labels, 2, units.coordinates)
    assert sums[:, 0].tolist() == [1e100, math.fsum([1.1, 1.3])]


def test_slots_are_added_one_by_one():
    # 1e16 + 1 + 1 loses both ones.
    assert sum_over_slots(np.array([1e16, 1.0, 1.0])) == 1e16
    assert sum_over_slots(np.empty(0)) == 0.0
