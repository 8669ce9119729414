"""Events read off one step: each kind by hand, splits and mergers on streams built for them."""

from functools import partial

import numpy as np
import pytest

from dynmeans import Clustering, ClusterState, DynamicMeans
from dynmeans.algorithm.life_cycle import find_events


def state(ids, centers, counts, ages, next_id=10):
    return ClusterState(ids, np.array(centers)[:, None], counts, ages, next_id, 0, counts)


def batch(ids, centers, counts):
    return Clustering(
        labels=np.repeat(ids, counts),
        ids=np.array(ids),
        counts=np.array(counts),
        centers=np.array(centers, dtype=float)[:, None],
        cost=0.0,
        n_iter=1,
        cost_trace=np.zeros(1),
    )


def kinds(events):
    return [(event.kind, event.cluster_id) for event in events]


def test_cluster_never_seen_before_is_born():
    after = state([10], [1.0], [3.0], [1.0], next_id=11)
    assert kinds(find_events(ClusterState.empty(1), 1.0, batch([10], [1.0], [3]), after)) == [
        ("born", 10)
    ]


def test_cluster_seen_twice_in_a_row_moved():
    before, after = state([2], [1.0], [3.0], [1.0]), state([2], [1.5], [3.0], [1.0])
    (event,) = find_events(before, 1.0, batch([2], [1.5], [3]), after)
    assert (event.kind, event.cluster_id, event.displacement) == ("moved", 2, 0.5)


def test_cluster_not_seen_any_more_vanished_once():
    before, after = state([2], [1.0], [3.0], [1.0]), state([2], [1.0], [3.0], [2.0])
    assert kinds(find_events(before, 1.0, batch([], [], []), after)) == [("vanished", 2)]
    assert find_events(after, 1.0, batch([], [], []), state([2], [1.0], [3.0], [3.0])) == []


def test_cluster_seen_after_a_gap_returned():
    # Age 3 means unseen for two batches before this one; one and a half steps came on top of 2.
    before, after = state([2], [1.0], [3.0], [3.0]), state([2], [0.0], [3.0], [1.0])
    (event,) = find_events(before, 1.5, batch([2], [0.0], [3]), after)
    assert (event.kind, event.gap, event.displacement) == ("returned", 3.5, 1.0)


def test_cluster_dropped_from_memory_is_forgotten():
    before = state([2], [1.0], [3.0], [3.0])
    events = find_events(before, 1.0, batch([], [], []), ClusterState.empty(1))
    assert kinds(events) == [("forgotten", 2)]


def test_half_of_a_cluster_that_gets_a_new_name_is_a_split():
    # Ten points at 0 before; now five at -1 and five at 1: together ten at 0.
    before = state([2], [0.0], [10.0], [1.0])
    after = state([2, 10], [-1.0, 1.0], [5.0, 5.0], [1.0, 1.0], next_id=11)
    events = find_events(before, 1.0, batch([2, 10], [-1.0, 1.0], [5, 5]), after)
    assert [(e.kind, e.cluster_id, e.other_id) for e in events if e.kind == "split"] == [
        ("split", 10, 2)
    ]


def test_newborn_beside_an_undiminished_cluster_is_no_split():
    # The old cluster still has its ten points.
    before = state([2], [0.0], [10.0], [1.0])
    after = state([2, 10], [-1.0, 1.0], [10.0, 10.0], [1.0, 1.0], next_id=11)
    events = find_events(before, 1.0, batch([2, 10], [-1.0, 1.0], [10, 10]), after)
    assert kinds(events) == [("born", 10), ("moved", 2)]


def test_newborn_on_the_side_the_old_one_moved_to_is_no_split():
    # Together they lie at 2, farther from 0 than the old one alone.
    before = state([2], [0.0], [10.0], [1.0])
    after = state([2, 10], [1.0, 3.0], [5.0, 5.0], [1.0, 1.0], next_id=11)
    events = find_events(before, 1.0, batch([2, 10], [1.0, 3.0], [5, 5]), after)
    assert kinds(events) == [("born", 10), ("moved", 2)]


