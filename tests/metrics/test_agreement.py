"""Adjusted Rand index and mutual information: scikit-learn's values, step by step and in all."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from dynmeans.metrics import ami_global, ami_per_step, ari_global, ari_per_step

PER_STEP = [(ari_per_step, adjusted_rand_score), (ami_per_step, adjusted_mutual_info_score)]
OVER_ALL = [(ari_global, adjusted_rand_score), (ami_global, adjusted_mutual_info_score)]
ALL = [ari_per_step, ari_global, ami_per_step, ami_global]


def random_stream(seed):
    rng = np.random.default_rng(seed)
    true = [rng.integers(0, 5, size=rng.integers(1, 40)) for _ in range(6)]
    found = [np.where(rng.random(len(t)) < 0.6, t, rng.integers(0, 9, len(t))) for t in true]
    return true, found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("ours", "theirs"), PER_STEP)
def test_score_per_step_is_the_mean_of_scikit_learns(ours, theirs, seed):
    true, found = random_stream(seed)
    if min(map(len, true)) <= 4 and theirs([0, 1], [0, 1]) != 1.0:
        pytest.skip("scikit-learn 1.6 gives 0 to some equal labelings")
    expected = np.mean([theirs(t, f) for t, f in zip(true, found, strict=True)])
    assert ours(true, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("ours", "theirs"), OVER_ALL)
def test_score_over_all_time_is_scikit_learns_of_all_points(ours, theirs, seed):
    true, found = random_stream(seed)
    expected = theirs(np.concatenate(true), np.concatenate(found))
    assert ours(true, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), PER_STEP + OVER_ALL)
def test_unlabeled_points_are_left_out(ours, theirs):
    expected = theirs([0, 0, 0, 1, 1], [5, 5, 6, 6, 6])
    assert ours([[0, 0, 0, -1, 1, 1]], [[5, 5, 6, 5, 6, 6]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), PER_STEP + OVER_ALL)
def test_points_in_no_cluster_make_one_group(ours, theirs):
    expected = theirs([0, 0, 0, 1, 1], [5, 5, 6, 6, 6])
    assert ours([[0, 0, 0, 1, 1]], [[5, 5, -1, -1, -1]]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("score", [ari_per_step, ami_per_step])
def test_empty_steps_count_for_nothing(score):
    true, found = [[0, 0, 1, 1, 1]], [[5, 5, 5, 6, 6]]
    assert score([[], *true, []], [[], *found, []]) == score(true, found)


@pytest.mark.parametrize("score", ALL)
def test_one_point_is_a_perfect_match(score):
    assert score([[3]], [[8]]) == 1.0
