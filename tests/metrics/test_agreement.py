"""Adjusted Rand index: scikit-learn's values, step by step and in all."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dynmeans.metrics import ari_global, ari_per_step

BOTH = [ari_per_step, ari_global]


def random_stream(seed):
    rng = np.random.default_rng(seed)
    true = [rng.integers(0, 5, size=rng.integers(1, 40)) for _ in range(6)]
    found = [np.where(rng.random(len(t)) < 0.6, t, rng.integers(0, 9, len(t))) for t in true]
    return true, found


@pytest.mark.parametrize("seed", range(20))
def test_score_per_step_is_the_mean_of_scikit_learns(seed):
    true, found = random_stream(seed)
    expected = np.mean([adjusted_rand_score(t, f) for t, f in zip(true, found, strict=True)])
    assert ari_per_step(true, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_score_over_all_time_is_scikit_learns_of_all_points(seed):
    true, found = random_stream(seed)
    expected = adjusted_rand_score(np.concatenate(true), np.concatenate(found))
    assert ari_global(true, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", BOTH)
def test_unlabeled_points_are_left_out(score):
    expected = adjusted_rand_score([0, 0, 0, 1, 1], [5, 5, 6, 6, 6])
    assert score([[0, 0, 0, -1, 1, 1]], [[5, 5, 6, 5, 6, 6]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", BOTH)
def test_points_in_no_cluster_make_one_group(score):
    expected = adjusted_rand_score([0, 0, 0, 1, 1], [5, 5, 6, 6, 6])
    assert score([[0, 0, 0, 1, 1]], [[5, 5, -1, -1, -1]]) == pytest.approx(expected, abs=1e-12)


def test_empty_steps_count_for_nothing():
    true, found = [[0, 0, 1, 1, 1]], [[5, 5, 5, 6, 6]]
    assert ari_per_step([[], *true, []], [[], *found, []]) == ari_per_step(true, found)


@pytest.mark.parametrize("score", BOTH)
def test_one_point_is_a_perfect_match(score):
    assert score([[3]], [[8]]) == 1.0
