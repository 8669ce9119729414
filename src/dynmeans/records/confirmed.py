"""Identities that held enough points, in enough batches, to be more than an outlier."""

from collections.abc import Sequence

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray


def confirmed_ids(
    ids: Sequence[IntArray], counts: Sequence[FloatArray], min_cluster_size: float, min_batches: int
) -> IntArray:
    """Return who is confirmed by the identities seen in every batch and their points.

    >>> ids, counts = [np.array([0, 1]), np.array([0, 2])], [np.array([3, 9]), np.array([1, 1])]
    >>> confirmed_ids(ids, counts, min_cluster_size=4, min_batches=2)
    array([0])
    """
    names, rows, lifetimes = np.unique(
        np.concatenate([np.empty(0, dtype=np.int64), *ids]), return_inverse=True, return_counts=True
    )
    sizes = np.bincount(rows, np.concatenate([np.empty(0), *counts]), len(names))
    return np.asarray(names[(lifetimes >= min_batches) & (sizes >= min_cluster_size)])
