"""Visiting orders for the restarts: random, and the same however the rows are arranged."""

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import BatchArray, IntArray

_Keys = npt.NDArray[np.uint64]
_BLOCK = 16384  # rows hashed together, so that no copy of the whole batch is made


def visiting_orders(points: BatchArray, seed: np.random.SeedSequence, n_init: int) -> IntArray:
    """Return `n_init` random orders that depend on the seed and on what the rows hold.

    The order sorts a keyed hash of each row (decision 0005): shuffling the rows does not change
    the clustering, and repeating a row is the same as doubling its weight.

    Examples
    --------
    >>> rows = np.array([[1.0], [2.0], [3.0]])
    >>> seed = np.random.SeedSequence(0)
    >>> first, reversed_ = visiting_orders(rows, seed, 1), visiting_orders(rows[::-1], seed, 1)
    >>> bool(np.all(rows[first] == rows[::-1][reversed_]))
    True
    """
    keys = seed.generate_state(n_init + points.shape[1], dtype=np.uint64)
    row_hashes = _hash_rows(points, multipliers=keys[n_init:] | np.uint64(1))
    order_keys = _mix(row_hashes[None, :] ^ keys[:n_init, None])
    return np.argsort(order_keys, axis=1, kind="stable").astype(np.int64, copy=False)


def _hash_rows(points: BatchArray, multipliers: _Keys) -> _Keys:
    hashes = np.zeros(len(points), dtype=np.uint64)
    for start in range(0, len(points), _BLOCK):
        rows = points[start : start + _BLOCK].astype(np.float64)
        bits = (rows + 0.0).view(np.uint64)  # + 0.0 turns -0.0 into 0.0: equal rows, equal bits.
        # Coordinates from float32 leave the low half of the mantissa empty; fold the high half in.
        folded = bits ^ (bits >> np.uint64(32))
        hashes[start : start + _BLOCK] = (folded * multipliers).sum(axis=1, dtype=np.uint64)
    return hashes


def _mix(keys: _Keys) -> _Keys:
    """Finish with splitmix64, so that every bit of the key depends on every bit given."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
