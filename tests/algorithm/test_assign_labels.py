"""Eq. 5 and the rules around it, with numbers worked by hand."""

import numpy as np
import pytest

from dynmeans.algorithm.assign_labels import assign_labels, revival_costs
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

PENALTIES = Penalties(4.0, revival_penalty=1.0, drift=0.5)
EMPTY = ClusterState.empty(1)
# dt = 2: Q dt = 2, tau dt + 1 = 2, gamma = 1 / (1/1 + 1) = 1/2
REMEMBERED = ClusterState(ids=[5], centers=[[0.0]], weights=[1.0], ages=[2.0], next_id=6)


def labels_of(points, state=EMPTY, labels=None, centers=None, order=None, revival="paper"):
    points = np.array(points, dtype=float)[:, None]
    labels = np.full(len(points), -1) if labels is None else np.array(labels)
    centers = state.centers if centers is None else np.array(centers, dtype=float)[:, None]
    order = np.arange(len(points)) if order is None else np.array(order)
    penalties = PENALTIES.with_revival(revival)
    return assign_labels(points, labels, centers, state, penalties, order).tolist()


def test_paper_rule_divides_the_distance_by_tau_dt_plus_one():
    costs = revival_costs(REMEMBERED, PENALTIES)
    assert (costs.offsets[0], costs.scales[0]) == (2.0, 0.5)


def test_exact_rule_is_the_rise_of_the_cost_for_one_point():
    # gamma / (1 + gamma) = (1/2) / (3/2)
    costs = revival_costs(REMEMBERED, PENALTIES.with_revival("exact"))
    assert costs.offsets[0] == 2.0
    assert costs.scales[0] == pytest.approx(1 / 3)


def test_point_beyond_new_penalty_opens_a_cluster():
    assert labels_of([0.0, 2.1]) == [0, 1]


def test_point_at_exactly_new_penalty_joins():
    assert labels_of([0.0, 2.0]) == [0, 0]


def test_equal_distances_go_to_the_lower_slot():
    assert labels_of([-1.5, 1.5, 0.0], order=[0, 1, 2]) == [0, 1, 0]
    assert labels_of([-1.5, 1.5, 0.0], order=[1, 0, 2]) == [1, 0, 0]


def test_point_revives_a_remembered_cluster_within_reach():
    # 2 + 1.9^2 / 2 = 3.8 <= 4
    assert labels_of([1.9], state=REMEMBERED) == [0]


def test_point_out_of_reach_of_memory_opens_a_cluster():
    # 2 + 2.1^2 / 2 = 4.2 > 4
    assert labels_of([2.1], state=REMEMBERED) == [1]


def test_revived_center_lies_between_memory_and_its_first_point():
    # gamma = 1/2: the center moves to (0.5 * 0 + 1.5) / 1.5 = 1, so 2.9 (1.9^2 < 4) joins it,
    # while it would have been 2 + 2.9^2 / 2 > 4 away from the memory itself.
    assert labels_of([1.5, 2.9], state=REMEMBERED) == [0, 0]


def test_centers_stand_still_within_a_pass():
    # The cluster opened at 0 stays there; were it at the mean 0.95, 2.5 would join it.
    assert labels_of([0.0, 1.9, 2.5]) == [0, 0, 1]


def test_emptied_new_cluster_is_gone_at_once():
    # Slot 1 (center 3) loses its only point to slot 0; the next point at 3 opens a new one,
    # which takes the free number.
    assert labels_of([0.0, 0.5, 3.0], labels=[0, 1, 0], centers=[0.4, 3.0]) == [0, 0, 1]


def test_emptied_remembered_cluster_falls_back_to_its_memory():
    # Revived at 6 by point 0, which now prefers the new cluster at 5; after that the cluster is
    # back at 0 with cost 2 + 6^2 / 2, so the point at 6 joins the one at 5 too.
    found = labels_of([5.1, 5.0, 6.0], state=REMEMBERED, labels=[0, 1, 1], centers=[6.0, 5.0])
    assert found == [1, 1, 1]


def test_order_decides_which_point_opens_a_cluster():
    assert labels_of([0.0, 1.5, 3.0], order=[0, 1, 2]) == [0, 0, 1]
    assert labels_of([0.0, 1.5, 3.0], order=[1, 0, 2]) == [0, 0, 0]
