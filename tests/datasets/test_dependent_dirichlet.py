"""Streams from the dependent Dirichlet process mixture."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dynmeans.datasets import dependent_dirichlet
from dynmeans.records.mixture import MixtureParameters

MODEL = MixtureParameters(
    concentration=2.0,
    survival=0.9,
    noise_variance=0.01,
    motion_variance=0.04,
    prior_mean=[3.0, -3.0],
    prior_variance=25.0,
)


@pytest.fixture(scope="module")
def stream():
    return dependent_dirichlet(MODEL, 400, 100, rng=np.random.default_rng(0))


def test_same_seed_gives_the_same_stream():
    first, second = (
        dependent_dirichlet(MODEL, 3, 9, rng=np.random.default_rng(1)) for _ in range(2)
    )
    np.testing.assert_array_equal(np.vstack(first.batches), np.vstack(second.batches))


def test_points_scatter_around_their_cluster_by_sigma(stream):
    errors = [
        points - centers[np.searchsorted(ids, labels)]
        for points, labels, ids, centers in zip(
            stream.batches, stream.labels, stream.ids, stream.centers, strict=True
        )
    ]
    assert np.vstack(errors).var() == pytest.approx(0.01, rel=0.02)


def moves(stream):
    for (ids, centers), (later_ids, later) in pairwise(
        zip(stream.ids, stream.centers, strict=True)
    ):
        _, rows, later_rows = np.intersect1d(ids, later_ids, return_indices=True)
        yield from later[later_rows] - centers[rows]


def test_clusters_move_by_xi(stream):
    assert np.var(list(moves(stream))) == pytest.approx(0.04, rel=0.1)


def test_clusters_are_born_around_phi_by_rho(stream):
    seen, born = set(), []
    for ids, centers in zip(stream.ids, stream.centers, strict=True):
        born += [c for k, c in zip(ids.tolist(), centers, strict=True) if k not in seen]
        seen.update(ids.tolist())
    assert np.mean(born, axis=0) == pytest.approx([3.0, -3.0], abs=1.0)
    assert np.var(born, axis=0) == pytest.approx([25.0, 25.0], rel=0.25)


def test_a_cluster_with_many_points_is_seen_again_with_probability_q():
    few = replace(MODEL, concentration=0.2, log_concentration=None)
    stream, again = dependent_dirichlet(few, 500, 100, rng=np.random.default_rng(5)), []
    for labels, later in pairwise(stream.labels):
        ids, sizes = np.unique(labels, return_counts=True)
        again += np.isin(ids[sizes >= 30], later).tolist()
    # One of 30 or more of 100 points that lives has hardly ever none of the next 100.
    assert np.mean(again) == pytest.approx(0.9, abs=0.03)


def test_clusters_return_after_steps_without_points():
    rare = MixtureParameters(concentration=5.0, survival=0.97, noise_variance=0.01)
    stream = dependent_dirichlet(rare, 60, 10, rng=np.random.default_rng(2))
    steps = {}
    for t, ids in enumerate(stream.ids):
        for k in ids.tolist():
            steps.setdefault(k, []).append(t)
    assert any(np.diff(times).max(initial=1) > 1 for times in steps.values())


def test_number_of_clusters_in_one_step_is_that_of_a_dirichlet_process():
    rng = np.random.default_rng(3)
    counts = [len(dependent_dirichlet(MODEL, 1, 50, rng=rng).ids[0]) for _ in range(300)]
    # sum of alpha / (alpha + i) over 50 points
    expected = np.sum(2.0 / (2.0 + np.arange(50)))
    assert np.mean(counts) == pytest.approx(expected, abs=0.4)


def test_later_steps_have_the_mass_of_all_that_was_born_before():
    # alpha_t = alpha (1 - q^t) / (1 - q): with q = 0.9 twenty steps have mass 17.6, not 2.
    rng = np.random.default_rng(4)
    counts = [len(dependent_dirichlet(MODEL, 20, 50, rng=rng).ids[-1]) for _ in range(100)]
    mass = 2.0 * (1 - 0.9**20) / 0.1
    assert np.mean(counts) == pytest.approx(np.sum(mass / (mass + np.arange(50))), rel=0.06)


def test_number_of_points_must_be_a_count():
    with pytest.raises(ValueError, match="n_points must be at least 1, got 0"):
        dependent_dirichlet(MODEL, 3, 0, rng=np.random.default_rng(0))
