"""UpdateC, Eq. 14, with numbers worked by hand."""

import numpy as np

from dynmeans.algorithm.cluster import Solution
from dynmeans.algorithm.update_state import advance_time, update_state
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

# N_Q = 2.5 batches
PENALTIES = Penalties(1.0, revival_penalty=0.4, drift=1.0)
STATE = ClusterState(
    ids=[3, 8], centers=[[0.0], [9.0]], weights=[1.0, 5.0], ages=[1.0, 1.0], next_id=10, n_steps=6
)
# Slot 0 seen with two points, slot 1 not, one new cluster with three.
SOLUTION = Solution(
    labels=np.array([0, 0, 2, 2, 2]),
    counts=np.array([2.0, 0.0, 3.0]),
    centers=np.array([[1.0], [9.0], [4.0]]),
    cost_trace=[1.0],
)


def updated(ages=(1.0, 1.0), elapsed=1.0):
    state = ClusterState(STATE.ids, STATE.centers, STATE.weights, ages, 10, 6)
    return update_state(SOLUTION.counts, SOLUTION.centers, state, state.centers, PENALTIES, elapsed)


def test_seen_cluster_gains_its_points_and_is_one_batch_old():
    # w = gamma + n = 1 / (1/1 + 1 * 1) + 2
    state = updated()
    assert (state.ids[0], state.ages[0], state.weights[0]) == (3, 1.0, 2.5)
    assert state.centers[0].tolist() == [1.0]


def test_unseen_cluster_keeps_everything_but_its_age():
    state = updated()
    assert (state.ids[1], state.ages[1], state.weights[1]) == (8, 2.0, 5.0)
    assert state.centers[1].tolist() == [9.0]


def test_new_cluster_gets_the_next_identity_and_its_count_as_weight():
    state = updated()
    assert (state.ids[2], state.ages[2], state.weights[2]) == (10, 1.0, 3.0)
    assert state.next_id == 11


def test_steps_are_counted():
    assert updated().n_steps == 7


def test_cluster_too_old_to_be_revived_is_forgotten():
    # At the next batch dt = 3 and Q dt = 1.2 > lambda.
    assert updated(ages=(1.0, 2.0)).ids.tolist() == [3, 10]


def test_cluster_that_can_just_be_revived_is_kept():
    # At the next batch dt = 2.5 and Q dt = lambda, no more.
    assert updated(ages=(1.0, 1.5)).ids.tolist() == [3, 8, 10]


def test_in_a_stream_faster_than_its_clock_nothing_is_forgotten_early():
    # A batch half a step after the last: the next one may come at dt = 2.1, Q dt = 0.84 < lambda.
    assert updated(ages=(1.0, 2.0), elapsed=0.5).ids.tolist() == [3, 8, 10]
    # dt = 2.6 already: gone whenever the next one comes.
    assert updated(ages=(1.0, 2.6), elapsed=0.5).ids.tolist() == [3, 10]


def test_cluster_seen_in_the_last_batch_is_elapsed_steps_old_when_the_next_arrives():
    assert advance_time(STATE, 2.5, PENALTIES).ages.tolist() == [2.5, 2.5]
