"""What a page of bounded size leaves out: the same rows for the same input, by rules it states."""

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

MAX_BATCHES = 20_000
MAX_CLUSTERS = 10_000
MAX_PER_BATCH = 20_000  # More points at once make the player slow, and cannot be told apart.


def choose_clusters(
    ids: IntArray, n_points: FloatArray, costs: FloatArray, budget: float
) -> IntArray:
    """Return the ids with the most points that fit the budget; the largest fits always."""
    order = np.lexsort((ids, -n_points))
    fits = np.cumsum(costs[order]) <= budget
    fits[:1] = True
    return np.sort(ids[order[fits][:MAX_CLUSTERS]])


def points_per_batch(sizes: IntArray, budget: float) -> int:
    """Return the largest number of points per batch with which all batches fit the budget."""
    low, high = 0, min(int(sizes.max(initial=0)), MAX_PER_BATCH)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(sizes, middle).sum() <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def downsample_rows(labels: IntArray, n_kept: int) -> IntArray:
    """Return rows at equal distances, in order of cluster and then of row: each keeps its share."""
    if n_kept >= len(labels):
        return np.arange(len(labels))
    by_cluster = np.argsort(labels, kind="stable")
    return np.sort(by_cluster[np.arange(n_kept) * len(labels) // n_kept])
