"""The best one-to-one match: nothing better exists, whichever solver is used."""

from itertools import permutations

import numpy as np
import pytest

from dynmeans.metrics import matching
from dynmeans.metrics.matching import best_match

# Largest tables solved densely, and as a whole; problems of any size then take that way.
DENSE, SPARSE, PARTS_DENSE, PARTS_SPARSE = (10**6, 10**6), (0, 10**6), (10**6, 0), (0, 0)


def set_limits(monkeypatch, limits):
    monkeypatch.setattr(matching, "_DENSE_CELLS", limits[0])
    monkeypatch.setattr(matching, "_WHOLE_CELLS", limits[1])


def largest_overlap(table):
    """Try every one-to-one match of rows and columns."""
    if table.shape[0] > table.shape[1]:
        table = table.T
    choices = permutations(range(table.shape[1]), table.shape[0])
    return max(sum(table[row, col] for row, col in enumerate(cols)) for cols in choices)


def random_table(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 6, size=rng.integers(1, 6, size=2)).astype(float)
    table[0, 0] = 3.0  # at least one pair
    return table


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("limits", [DENSE, SPARSE, PARTS_DENSE, PARTS_SPARSE])
def test_match_has_the_largest_overlap_of_all_matches(seed, limits, monkeypatch):
    set_limits(monkeypatch, limits)
    table = random_table(seed)
    rows, cols = np.nonzero(table)
    kept = best_match(rows, cols, table[rows, cols])
    assert table[rows, cols][kept].sum() == largest_overlap(table)


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("limits", [DENSE, SPARSE, PARTS_DENSE, PARTS_SPARSE])
def test_match_uses_no_row_and_no_column_twice(seed, limits, monkeypatch):
    set_limits(monkeypatch, limits)
    table = random_table(seed)
    rows, cols = np.nonzero(table)
    kept = best_match(rows, cols, table[rows, cols])
    assert len(set(rows[kept])) == len(set(cols[kept])) == kept.sum()


@pytest.mark.parametrize("n_pairs", [100, 3000])
@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
@pytest.mark.parametrize("limits", [SPARSE, PARTS_DENSE, PARTS_SPARSE])
def test_all_ways_reach_the_same_overlap_on_a_large_problem(limits, shape, n_pairs, monkeypatch):
    rng = np.random.default_rng(0)
    table = np.zeros(shape)
    table[rng.integers(shape[0], size=n_pairs), rng.integers(shape[1], size=n_pairs)] = rng.random(
        n_pairs
    )
    rows, cols = np.nonzero(table)
    dense = best_match(rows, cols, table[rows, cols])
    set_limits(monkeypatch, limits)
    other = best_match(rows, cols, table[rows, cols])
    np.testing.assert_allclose(
        table[rows, cols][other].sum(), table[rows, cols][dense].sum(), rtol=1e-12
    )


def test_no_pairs_give_an_empty_match():
    none = np.zeros(0, dtype=np.int64)
    assert best_match(none, none, np.zeros(0)).tolist() == []
