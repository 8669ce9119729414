"""Algorithms 1 and 2: what the paper promises."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from streams import batch_lists, light_batches, penalties_strategy, run

from dynmeans import ClusterState, Penalties
from dynmeans.algorithm.cluster import cluster
from dynmeans.algorithm.cost import clustering_cost
from dynmeans.algorithm.dynamic_means import dynamic_means, step
from dynmeans.algorithm.update_state import advance_time, update_state


@given(
    batches=batch_lists(weights=(0.0, 0.1, 0.3, 1.0, 2.5)),
    penalties=penalties_strategy,
    revival=st.sampled_from(["paper", "exact"]),
)
def test_cost_never_rises_within_a_batch(batches, penalties, revival):
    """Theorem 1."""
    for clustering, _ in run(batches, penalties, revival=revival):
        trace = clustering.cost_trace
        assert np.all(np.diff(trace) <= 1e-9 * (1 + trace[:-1]))


@given(case=light_batches())
def test_cost_never_rises_where_points_weigh_less_than_1(case):
    for clustering, _ in run(*case):
        assert np.all(np.diff(clustering.cost_trace) <= 0)


def test_a_pass_that_raises_the_cost_is_not_returned():
    # All join 0, since 2^2 is not above lambda = 4. The center is then (0 - 2 + 0.25 * 2) / 2.25 =
    # -2/3, and the cost 4 + 4/9 + 16/9 + 0.25 * 64/9 = 8. The point at 2 is now at 64/9 > 4 and
    # opens a cluster, although it weighs little: 2 * 4 + 1 + 1 = 10.
    points, weights = np.array([[0.0], [-2.0], [2.0]]), np.array([1.0, 1.0, 0.25])
    penalties = Penalties(4.0, max_gap=2, reach=1)
    found = cluster(points, weights, ClusterState.empty(1), penalties, np.arange(3))
    assert found.labels.tolist() == [0, 0, 0]
    np.testing.assert_allclose(found.centers, [[-2 / 3]])
    np.testing.assert_allclose(found.cost_trace, [8.0])


def _last_solution(batches, penalties):
    """The last batch's solution, with the state it started from."""
    earlier = run(batches[:-1], penalties)
    last = batches[-1]
    state = earlier[-1][1] if earlier else ClusterState.empty(last.points.shape[1])
    state = advance_time(state, last.elapsed, penalties)
    weights = np.ones(len(last.points)) if last.sample_weight is None else last.sample_weight
    order = last.orders[0][weights[last.orders[0]] > 0]
    solution = cluster(last.points, weights, state, penalties, order)
    return last, weights, state, solution


@given(batches=batch_lists(), penalties=penalties_strategy, nudge=st.floats(-1, 1))
def test_centers_minimise_the_cost_of_their_labels(batches, penalties, nudge):
    batch, weights, state, found = _last_solution(batches, penalties)
    seen = found.counts > 0
    scale = max(1.0, np.abs(batch.points).max(initial=0))
    moved = np.where(seen[:, None], found.centers + nudge, found.centers)
    nudged = clustering_cost(
        batch.points, weights, found.labels, found.counts, moved, state, penalties
    )
    # Coordinates near 1e6 carry rounding of 1e-10 into every difference.
    assert found.cost <= nudged + 1e-9 * (1 + nudged) + 1e-15 * scale**2


@given(batches=batch_lists(), penalties=penalties_strategy)
def test_forgotten_cluster_could_not_have_been_revived(batches, penalties):
    batch, _, state, found = _last_solution(batches, penalties)
    after = update_state(
        found.counts, found.centers, state, state.centers, penalties, batch.elapsed
    )
    forgotten = ~np.isin(state.ids, after.ids)
    next_elapsed = 1.0 if batch.elapsed >= 1 else np.finfo(float).tiny
    dt = state.ages[forgotten] + next_elapsed
    assert np.all(penalties.revival_penalty * dt > penalties.new_penalty)


def test_stops_when_no_label_changes():
    points, order = np.array([[0.0], [1.0], [9.0]]), np.arange(3)
    penalties = Penalties(4.0, revival_penalty=1.0, drift=0.5)
    found = cluster(points, np.ones(3), ClusterState.empty(1), penalties, order)
    # Two clusters, and 0.5 for the two points half a unit from their mean; the second pass
    # changes nothing.
    assert found.cost_trace == [8.5, 8.5]


def test_cheapest_restart_is_kept():
    # From the left: {0, 1.5} and {3}, cost 8 + 2 * 0.75^2. From the middle: one cluster, cost
    # 4 + 2 * 1.5^2 = 8.5.
    points, penalties = np.array([[0.0], [1.5], [3.0]]), Penalties(4.0, max_gap=2, reach=1)
    orders = np.array([[0, 1, 2], [1, 0, 2]])
    _, clustering = step(points, ClusterState.empty(1), penalties, orders, 1.0, None)
    assert clustering.cost == 8.5
    assert clustering.labels.tolist() == [0, 0, 0]


def test_first_of_equally_cheap_restarts_is_kept():
    # 2 joins 0 or 4, whichever was opened first; both cost the same.
    points, penalties = np.array([[0.0], [2.0], [4.0]]), Penalties(4.0, max_gap=2, reach=1)
    orders = np.array([[2, 1, 0], [0, 1, 2]])
    _, clustering = step(points, ClusterState.empty(1), penalties, orders, 1.0, None)
    assert clustering.labels.tolist() == [1, 0, 0]


def test_new_identities_are_handed_out_in_order_of_birth():
    points, penalties = np.array([[9.0], [0.0]]), Penalties(4.0, max_gap=2, reach=1)
    _, clustering = step(points, ClusterState.empty(1), penalties, np.array([[1, 0]]), 1.0, None)
    assert clustering.labels.tolist() == [1, 0]


def test_algorithm_1_carries_identities_from_batch_to_batch():
    penalties = Penalties(4.0, max_gap=5, reach=1.5)
    batches = [
        (np.array([[0.0], [9.0]]), np.array([[0, 1]])),
        (np.array([[9.5], [20.0]]), np.array([[0, 1]])),
        (np.array([[0.3]]), np.array([[0]])),
    ]
    found = [c.labels.tolist() for c in dynamic_means(batches, 1, penalties)]
    assert found == [[0, 1], [1, 2], [0]]


def test_empty_batch_lets_time_pass():
    penalties = Penalties(4.0, max_gap=5, reach=1.5)
    state = ClusterState([0], [[0.0]], [1.0], [1.0], next_id=1)
    state, clustering = step(
        np.empty((0, 1)), state, penalties, np.empty((1, 0), dtype=int), 2.0, None
    )
    assert state.ages.tolist() == [3.0]
    assert (clustering.cost, len(clustering.labels), len(clustering.ids)) == (0.0, 0, 0)


def test_zero_weight_point_changes_nothing_and_is_labeled_as_predicted():
    penalties = Penalties(4.0, max_gap=5, reach=1.5)
    points, weights = np.array([[0.0], [1.0], [7.0]]), np.array([1.0, 0.0, 0.0])
    state, clustering = step(
        points, ClusterState.empty(1), penalties, np.array([[2, 1, 0]]), 1.0, weights
    )
    assert clustering.labels.tolist() == [0, 0, -1]
    assert state.centers.tolist() == [[0.0]]
