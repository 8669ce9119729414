"""Centers on the unit sphere, with numbers worked by hand, and Theorem 1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sphere_streams import unit_batches
from streams import run

from dynmeans import ClusterState, Penalties, step
from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.assign_params import assign_params
from dynmeans.algorithm.sphere import follow_points
from dynmeans.inputs.input_error import InputError

PENALTIES = Penalties(1.7, revival_penalty=0.1, drift=0.5).with_centers("sphere")
REMEMBERED = ClusterState(ids=[7], centers=[[1.0, 0.0]], weights=[2.0], ages=[3], next_id=8)
NOTHING = ClusterState.empty(2)


def test_center_is_the_sum_of_memory_and_points_at_length_one():
    # gamma = 1 / (1/2 + 3 * 0.5) = 1/2; (1/2, 0) + (0, 1) + (0, 1) = (1/2, 2)
    points, labels = np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 0])
    counts, centers = assign_params(points, np.ones(2), labels, REMEMBERED, PENALTIES)
    assert counts.tolist() == [2]
    np.testing.assert_allclose(centers, [[0.5, 2.0]] / np.sqrt(4.25))


def test_center_of_opposite_points_is_the_first_axis_and_costs_what_any_center_does():
    points, labels = np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([0, 0])
    _, centers = assign_params(points, np.ones(2), labels, NOTHING, PENALTIES)
    assert centers.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("revival", ["paper", "exact"])
def test_revival_has_no_discount_on_the_distance(revival):
    costs = revival_costs(REMEMBERED, PENALTIES.with_revival(revival))
    np.testing.assert_allclose(costs.offsets, [0.3])
    assert costs.scales.tolist() == [1.0]


def test_center_follows_its_points_in_the_first_pass():
    # To the first point alone the third has a cosine of cos 80 = 0.17, to that of both cos 60.
    angles = np.radians([0.0, 40.0, 80.0])
    points = np.column_stack([np.cos(angles), np.sin(angles)])
    penalties = Penalties(2 * (1 - 0.4), max_gap=5, reach=1.1).with_centers("sphere")
    labels = follow_points(points, np.ones(3), NOTHING, penalties, np.arange(3))
    assert labels.tolist() == [0, 0, 0]


@settings(max_examples=100, deadline=None)
@given(
    batches=unit_batches(), cosine=st.floats(-0.1, 0.9), revival=st.sampled_from(["paper", "exact"])
)
def test_cost_falls_in_every_later_pass_and_centers_have_length_one(batches, cosine, revival):
    penalties = Penalties(2 * (1 - cosine), max_gap=4, reach=1.05).with_centers("sphere")
    for clustering, state in run(batches, penalties, revival=revival):
        trace = clustering.cost_trace
        assert np.all(np.diff(trace) <= 1e-9 * np.abs(trace[:-1]) + 1e-12)
        lengths = np.linalg.norm(state.centers, axis=1)
        np.testing.assert_allclose(lengths, 1.0, rtol=1e-12)


def test_velocities_and_deeper_search_are_refused_by_name():
    with pytest.raises(
        InputError, match="motion must be 'random_walk' for centers on the unit sphere"
    ):
        PENALTIES.with_motion("constant_velocity")
    with pytest.raises(
        InputError, match="motion must be 'random_walk' for centers on the unit sphere"
    ):
        Penalties(1.0, max_gap=5, reach=1.1, motion="constant_velocity").with_centers("sphere")
    for search in ("split", "deep"):
        with pytest.raises(InputError, match="search must be 'paper' for centers on the unit"):
            step([[1.0, 0.0]], NOTHING, PENALTIES, orders=[[0]], search=search)


def test_points_that_are_not_on_the_sphere_are_refused():
    with pytest.raises(InputError, match="row 1 has length 2"):
        step([[1.0, 0.0], [0.0, 2.0]], NOTHING, PENALTIES, orders=[[0, 1]])


def test_penalties_keep_their_centers_in_a_file_and_know_older_ones():
    assert Penalties.from_json(PENALTIES.to_json()).is_on_sphere
    old = {name: value for name, value in PENALTIES.to_json().items() if name != "centers"}
    assert Penalties.from_json(old).centers == "mean"
