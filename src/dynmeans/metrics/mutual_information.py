"""Adjusted mutual information of many partitions at once, as scikit-learn defines it.

scikit-learn sums the expected mutual information over every pair of clusters and every possible
overlap: more than a minute for a million points with a few thousand identities. Here the same
sum is taken once for each pair of cluster *sizes*, and only over overlaps whose probability is
not negligible, for all steps together.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from dynmeans.metrics.check_labels import number_distinct, sum_by
from dynmeans.records.arrays import FloatArray, IntArray

_NEGLIGIBLE = 1e-20  # probability, relative to the most likely overlap, below which sums stand
_CHUNK = 1 << 20  # pairs of sizes summed at a time


class _Margin(NamedTuple):
    """The clusters of one side, in order of their group."""

    groups: IntArray
    sizes: FloatArray
    starts: IntArray  # group g has the clusters starts[g] to starts[g + 1]


def adjusted_mutual_information(
    groups: IntArray,
    true_labels: IntArray,
    found_labels: IntArray,
    counts: IntArray | None = None,
) -> FloatArray:
    """(MI - E[MI]) / (mean of both entropies - E[MI]) of the points of each group.

    Points are compared within their group; each row stands for one point, or for `counts`. There is
    one value for each group that has points. Where chance alone decides, because one side is a
    single cluster or single points only, it is 1 if both sides are the same and 0 if not.
    """
    groups = number_distinct(groups)[1]
    true, true_rows = _count_margin(groups, true_labels, counts)
    found, found_rows = _count_margin(groups, found_labels, counts)
    n = sum_by(groups, counts, int(groups.max()) + 1)
    information = _mutual_information(true, found, (true_rows, found_rows, counts), n)
    expected = _expected_information(true, found, n)
    entropy = (_entropy(true, n) + _entropy(found, n)) / 2
    n_true, n_found = np.diff(true.starts), np.diff(found.starts)
    is_trivial = (n_true == 1) | (n_true == n) | (n_found == 1) | (n_found == n)
    scores = np.where(n_true == n_found, 1.0, 0.0)
    np.divide(information - expected, entropy - expected, out=scores, where=~is_trivial)
    return scores


def _count_margin(
    groups: IntArray, labels: IntArray, counts: IntArray | None
) -> tuple[_Margin, IntArray]:
    """Count the clusters of one side, and give the row that each point is in."""
    width = int(labels.max()) + 2
    keys, rows = number_distinct(groups * width + labels + 1)
    starts = np.searchsorted(keys, np.arange(int(groups.max()) + 2) * width)
    return _Margin(keys // width, sum_by(rows, counts, len(keys)), starts), rows


def _mutual_information(
    true: _Margin,
    found: _Margin,
    points: tuple[IntArray, IntArray, IntArray | None],
    n: FloatArray,
) -> FloatArray:
    """MI = sum of n_ij / n * log(n n_ij / (a_i b_j)) over the cells of each group's table."""
    true_rows, found_rows, counts = points
    width = int(np.diff(found.starts).max())
    slots = found_rows - found.starts[true.groups[true_rows]]
    cells, places = number_distinct(true_rows * width + slots)
    rows, cols = np.divmod(cells, width)
    groups = true.groups[rows]
    cols = cols + found.starts[groups]
    terms = _information(
        sum_by(places, counts, len(cells)), true.sizes[rows], found.sizes[cols], n[groups]
    )
    return sum_by(groups, terms, len(n))


def _information(k: FloatArray, a: FloatArray, b: FloatArray, n: FloatArray) -> FloatArray:
    """Information in an overlap of k points, of clusters of a and b points among n; 0 for k = 0."""
    return np.asarray(xlogy(k / n, (n / a) * (k / b)))


def _entropy(margin: _Margin, n: FloatArray) -> FloatArray:
    shares = margin.sizes / n[margin.groups]
    return sum_by(margin.groups, -xlogy(shares, shares), len(n))


def _expected_information(true: _Margin, found: _Margin, n: FloatArray) -> FloatArray:
    """E[MI] of each group, if its points were dealt to clusters of the same sizes by chance."""
    expected = np.zeros(len(n))
    for groups, a, b, n_pairs in _pairs_of_sizes(true, found):
        terms = n_pairs * _expected_overlap_information(a, b, n[groups])
        expected += sum_by(groups, terms, len(n))
    return expected


def _pairs_of_sizes(
    true: _Margin, found: _Margin
) -> Iterator[tuple[IntArray, FloatArray, FloatArray, IntArray]]:
    """Group, the two sizes, and how many pairs of clusters of the group have these sizes."""
    (true_sizes, n_true), (found_sizes, n_found) = _distinct_sizes(true), _distinct_sizes(found)
    ends = np.cumsum(np.diff(found_sizes.starts)[true_sizes.groups])
    for start in range(0, int(ends[-1]), _CHUNK):
        flat = np.arange(start, min(start + _CHUNK, int(ends[-1])))
        rows = np.searchsorted(ends, flat, side="right")
        groups = true_sizes.groups[rows]
        cols = found_sizes.starts[groups + 1] - (ends[rows] - flat)
        yield groups, true_sizes.sizes[rows], found_sizes.sizes[cols], n_true[rows] * n_found[cols]


def _distinct_sizes(margin: _Margin) -> tuple[_Margin, IntArray]:
    """Give the different sizes of the clusters of each group, and how many clusters have each."""
    width = int(margin.sizes.max()) + 1
    keys = margin.groups * width + margin.sizes.astype(np.int64)
    keys, counts = np.unique(keys, return_counts=True)
    starts = np.searchsorted(keys, np.arange(len(margin.starts)) * width)
    return _Margin(keys // width, (keys % width).astype(np.float64), starts), counts


def _expected_overlap_information(a: FloatArray, b: FloatArray, n: FloatArray) -> FloatArray:
    """Mean information in the overlap of a and b of n points, which is hypergeometric.

    Probabilities are taken relative to that of the mode, outward from it by the ratio of
    neighbors, and divided by their sum: no factorials, and no loss of digits for large n.
    """
    mode = np.clip(
        np.floor((a + 1) * (b + 1) / (n + 2)), np.maximum(0, a + b - n), np.minimum(a, b)
    )
    total = np.ones(len(a))
    mean = _information(mode, a, b, n)
    for direction in (1, -1):
        at, k, p = np.arange(len(a)), mode, np.ones(len(a))
        while len(at):
            a_, b_, n_ = a[at], b[at], n[at]
            if direction == 1:
                p = p * ((a_ - k) / (k + 1)) * ((b_ - k) / (n_ - a_ - b_ + k + 1))
            else:
                p = p * (k / (a_ - k + 1)) * ((n_ - a_ - b_ + k) / (b_ - k + 1))
            k = k + direction
            likely = p > _NEGLIGIBLE
            at, k, p = at[likely], k[likely], p[likely]
            total[at] += p
            mean[at] += p * _information(k, a[at], b[at], n[at])
    return mean / total
