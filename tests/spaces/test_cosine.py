"""Rows of length 1 in the space "cosine"."""

import numpy as np
import pytest

from dynmeans.spaces.cosine import Cosine


def test_many_rows_are_divided_by_their_length_block_by_block_to_the_same_bits():
    rows = np.random.default_rng(0).normal(size=(3000, 50)).astype(np.float32)
    whole = [Cosine().to_points(row[None])[0] for row in rows]
    assert np.array_equal(Cosine().to_points(rows), whole)
    rows[2500] = 0.0
    with pytest.raises(ValueError, match="row 2500 is"):
        Cosine().to_points(rows)
