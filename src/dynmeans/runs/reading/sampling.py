"""A few rows of each window, always the same ones, for pictures when the source is gone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import IntArray

_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Rows of one window that stand for all of them."""

    step: int  # Number of the window, from 0
    name: str | None  # Name of its window
    n_rows: int  # Rows of the window that the sample stands for
    points: npt.NDArray[np.float32]  # (n_sampled, n_features); in the units of the source
    cluster_ids: IntArray  # (n_sampled,); identities found
    truth: npt.NDArray[Any] | None  # (n_sampled,); true identities, where they are known


def sample_rows(first: int, n_rows: int, size: int) -> IntArray:
    """Choose `size` of the rows numbered from `first`: those whose number has the lowest hash."""
    if n_rows <= size:
        return np.arange(n_rows)
    hashes = np.arange(first, first + n_rows, dtype=np.uint64)
    for shift, multiplier in zip(_SHIFTS, _MULTIPLIERS, strict=False):
        hashes ^= hashes >> shift
        hashes *= multiplier
    hashes ^= hashes >> _SHIFTS[-1]
    # Hashes are spread evenly: three times the rows wanted lie below this bound, as good as always.
    bound = min(2**64 * 3 * size // n_rows, 2**64 - 1)
    low = np.flatnonzero(hashes < np.uint64(bound))
    if len(low) < size:
        low = np.arange(n_rows)
    return np.sort(low[np.argsort(hashes[low])[:size]])
