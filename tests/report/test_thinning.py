"""What is left out: the same rows for the same input, and never more than there is room for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans.report.downsample import (
    MAX_PER_BATCH,
    choose_clusters,
    downsample_rows,
    points_per_batch,
)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=20), st.integers(0, 2000))
def test_the_batches_fit_and_one_more_point_each_would_not(sizes, budget):
    sizes = np.array(sizes)
    n_kept = points_per_batch(sizes, budget)
    assert np.minimum(sizes, n_kept).sum() <= budget
    assert n_kept == sizes.max() or np.minimum(sizes, n_kept + 1).sum() > budget


def test_no_batch_shows_more_points_than_can_be_drawn_quickly():
    assert points_per_batch(np.array([10**9]), np.inf) == MAX_PER_BATCH


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=80), st.integers(0, 90))
def test_every_cluster_keeps_its_share_to_one_point(labels, n_kept):
    labels = np.array(labels)
    rows = downsample_rows(labels, n_kept)
    assert len(rows) == min(n_kept, len(labels)) == len(np.unique(rows))
    for label in np.unique(labels):
        share = min(n_kept / len(labels), 1.0) * np.sum(labels == label)
        assert abs(np.sum(labels[rows] == label) - share) <= 1


@pytest.mark.parametrize(("budget", "shown"), [(0, [4]), (5, [4]), (6, [2, 4]), (99, [1, 2, 4])])
def test_the_largest_clusters_are_shown_as_far_as_there_is_room(budget, shown):
    ids, n_points = np.array([1, 2, 4]), np.array([3.0, 7.0, 9.0])
    chosen = choose_clusters(ids, n_points, np.array([3.0, 3.0, 3.0]), budget)
    assert chosen.tolist() == shown


def test_of_clusters_of_one_size_the_older_is_shown():
    chosen = choose_clusters(np.array([8, 9]), np.array([5.0, 5.0]), np.array([1.0, 1.0]), 1)
    assert chosen.tolist() == [8]
