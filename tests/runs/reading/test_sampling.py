"""The rows a run keeps for pictures: few, spread, and always the same."""

import numpy as np
import pytest

from dynmeans.runs.reading.sampling import sample_rows


@pytest.mark.parametrize("n_rows", [201, 500, 5_000, 100_000])
def test_as_many_rows_are_chosen_as_were_asked_for(n_rows):
    rows = sample_rows(12_345, n_rows, 200)
    assert len(np.unique(rows)) == 200
    assert rows.max() < n_rows


def test_the_choice_depends_on_the_number_of_a_row_alone():
    # A row that is among the lowest of many is among the lowest of fewer.
    many = sample_rows(1_000, 9_000, 200) + 1_000
    fewer = sample_rows(4_000, 2_000, 200) + 4_000
    assert set(many[(many >= 4_000) & (many < 6_000)]) <= set(fewer)


def test_rows_are_chosen_evenly_from_the_whole_batch():
    rows = sample_rows(0, 100_000, 2_000)
    counts = np.histogram(rows, bins=10, range=(0, 100_000))[0]
    assert counts.min() > 140
    assert counts.max() < 260


def test_no_rows_can_be_asked_for():
    assert sample_rows(0, 50, 0).tolist() == []
