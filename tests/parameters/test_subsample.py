"""Choices on a sample of the points, where there are many."""

import numpy as np
import pytest

from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.engine.batch import Batch
from dynmeans.parameters import selection
from dynmeans.parameters.selection import suggest
from dynmeans.parameters.subsample import subsample

STREAM = moving_gaussians(
    8, 4, rng=np.random.default_rng(0), spread=0.02, motion=0.01, death=0.0, points_per_cluster=150
)


@pytest.fixture
def few(monkeypatch):
    """As if 600 points were many."""
    for name, value in (("N_WHOLE", 600), ("N_SEARCHED", 600), ("N_REFINED", 1600)):
        monkeypatch.setattr(selection, name, value)


def test_a_stream_that_is_small_enough_is_looked_at_whole():
    found = suggest(STREAM.batches)
    assert found.n_points == found.n_sampled_points == 4800
    assert " of them used" not in found.explanation


def test_of_many_points_a_sample_is_searched_and_the_choice_is_the_same(few):
    found = suggest(STREAM.batches)
    assert (found.n_points, found.n_sampled_points) == (4800, 1600)
    assert "8 batches (4,800 points, 1,600 of them used) have 4 clusters" in (found.explanation)
    assert (found.chosen.n_clusters_per_batch, found.chosen.n_clusters_total) == (4.0, 4)


def test_the_order_of_the_rows_does_not_change_the_sample():
    rng = np.random.default_rng(1)
    rows = STREAM.batches[0]
    weights = rng.integers(1, 4, len(rows)).astype(float)
    shuffled = rng.permutation(len(rows))
    (first,) = subsample([Batch(rows, weights)], 50)
    (second,) = subsample([Batch(rows[shuffled], weights[shuffled])], 50)
    order, other = (np.lexsort(batch.points.T) for batch in (first, second))
    np.testing.assert_array_equal(first.points[order], second.points[other])
    np.testing.assert_array_equal(first.weights[order], second.weights[other])


def test_about_so_many_clusters_are_found_on_a_sample_too(few):
    found = selection.suggest(STREAM.batches, n_clusters=4)
    assert found.chosen.n_clusters_per_batch == 4.0
