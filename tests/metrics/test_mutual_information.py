"""Adjusted mutual information of many groups at once."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from dynmeans.metrics import mutual_information
from dynmeans.metrics.mutual_information import adjusted_mutual_information


def of_one_group(true, found):
    true, found = np.asarray(true), np.asarray(found)
    return adjusted_mutual_information(np.zeros(len(true), dtype=np.int64), true, found)[0]


def test_by_hand():
    # Both sides are two pairs of four points. Overlap k of two pairs: P(0, 1, 2) = 1/6, 4/6, 1/6.
    # k = 1 tells nothing, log(4 * 1 / 4) = 0; k = 2 tells 2/4 log(4 * 2 / 4) = log(2)/2.
    # E[MI] = 4 pairs * 1/6 * log(2)/2 = log(2)/3. Crossed labels have MI = 0 and entropy log(2):
    # (0 - log(2)/3) / (log(2) - log(2)/3) = -1/2
    assert of_one_group([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5, rel=1e-14)


@pytest.mark.parametrize(
    ("true", "found", "expected"),
    [
        ([0, 0, 0], [1, 1, 1], 1.0),  # one cluster on both sides
        ([0, 1, 2], [2, 0, 1], 1.0),  # single points on both sides
        ([0, 0, 0], [0, 1, 2], 0.0),  # one cluster against single points
        ([0, 0, 1], [0, 0, 0], 0.0),
        ([0, 0, 1], [0, 1, 2], 0.0),
    ],
)
def test_partition_that_chance_cannot_change_is_one_if_the_same_and_zero_if_not(
    true, found, expected
):
    assert of_one_group(true, found) == expected


@pytest.mark.parametrize("n_labels", [2, 30, 3000])
def test_large_partitions_agree_with_scikit_learn(n_labels):
    rng = np.random.default_rng(n_labels)
    true = rng.integers(n_labels, size=6000)
    found = np.where(rng.random(6000) < 0.7, true, rng.integers(n_labels, size=6000))
    # scikit-learn's factorials of thousands of points leave about 1e-11.
    assert of_one_group(true, found) == pytest.approx(
        adjusted_mutual_info_score(true, found), abs=1e-10
    )


def test_groups_are_scored_by_themselves():
    rng = np.random.default_rng(0)
    groups = np.repeat([4, 7, 9], [30, 40, 50])
    true, found = rng.integers(4, size=120), rng.integers(4, size=120)
    expected = [of_one_group(true[groups == g], found[groups == g]) for g in (4, 7, 9)]
    np.testing.assert_allclose(adjusted_mutual_information(groups, true, found), expected, 1e-12)


def test_result_does_not_depend_on_how_many_sizes_are_summed_at_a_time(monkeypatch):
    rng = np.random.default_rng(0)
    true, found = rng.integers(9, size=200), rng.integers(9, size=200)
    expected = of_one_group(true, found)
    monkeypatch.setattr(mutual_information, "_CHUNK", 7)
    assert of_one_group(true, found) == pytest.approx(expected, rel=1e-13)
