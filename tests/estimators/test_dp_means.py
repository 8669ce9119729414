"""DPMeans: one batch, no memory."""

import numpy as np
import pytest

from dynmeans import ClusterState, DPMeans, DynamicMeans, step
from dynmeans.records.penalties import dp_means_penalties

X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0)


def test_finds_the_number_of_clusters():
    model = DPMeans(new_penalty=25.0, random_state=0).fit(X)
    assert len(model.cluster_centers_) == 3
    assert sorted(np.bincount(model.labels_)) == [20, 20, 20]


def test_is_the_first_step_of_dynamic_means():
    model, other = DPMeans(4.0, random_state=0), DynamicMeans(4.0, random_state=0)
    np.testing.assert_array_equal(model.fit(X).labels_, other.fit(X).labels_)
    assert model.cost_ == other.cost_


def test_forgets_the_last_batch():
    model = DPMeans(25.0, random_state=0)
    first = model.fit(X).labels_
    model.fit(X + 100)
    np.testing.assert_array_equal(model.fit(X).labels_, first)


def test_repeated_rows_equal_weights():
    weights = np.arange(60) % 3
    weighted = DPMeans(4.0, random_state=0).fit(X, sample_weight=weights)
    repeated = DPMeans(4.0, random_state=0).fit(X.repeat(weights, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert weighted.cost_ == pytest.approx(repeated.cost_)


def test_cost_is_that_of_dp_means():
    # One cluster at 0.2 with two points 0.2 away, and one alone: 2 lambda + 2 * 0.04
    points, state = [[0.0], [0.4], [9.0]], ClusterState.empty(1)
    _, found = step(points, state, dp_means_penalties(1.0), orders=[[0, 1, 2]])
    assert found.cost == pytest.approx(2.08)


def test_all_zero_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight must have a value above 0"):
        DPMeans(1.0).fit([[1.0]], sample_weight=[0.0])
