"""Clusters that multiply: said early, stopped where a limit is given, and nothing changed."""

import warnings

import numpy as np
import pandas as pd
import pytest

from dynmeans import (
    ClusterGrowthWarning,
    ClusterLimitError,
    ClusterState,
    DPMeans,
    DynamicMeans,
    Penalties,
    fit_anytime,
    fit_groups,
    step,
)
from dynmeans.engine import guard
from dynmeans.follow.init_memory import memory_from_clusters
from dynmeans.follow.model_config import ModelConfig

OUTLIERS = 1000.0 * np.arange(4096.0)[:, None]


@pytest.fixture
def few(monkeypatch):
    """Let 20 clusters be many, in the quick follower too."""
    monkeypatch.setattr(guard, "MANY_CLUSTERS", 20)


def test_a_batch_beyond_the_limit_is_refused_and_changes_nothing():
    model = DynamicMeans(1.0, max_gap=np.inf, max_clusters=10, random_state=0)
    model.partial_fit(OUTLIERS[:8])
    before = model.state_
    with pytest.raises(ClusterLimitError, match=r"this batch would leave 16 clusters .* than 10"):
        model.partial_fit(OUTLIERS[8:16])
    assert model.state_ is before
    assert model.partial_fit(OUTLIERS[8:10]).state_.n_clusters == 10


def test_a_batch_that_clearly_passes_the_limit_is_refused_before_it_is_clustered(monkeypatch):
    sizes = []
    engine_step = guard._probe
    monkeypatch.setattr(
        guard, "_probe", lambda batch, n, *rest: sizes.append(n) or engine_step(batch, n, *rest)
    )
    monkeypatch.setattr(
        "dynmeans.engine.step.check_growth",
        lambda *arguments: pytest.fail("the batch was clustered"),
    )
    with pytest.raises(ClusterLimitError, match="2,048 of the 4,096 rows alone"):
        DynamicMeans(1.0, max_clusters=1500, random_state=0).fit(OUTLIERS)
    assert sizes == [1024, 2048]


def test_a_batch_without_an_explosion_is_looked_at_once_and_clustered():
    points = np.repeat([[0.0], [900.0]], 5000, axis=0)
    assert DPMeans(1.0, max_clusters=2, random_state=0).fit(points).state_.n_clusters == 2


def test_many_outliers_of_many_features_are_refused_within_seconds():
    # 30,000 rows at d = 20 take a minute and more: every row is compared with every other.
    points = 100.0 * np.random.default_rng(0).normal(size=(30_000, 20))
    with pytest.raises(ClusterLimitError, match="1,024 of the 30,000 rows alone"):
        DynamicMeans(1.0, max_clusters=1000, random_state=0).fit(points)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_every_backend_and_the_plain_step_know_the_limit(backend):
    arguments = (OUTLIERS[:5], ClusterState.empty(1), Penalties(1.0, max_gap=5, reach=1.5))
    orders = [[0, 1, 2, 3, 4]]
    with pytest.raises(ClusterLimitError, match="5 clusters remembered, more than 4"):
        step(*arguments, orders=orders, backend=backend, max_clusters=4)
    assert step(*arguments, orders=orders, backend=backend, max_clusters=5)[0].n_clusters == 5


def test_a_sequence_is_stopped_at_the_batch_that_passes_the_limit():
    batches = [OUTLIERS[8 * t : 8 * t + 8] for t in range(100)]
    with pytest.raises(ClusterLimitError, match="56 clusters remembered, more than 50"):
        DynamicMeans(1.0, max_gap=np.inf, max_clusters=50).fit_sequence(batches)


def test_groups_and_any_time_know_the_limit():
    frame = pd.DataFrame({"k": [0, 1, 1, 1], "x": [0.0, 0.0, 9.0, 99.0]})
    with pytest.raises(ClusterLimitError, match="key 1 would leave 3 clusters"):
        fit_groups(frame, by="k", new_penalty=1.0, max_clusters=2)
    with pytest.raises(ClusterLimitError, match="more than 100"):
        fit_anytime(OUTLIERS, penalties=1.0, batch_size=300, max_clusters=100, random_state=0)


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True])
def test_a_limit_that_is_no_count_is_refused_by_name(value):
    with pytest.raises((TypeError, ValueError), match="max_clusters must be"):
        DynamicMeans(1.0, max_clusters=value).fit([[0.0]])


def test_growth_is_said_when_clusters_become_many_and_at_every_doubling(few):
    model = DynamicMeans(1.0, max_gap=np.inf, random_state=0)
    said = []
    for t in range(12):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.partial_fit(OUTLIERS[8 * t : 8 * t + 8])
        said += [(model.state_.n_clusters, w.category) for w in caught]
    assert said == [
        (24, ClusterGrowthWarning),
        (40, ClusterGrowthWarning),
        (80, ClusterGrowthWarning),
    ]


def test_growth_within_a_sequence_is_said_too(few):
    with pytest.warns(ClusterGrowthWarning, match="24 clusters are remembered, and the number"):
        DynamicMeans(1.0, max_gap=np.inf).fit_sequence(
            [OUTLIERS[8 * t : 8 * t + 8] for t in range(3)]
        )


def test_many_clusters_of_more_than_two_points_that_open_in_one_batch_are_no_explosion(few):
    DynamicMeans(1.0, random_state=0).fit(np.repeat(OUTLIERS[:30], 3, axis=0))


def test_many_clusters_that_are_not_seen_any_more_are_said_whatever_they_hold(few):
    model = DynamicMeans(1.0, max_gap=np.inf, random_state=0)
    model.partial_fit(np.repeat(OUTLIERS[:15], 3, axis=0))
    with pytest.warns(ClusterGrowthWarning, match="25 clusters are remembered"):
        model.partial_fit(np.repeat(OUTLIERS[15:25], 3, axis=0))


def test_identities_end_with_an_error_and_not_with_negative_ones():
    state = ClusterState([0], [[0.0]], [1.0], [1.0], next_id=2**62)
    with pytest.raises(ValueError, match=r"next_id must be at most 2\*\*62.*no IDs are left"):
        DynamicMeans.from_memory(memory_from_clusters(ModelConfig(1.0), state)).partial_fit(
            OUTLIERS[:3]
        )