def test_vanished_cluster_whose_points_are_found_in_another_merged():
    # Five at -1 and five at 1 before; ten at 0 now.
    before = state([2, 3], [-1.0, 1.0], [5.0, 5.0], [1.0, 1.0])
    after = state([2, 3], [0.0, 1.0], [10.0, 5.0], [1.0, 2.0])
    events = find_events(before, 1.0, batch([2], [0.0], [10]), after)
    assert [(e.kind, e.cluster_id, e.other_id) for e in events if e.kind == "merged"] == [
        ("merged", 3, 2)
    ]


def test_cluster_that_dies_beside_another_did_not_merge():
    # The neighbor moved towards it but has no more points than before.
    before = state([2, 3], [-1.0, 1.0], [5.0, 5.0], [1.0, 1.0])
    after = state([2, 3], [0.0, 1.0], [5.0, 5.0], [1.0, 2.0])
    events = find_events(before, 1.0, batch([2], [0.0], [5]), after)
    assert kinds(events) == [("moved", 2), ("vanished", 3)]


def test_memory_in_the_center_does_not_hide_a_split():
    # Weight 20 remembered at 0, five points at -1: the center is at (20 * 0 - 5) / 25 = -0.2,
    # but the points themselves lie at -1.
    before = ClusterState([2], [[0.0]], [20.0], [1.0], 10, 0, [10.0])
    after = ClusterState([2, 10], [[-0.2], [1.0]], [25.0, 5.0], [1.0, 1.0], 11, 1, [5.0, 5.0])
    events = find_events(before, 1.0, batch([2, 10], [-0.2, 1.0], [5, 5]), after)
    assert "split" in [event.kind for event in events]


def two_groups(distance, n=60, seed=0):
    """Batches of two equal groups whose distance follows the given list."""
    rng = np.random.default_rng(seed)
    sides = np.repeat([-0.5, 0.5], n // 2)
    return [
        np.column_stack([sides * x, np.zeros(n)]) + 0.05 * rng.normal(size=(n, 2)) for x in distance
    ]


@pytest.fixture(params=["paper", "deep"])
def events_of(request):
    """Events of one kind, found with either search."""
    return partial(_events_of, request.param)


def _events_of(search, batches, kind):
    model = DynamicMeans(0.25, max_gap=4, reach=1.5, random_state=0, search=search)
    _, history = model.fit_sequence(batches)
    return [(r.step, e.cluster_id, e.other_id) for r in history for e in r.events if e.kind == kind]


@pytest.mark.parametrize("seed", range(5))
def test_one_group_that_becomes_two_is_seen_as_one_split(events_of, seed):
    apart = [0.0] * 4 + [0.2, 0.5, 0.8, 1.1, 1.4] + [1.5] * 3
    batches = two_groups(apart, seed=seed)
    splits = events_of(batches, "split")
    assert [(child, parent) for _, child, parent in splits] == [(1, 0)]
    assert events_of(batches, "merged") == []


@pytest.mark.parametrize("seed", range(5))
def test_two_groups_that_become_one_are_seen_as_one_merger(events_of, seed):
    together = [1.5] * 3 + [1.4, 1.1, 0.8, 0.5, 0.3, 0.15] + [0.0] * 4
    batches = two_groups(together, seed=seed)
    mergers = events_of(batches, "merged")
    assert [{a, b} for _, a, b in mergers] == [{0, 1}]
    assert events_of(batches, "split") == []


def test_clusters_that_die_and_are_born_neither_split_nor_merge(events_of):
    rng = np.random.default_rng(0)
    centers = rng.random((6, 2)) * 10
    batches = [
        np.vstack([c + 0.05 * rng.normal(size=(20, 2)) for c in centers[[t % 6, (t + 1) % 6]]])
        for t in range(30)
    ]
    assert events_of(batches, "split") == events_of(batches, "merged") == []
