"""Followed: identities for the clusters of any clusterer."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans

from dynmeans import Followed

PLACES = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])


def batch(rng, places, n_points=30):
    return np.repeat(places, n_points, axis=0) + rng.normal(
        scale=0.3, size=(len(places) * n_points, 2)
    )


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(3, n_init=3, random_state=0), DBSCAN(1.0), HDBSCAN(copy=True)],
    ids=["KMeans", "DBSCAN", "HDBSCAN"],
)
def test_clusters_keep_their_identity_while_they_move(clusterer):
    rng = np.random.default_rng(0)
    model = Followed(clusterer)
    found = set()
    for t in range(8):
        labels = model.partial_fit(batch(rng, PLACES + 0.3 * t)).labels_
        found.add(tuple(np.bincount(part[part >= 0]).argmax() for part in np.split(labels, 3)))
    assert len(found) == 1


def test_a_cluster_that_was_away_comes_back_under_its_identity():
    rng = np.random.default_rng(1)
    labels = Followed(DBSCAN(1.0)).fit_sequence(
        [batch(rng, PLACES), batch(rng, PLACES[:2]), batch(rng, PLACES[:2]), batch(rng, PLACES)]
    )
    assert labels[3][-1] == labels[0][-1]


def test_noise_stays_noise():
    rng = np.random.default_rng(2)
    points = np.vstack([batch(rng, PLACES), [[5.0, 5.0]]])
    model = Followed(DBSCAN(1.0)).fit(points)
    assert model.labels_[-1] == -1
    assert set(model.labels_[:-1]) == {0, 1, 2}


def test_a_batch_of_noise_lets_time_pass():
    rng = np.random.default_rng(3)
    model = Followed(DBSCAN(1.0)).fit(batch(rng, PLACES))
    model.partial_fit([[50.0, 50.0]])
    assert model.labels_.tolist() == [-1]
    assert model.follower_.cluster_ages_.tolist() == [2, 2, 2]


def test_a_failed_batch_changes_nothing():
    rng = np.random.default_rng(4)
    model = Followed(KMeans(3, n_init=1, random_state=0)).fit(batch(rng, PLACES))
    before = model.labels_
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        model.partial_fit([[0.0, 0.0], [1.0, 1.0]])
    assert model.labels_ is before
    assert model.follower_.n_steps_ == 1


def test_the_clusterer_that_was_given_is_not_fitted():
    rng = np.random.default_rng(5)
    clusterer = KMeans(3, n_init=1, random_state=0)
    model = Followed(clusterer).fit(batch(rng, PLACES))
    assert not hasattr(clusterer, "labels_")
    assert model.clusterer_.n_clusters == 3


def test_a_sequence_that_fails_leaves_the_model_as_it_was():
    batches = [rng_batch(0), rng_batch(1)]
    model = Followed(KMeans(2, n_init=1, random_state=0))
    model.fit_sequence(batches)
    labels = model.predict(batches[1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit_sequence([batches[0], np.full((9, 2), np.nan)])
    np.testing.assert_array_equal(model.predict(batches[1]), labels)


def rng_batch(seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(place, 0.1, (20, 2)) for place in (0.0, 5.0)])
