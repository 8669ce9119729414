"""Scores without truth: silhouettes, stability and life times."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from dynmeans.metrics import life_times, quality_report, silhouettes, stability


def test_silhouette_of_a_batch_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [4, 4]], 20, axis=0)
    labels = np.repeat([7, 3], 20)
    assert silhouettes([points], [labels])[0] == silhouette_score(points, labels)


def test_batch_of_one_cluster_or_of_single_points_has_no_silhouette():
    points = [[[0.0], [1.0]], [[0.0], [1.0]], np.empty((0, 1))]
    assert np.isnan(silhouettes(points, [[0, 0], [0, 1], []])).all()


def test_points_in_no_cluster_are_left_out():
    points = [[[0.0], [0.1], [5.0], [5.1], [99.0]]]
    with_noise = silhouettes(points, [[0, 0, 1, 1, -1]])
    assert with_noise[0] == silhouettes([points[0][:4]], [[0, 0, 1, 1]])[0]
    assert stability([[0], [0, -1]]) == 1.0
    assert life_times([[0, -1]]) == {0: 1}


def test_large_batch_is_scored_on_the_same_draw_each_time():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(500, 1)) + np.repeat([[0.0], [9.0]], 250, axis=0)
    labels = [np.repeat([0, 1], 250)]
    first = silhouettes([points], labels, max_points=50)
    assert first[0] == silhouettes([points], labels, max_points=50)[0]
    assert first[0] == pytest.approx(silhouettes([points], labels)[0], abs=0.05)


def test_stability_is_the_share_of_points_in_clusters_of_the_batch_before():
    # batch 1: points of 0 and 1 were there, 2 is new: 3 of 4; batch 2: 0 was there, 9 not: 1 of 2
    assert stability([[0, 1], [0, 1, 1, 2], [0, 9]]) == 4 / 6


def test_life_is_counted_from_first_to_last_sight():
    assert life_times([["a", "b"], ["a"], ["b"]]) == {"a": 2, "b": 3}


def test_report_has_all_of_them():
    points = [[[0.0], [0.1], [5.0], [5.1]]] * 3
    report = quality_report(points, [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 1, 1]])
    assert report["silhouette"] == pytest.approx(0.98, abs=0.01)
    assert report["stability"] == 6 / 8
    assert report["life_time"] == (2 + 3 + 1) / 3
    assert report["n_identities"] == 3


def test_batches_that_do_not_correspond_are_refused():
    with pytest.raises(ValueError, match="one batch for each of 2 batches of labels, got 1"):
        silhouettes([[[0.0]]], [[0], [0]])
    with pytest.raises(ValueError, match=r"points\[0\] and labels\[0\] must have the same number"):
        silhouettes([[[0.0], [1.0]]], [[0]])
