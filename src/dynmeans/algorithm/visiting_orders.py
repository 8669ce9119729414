"""Visiting orders that follow from a seed and from what the rows hold (decision 0005).

A row is visited at its turn (key, tie, row): its key is a hash of its content, mixed with a number
for each order; rows of equal keys go by a second hash, of content and weight. So neither the
arrangement of the rows nor who computes the turns matters: only rows that are equal, and weigh the
same, go by their numbers.

All numbers are unsigned, of 64 bits, and wrap around.
"""

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

Words = npt.NDArray[np.uint64]

_GOLDEN, _STRIDE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)
_HALF = np.uint64(32)


def visiting_orders(
    points: BatchArray, point_weights: FloatArray | None, entropy: int, n_steps: int, n_init: int
) -> IntArray:
    """Return `n_init` orders of the rows of the batch that follows `n_steps` others."""
    d = points.shape[1]
    numbers = split_mix(entropy, n_steps, d + n_init)
    hashes = row_hashes(points, numbers[:d])
    ties, rows = row_ties(points, point_weights), np.arange(len(points))
    orders = [np.lexsort((rows, ties, mix(hashes ^ key))) for key in numbers[d:]]
    return np.array(orders, dtype=np.int64)


def split_mix(entropy: int, n_steps: int, n_numbers: int) -> Words:
    """Return the numbers of splitmix64 that a batch starts with."""
    with np.errstate(over="ignore"):
        seed = np.uint64(entropy) + np.uint64(n_steps) * _STRIDE
        return mix(seed + _GOLDEN * np.arange(1, n_numbers + 1, dtype=np.uint64))


def row_hashes(points: BatchArray, numbers: Words) -> Words:
    """Return the hash of the content of each row; `numbers` has one for each feature."""
    bits = _bits(points)
    # Coordinates from float32 leave the low half of the bits empty.
    products = (bits ^ (bits >> _HALF)) * (numbers | np.uint64(1))
    hashes: Words = products.sum(axis=1, dtype=np.uint64)
    return hashes


def row_ties(points: BatchArray, point_weights: FloatArray | None) -> Words:
    """Return the second hash of each row, of its content and weight."""
    weights = np.ones(len(points)) if point_weights is None else point_weights
    ties = mix(_bits(weights))
    for column in _bits(points).T:
        ties = mix((ties ^ column) + _GOLDEN)
    return ties


def mix(keys: Words) -> Words:
    """The finisher of splitmix64: one to one, and every bit depends on all."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _bits(values: BatchArray) -> Words:
    """The bits of values as float64; -0.0 has those of 0.0."""
    bits: Words = np.ascontiguousarray(values.astype(np.float64) + 0.0).view(np.uint64)
    return bits
