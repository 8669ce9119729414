"""The synthetic experiment's data."""

import numpy as np
import pytest

from dynmeans.datasets.moving_gaussians import moving_gaussians


def stream(seed=0, **settings):
    return moving_gaussians(rng=np.random.default_rng(seed), **settings)


def test_same_seed_gives_the_same_stream():
    first, second = stream(n_steps=5), stream(n_steps=5)
    np.testing.assert_array_equal(np.vstack(first.batches), np.vstack(second.batches))


def test_number_of_clusters_is_fixed_by_default_and_identities_are_new():
    found = stream(n_steps=100, n_clusters=5)
    assert {len(ids) for ids in found.ids} == {5}
    assert {len(X) for X in found.batches} == {75}
    # 99 steps * 5 clusters * 0.05 = 25 deaths expected, each followed by a birth; sd 5
    assert 10 < found.ids[-1].max() - 4 < 40


def test_births_and_deaths_are_free_when_a_birth_probability_is_given():
    # With birth 0.3 and death 0.1 the number settles near 3.
    found = stream(n_steps=400, n_clusters=1, birth=0.3, death=0.1)
    numbers = [len(ids) for ids in found.ids]
    assert len(set(numbers)) > 3
    assert 2 < np.mean(numbers[100:]) < 4


def test_vanished_cluster_returns_under_its_identity():
    found = stream(n_steps=60, n_clusters=3, death=0.0, vanish=0.2, max_hidden=4)
    seen = np.array([[k in ids for k in range(3)] for ids in found.ids])
    assert not seen.all()
    assert found.ids[-1].max() <= 2
    gaps = [
        len(run) for k in range(3) for run in "".join("x."[not s] for s in seen[:, k]).split("x")
    ]
    assert max(gaps) <= 4


def test_isotropic_noise_has_the_given_deviation_per_axis():
    found = stream(n_steps=1, n_clusters=1, points_per_cluster=20000, spread=0.3)
    np.testing.assert_allclose(found.batches[0].std(axis=0), 0.3, rtol=0.03)


def test_radial_noise_has_the_given_deviation_of_length():
    # |x| = |N(0, s)|, so E|x|^2 = s^2 in any dimension
    found = stream(n_steps=1, n_clusters=1, points_per_cluster=20000, n_features=3, noise="radial")
    offsets = found.batches[0] - found.centers[0]
    assert np.mean(np.sum(offsets**2, axis=1)) == pytest.approx(0.05**2, rel=0.05)
    np.testing.assert_allclose(offsets.mean(axis=0), 0, atol=0.002)


def test_centers_move_by_the_given_motion():
    found = stream(n_steps=2, n_clusters=5000, points_per_cluster=1, motion=0.2, death=0.0)
    moves = found.centers[1] - found.centers[0]
    np.testing.assert_allclose(moves.std(axis=0), 0.2, rtol=0.05)


def test_rows_are_not_in_the_order_of_their_clusters():
    labels = stream(n_steps=1).labels[0]
    assert not np.array_equal(labels, np.sort(labels))


def test_points_lie_around_the_center_of_their_label():
    found = stream(n_steps=3, spread=1e-6)
    for X, labels, ids, centers in zip(
        found.batches, found.labels, found.ids, found.centers, strict=True
    ):
        np.testing.assert_allclose(X, centers[np.searchsorted(ids, labels)], atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"death": 1.5}, ValueError, "death must be a probability from 0 to 1, got 1.5"),
        ({"birth": -0.1}, ValueError, "birth must be a probability"),
        ({"n_steps": 0}, ValueError, "n_steps must be at least 1, got 0"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters must be an integer"),
        ({"noise": "pink"}, ValueError, "noise must be one of isotropic, radial, got 'pink'"),
        ({"spread": -1}, ValueError, "spread must be at least 0"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, error, message):
    with pytest.raises(error, match=message):
        stream(**settings)


def test_steady_clusters_keep_their_course_inside_the_square():
    found = stream(n_steps=30, n_clusters=4, death=0.0, motion_model="constant_velocity")
    centers = np.array(found.centers)
    turns = np.abs(np.diff(centers, n=2, axis=0)).max(axis=(1, 2)) > 1e-12
    assert np.mean(turns) < 0.5
    assert np.abs(centers - 0.5).max() < 0.8


def test_unknown_motion_model_is_refused():
    with pytest.raises(
        ValueError, match="motion_model must be one of random_walk, constant_velocity, got 'wild'"
    ):
        stream(motion_model="wild")
