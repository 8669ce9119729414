"""Paths of clusters that keep a course, and the choice between still and steady."""

import warnings

import numpy as np
import pytest
from description_twin import course_model
from description_twin.describe import describe_slowly
from description_twin.tracks import Tracks
from scipy.stats import multivariate_normal

from dynmeans import suggest_penalties
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.tracks import Points
from dynmeans.records.suggestion import SuggestionWarning


def random_paths(seed, *, speed=0.0, wander=0.0, n_features=2, n_batches=12):
    """Four clusters, some batches without one of them, in uneven time."""
    rng = np.random.default_rng(seed)
    places, velocities = rng.normal(size=(2, 4, n_features)) * [[[9.0]], [[speed]]]
    batches, labels, times = [], [], np.cumsum(rng.choice([1.0, 1.0, 2.5], size=n_batches))
    for dt in np.diff(times, prepend=0.0):
        places = places + velocities * dt + wander * rng.normal(size=places.shape) * dt**0.5
        named = np.repeat(np.flatnonzero(rng.random(4) < 0.9), 6)
        batches.append(places[named] + 0.5 * rng.normal(size=(len(named), n_features)))
        labels.append(named)
    return Points.gather(batches, [None] * n_batches, times), np.concatenate(labels)


def test_probability_of_a_path_is_that_of_its_means_together():
    # Three means of one point each, at times 0, 1 and 3: jointly Gaussian given the first, with
    # cov(m_s, m_t) from position walk 0.4, velocity walk 0.1, first velocity 0.7, noise 0.2.
    means, times = np.array([[1.0], [2.5], [4.0]]), np.array([0.0, 1.0, 3.0])
    points = Points.gather(list(means[:, None, :]), [None] * 3, times)
    tracks = Tracks.gather(points, np.zeros(3, int))
    found = course_model._fit(points, tracks, np.ones(1), 0.2, 0.4, 0.1, 0.7)
    s, t = np.meshgrid(times[1:], times[1:])
    low = np.minimum(s, t)
    shared = 0.2 + 0.4 * low + 0.7 * s * t + 0.1 * (low**2 * np.maximum(s, t) / 2 - low**3 / 6)
    expected = multivariate_normal(np.full(2, 1.0), shared + 0.2 * np.eye(2)).logpdf([2.5, 4.0])
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_features", [1, 2, 5])
@pytest.mark.parametrize("moving_features", ["all", "first"])
def test_the_compiled_description_of_courses_is_the_plain_one(seed, n_features, moving_features):
    points, labels = random_paths(seed, speed=1.0, wander=0.2, n_features=n_features)
    factors = np.ones(n_features) if moving_features == "all" else np.eye(n_features)[0]
    found, expected = (way(points, labels, factors) for way in (describe, describe_slowly))
    assert found.paths == pytest.approx(expected.paths, rel=1e-9)


def test_straight_paths_are_described_more_briefly_as_courses():
    points, labels = random_paths(0, speed=2.0)
    assert describe(points, labels, np.ones(2)).length < describe(points, labels).length - 20


def test_wandering_paths_are_described_more_briefly_without_courses():
    points, labels = random_paths(0, wander=1.5, n_batches=40)
    assert describe(points, labels).length < describe(points, labels, np.ones(2)).length


def test_identities_seen_once_have_no_path():
    points = Points.gather([np.arange(6.0)[:, None]], [None], np.ones(1))
    labels = np.repeat([0, 1], 3)
    assert describe(points, labels, np.ones(1)).length == describe(points, labels).length


def choose(motion_model, **fixed):
    stream = moving_gaussians(
        20, 5, rng=np.random.default_rng(4), motion=0.06, death=0.0, motion_model=motion_model
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuggestionWarning)  # clusters this fast are hard to follow
        return suggest_penalties([20 * batch for batch in stream.batches], **fixed)


def test_steady_is_chosen_where_clusters_keep_a_course():
    assert choose("constant_velocity").motion == "constant_velocity"


def test_still_is_chosen_where_clusters_wander():
    assert choose("random_walk").motion == "random_walk"


@pytest.mark.parametrize("motion", ["random_walk", "constant_velocity"])
def test_motion_that_is_given_is_kept(motion):
    assert choose("constant_velocity", motion=motion).motion == motion


def test_moving_features_are_kept():
    assert choose(
        "constant_velocity", motion="constant_velocity", moving_features=[1]
    ).moving_features == (1,)


def test_unknown_motion_is_refused():
    with pytest.raises(
        ValueError, match="motion must be one of random_walk, constant_velocity, got 'wild'"
    ):
        choose("constant_velocity", motion="wild")
