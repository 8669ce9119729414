"""Agreement of two partitions beyond chance: the adjusted Rand index."""

import numpy as np

from dynmeans.metrics.check_labels import (
    Batches,
    ScoredPoints,
    check_labels,
    number_distinct,
    sum_by,
)
from dynmeans.records.arrays import FloatArray, IntArray


def ari_per_step(true: Batches, found: Batches) -> float:
    """Adjusted Rand index of each step, averaged over the steps that have points.

    Measures how well each batch was partitioned, regardless of IDs: 1 for the same
    partition, 0 on average for a random one.

    Parameters
    ----------
    true : sequence of array-like of shape (n_points,)
        True labels, one array for each batch. Points labeled -1 are unlabeled and left out.
    found : sequence of array-like of shape (n_points,)
        Found labels of the same points. Those labeled -1, no cluster, make one group.

    Returns
    -------
    float
        At most 1; may be below 0.

    Raises
    ------
    ValueError
        If batches or rows do not correspond, or no point is labeled.

    See Also
    --------
    ari_global : The same for all steps together.
    accuracy_per_step : The share of correctly labeled points.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> ari_per_step([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]])
    1.0
    """
    return score_ari_per_step(check_labels(true, found))


def ari_global(true: Batches, found: Batches) -> float:
    """Adjusted Rand index of all points of all steps together.

    Two points of different steps must share their label if they are of one cluster, so
    identities must last. Parameters and result are those of `ari_per_step`.

    See Also
    --------
    ari_per_step : The same for each step separately.
    accuracy_global : The share of correctly labeled points.

    References
    ----------
    .. [1] L. Hubert and P. Arabie, "Comparing partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> round(ari_global([[0, 0, 1, 1], [0, 0, 1, 1]], [[5, 5, 6, 6], [6, 6, 5, 5]]), 4)
    -0.1667
    """
    return score_ari_global(check_labels(true, found))


def score_ari_per_step(points: ScoredPoints) -> float:
    """Average over the steps of the adjusted Rand index."""
    return float(_adjusted_rand(points.steps, points).mean())


def score_ari_global(points: ScoredPoints) -> float:
    """Adjusted Rand index of all points."""
    return float(_adjusted_rand(np.zeros_like(points.steps), points)[0])


def _adjusted_rand(groups: IntArray, points: ScoredPoints) -> FloatArray:
    """Adjusted Rand index of each group, as scikit-learn has it."""
    groups = number_distinct(groups)[1]
    n_groups = int(groups.max()) + 1
    true, found = points.true_labels + 1, points.found_labels + 1
    width = int(found.max()) + 1

    def sums_of_squares(labels: IntArray) -> list[int]:
        keys, rows = number_distinct(groups * (int(labels.max()) + 1) + labels)
        sizes = sum_by(rows, points.counts, len(keys))
        # Whole numbers below 2**53: the sums are exact.
        squares = sum_by(keys // (int(labels.max()) + 1), sizes * sizes, n_groups)
        return [int(square) for square in squares]

    both = sums_of_squares(true * width + found)
    of_true, of_found = sums_of_squares(true), sums_of_squares(found)
    n = [int(size) for size in sum_by(groups, points.counts, n_groups)]
    return np.array(list(map(_rand_of_squares, n, both, of_true, of_found)))


def _rand_of_squares(n: int, both: int, of_true: int, of_found: int) -> float:
    """From pairs of points: together on both sides, on one of them, on neither."""
    together, only_true, only_found = both - n, of_true - both, of_found - both
    apart = n * n - only_true - only_found - both
    if only_true == only_found == 0:
        return 1.0
    chance = (together + only_true) * (only_true + apart)
    chance += (together + only_found) * (only_found + apart)
    return 2.0 * (together * apart - only_true * only_found) / chance
