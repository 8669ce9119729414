"""Motion: a position-velocity walk in units of the noise; without velocity, the paper's model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import batch_lists, run, still_penalties

from dynmeans import ClusterState, Penalties, VisitingOrders, step
from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.forecast import forecast
from dynmeans.algorithm.motion import (
    position_growth,
    predict_state,
    update_velocities,
    velocity_mask,
)
from dynmeans.algorithm.predict_labels import predict_labels
from dynmeans.algorithm.update_state import advance_time, update_state

# tau = 0.5 and so q = 0.125 a step.
STEADY = Penalties(10.0, revival_penalty=1.0, drift=0.5, motion="constant_velocity")


def state_of(centers, *, weight=2.0, age=1.0, velocity=3.0, p12=0.25, p22=0.5):
    centers = np.array(centers, dtype=float)
    k = len(centers)
    return ClusterState(
        ids=np.arange(k),
        centers=centers,
        weights=np.full(k, weight),
        ages=np.full(k, age),
        next_id=k,
        velocities=np.full(centers.shape, velocity),
        velocity_covariances=np.tile([p12, p22], (k, 1)),
    )


ONE = state_of([[10.0]])


def test_cluster_is_expected_where_its_velocity_takes_it():
    # 10 + 3 * 2
    assert advance_time(ONE, 2.0, STEADY).centers.tolist() == [[16.0]]


def test_still_cluster_is_expected_where_it_was():
    arrived = advance_time(ONE, 2.0, STEADY.with_motion("random_walk"))
    assert arrived.centers.tolist() == [[10.0]]
    assert arrived.velocities is None


def test_uncertainty_of_the_position_grows_with_that_of_the_velocity():
    # tau dt + 2 P12 dt + P22 dt^2 + q dt^3 / 3 = 1 + 1 + 2 + 1/3
    growth = position_growth(advance_time(ONE, 2.0, STEADY), STEADY)
    np.testing.assert_allclose(growth, [4 + 1 / 3])


def test_still_uncertainty_grows_by_tau_a_step():
    still = STEADY.with_motion("random_walk")
    assert position_growth(advance_time(ONE, 2.0, still), still).tolist() == [1.0]


def test_prior_weight_is_what_is_left_after_that_growth():
    # 1 / (1/2 + 13/3)
    np.testing.assert_allclose(prior_weights(advance_time(ONE, 2.0, STEADY), STEADY), [6 / 29])


@pytest.mark.parametrize(("revival", "scale"), [("paper", 3 / 16), ("exact", 6 / 35)])
def test_reviving_grows_cheaper_with_distance_as_uncertainty_grows(revival, scale):
    # paper: 1 / (13/3 + 1); exact: 1 / (1/2 + 13/3 + 1)
    costs = revival_costs(advance_time(ONE, 2.0, STEADY), STEADY.with_revival(revival))
    np.testing.assert_allclose(costs.scales, [scale])
    assert costs.offsets.tolist() == [2.0]


def test_velocity_is_learned_as_a_kalman_filter_does():
    arrived, n, mean = advance_time(ONE, 2.0, STEADY), 4.0, np.array([[18.0]])
    # The filter in matrices: x' = F x, P' = F P F^T + noise, observed with variance 1/n.
    dt, tau, q = 2.0, 0.5, 0.125
    move = np.array([[1.0, dt], [0.0, 1.0]])
    noise = np.array([[tau * dt + q * dt**3 / 3, q * dt**2 / 2], [q * dt**2 / 2, q * dt]])
    cov = move @ np.array([[0.5, 0.25], [0.25, 0.5]]) @ move.T + noise
    x = move @ np.array([10.0, 3.0])
    gain = cov[:, 0] / (cov[0, 0] + 1 / n)
    x, cov = x + gain * (18.0 - x[0]), cov - np.outer(gain, cov[0])

    gamma = prior_weights(arrived, STEADY)
    center = (gamma[:, None] * arrived.centers + n * mean) / (gamma + n)[:, None]
    velocities, covariances = update_velocities(arrived, gamma, np.array([n]), center, STEADY)
    np.testing.assert_allclose([center[0, 0], velocities[0, 0]], x, rtol=1e-14)
    np.testing.assert_allclose([1 / (gamma[0] + n), *covariances[0]], cov[[0, 0, 1], [0, 1, 1]])


def test_newborn_has_no_velocity_and_one_of_variance_tau():
    after, _ = step([[1.0]], ClusterState.empty(1), STEADY, orders=[[0]], backend="reference")
    assert after.velocities.tolist() == [[0.0]]
    assert after.velocity_covariances.tolist() == [[0.0, 0.5]]


def test_unseen_cluster_keeps_course_from_where_it_was_last_seen():
    after, _ = step([[99.0]], ONE, STEADY, orders=[[0]], backend="reference")
    assert after.centers[0].tolist() == [10.0]
    assert after.velocities[0].tolist() == [3.0]
    assert after.velocity_covariances[0].tolist() == [0.25, 0.5]
    assert advance_time(after, 1.0, STEADY).centers[0].tolist() == [16.0]


def test_cluster_is_found_again_behind_the_crossing_where_its_course_took_it():
    penalties = Penalties(4.0, max_gap=8, reach=1.5, motion="constant_velocity")
    # They meet at t = 5.
    state, labels = ClusterState.empty(1), {}
    for t in [0, 1, 2, 3, 8, 9]:
        elapsed = 5.0 if t == 8 else 1.0
        state, found = step(
            [[-5.0 + t], [5.0 - t]], state, penalties, orders=[[0, 1]], elapsed=elapsed
        )
        labels[t] = found.labels.tolist()
    assert set(map(tuple, labels.values())) == {(0, 1)}


def test_features_that_do_not_move_are_expected_where_they_were():
    penalties = STEADY.with_motion("constant_velocity", [0])
    state = state_of([[10.0, 7.0]])
    assert advance_time(state, 2.0, penalties).centers.tolist() == [[16.0, 7.0]]
    after, _ = step([[14.0, 8.0]], state, penalties, orders=[[0]], backend="reference")
    assert after.velocities[0, 0] > 3.0
    assert after.velocities[0, 1] == 0.0


def test_still_state_goes_on_as_steady_with_newborn_velocities():
    still = ClusterState([0], [[10.0]], [2.0], [1.0], next_id=1)
    arrived = advance_time(still, 1.0, STEADY)
    assert arrived.centers.tolist() == [[10.0]]
    assert arrived.velocity_covariances.tolist() == [[0.0, 0.5]]


def test_steady_state_goes_on_as_still_without_velocities():
    after, _ = step([[10.0]], ONE, STEADY.with_motion("random_walk"), orders=[[0]])
    assert after.velocities is None
    assert after.velocity_covariances is None


@given(batches=batch_lists(), penalties=still_penalties)
def test_without_drift_a_course_is_never_learned(batches, penalties):
    penalties = Penalties(penalties.new_penalty, revival_penalty=0.1, drift=0.0)
    still, steady = (
        run(batches, penalties),
        run(batches, penalties.with_motion("constant_velocity")),
    )
    for (expected, _), (found, state) in zip(still, steady, strict=True):
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.cost == expected.cost
        assert not state.velocities.any()


@given(
    dt=st.floats(1e-3, 1e9),
    weight=st.floats(1e-3, 1e6),
    p12=st.floats(0, 10),
    p22=st.floats(0, 10),
    n=st.floats(1e-3, 1e6),
)
def test_covariances_stay_those_of_a_random_pair(dt, weight, p12, p22, n):
    p12 = min(p12, 0.99 * (p22 / weight) ** 0.5)
    arrived = advance_time(state_of([[0.0]], weight=weight, p12=p12, p22=p22), dt, STEADY)
    gamma = prior_weights(arrived, STEADY)
    _, covariances = update_velocities(arrived, gamma, np.array([n]), np.ones((1, 1)), STEADY)
    p11, (p12, p22) = 1 / (gamma[0] + n), covariances[0]
    assert min(p12, p22) >= 0
    assert p12**2 <= p11 * p22 * (1 + 1e-6) + 1e-12


def test_course_is_kept_for_a_million_steps_and_no_longer():
    late = predict_state(ONE, np.array([1e200]), STEADY)
    assert late.centers.tolist() == [[10.0 + 3e6]]
    assert np.isfinite(position_growth(late, STEADY)).all()


def test_update_puts_unseen_clusters_back():
    arrived = advance_time(ONE, 1.0, STEADY)
    after = update_state(np.zeros(1), arrived.centers, arrived, ONE.centers, STEADY, 1.0)
    assert after.centers.tolist() == [[10.0]]


def test_prediction_looks_ahead():
    labels, costs = predict_labels(np.array([[16.0]]), ONE, STEADY, elapsed=2.0)
    assert labels.tolist() == [0]
    assert costs.tolist() == [2.0]  # Q dt, and no distance


def test_forecast_reaches_as_far_as_reviving_pays():
    # sqrt((lambda - Q dt) (growth + 1)) = sqrt((10 - 2) * 16/3)
    found = forecast(ONE, 2.0, STEADY)
    assert found.centers.tolist() == [[16.0]]
    np.testing.assert_allclose(found.radii, [(8 * 16 / 3) ** 0.5])


def test_forecast_of_one_that_cannot_come_back_has_no_radius():
    assert forecast(ONE, 11.0, STEADY).radii.tolist() == [0.0]


def test_moving_feature_that_there_is_not_is_refused_and_nothing_changes():
    with pytest.raises(
        ValueError, match="moving_features must name features of the points, which have 1"
    ):
        step([[1.0]], ONE, STEADY.with_motion("constant_velocity", [4]), orders=VisitingOrders(0))


def test_moving_features_are_factors():
    assert velocity_mask(STEADY.with_motion("constant_velocity", [2, 0]), 3).tolist() == [
        1.0,
        0.0,
        1.0,
    ]
    assert velocity_mask(STEADY.with_motion("random_walk"), 3) is None
