"""Names in one column, moved apart until they can be read."""

import numpy as np

from dynmeans.records.arrays import FloatArray


def spread_heights(heights: FloatArray, distance: float) -> FloatArray:
    """Move heights as little as possible until neighbors are `distance` apart."""
    order = np.argsort(heights, kind="stable")
    ranks = distance * np.arange(len(heights))
    spread = np.empty(len(heights))
    spread[order] = _nearest_rising(heights[order] - ranks) + ranks
    return spread


def _nearest_rising(values: FloatArray) -> FloatArray:
    """Return the values that never fall and are nearest in squares: neighbors that fall pool."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values.tolist():
        mean, size = value, 1
        while means and means[-1] > mean:
            total = mean * size + means[-1] * sizes[-1]
            means.pop()
            size += sizes.pop()
            mean = total / size
        means.append(mean)
        sizes.append(size)
    return np.repeat(np.array(means), np.array(sizes, dtype=np.int64))
