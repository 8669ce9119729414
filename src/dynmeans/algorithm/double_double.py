"""Double-double arithmetic: sums and products with what their rounding lost (Knuth, Dekker).

Compiled code and kernels take these steps in this order, so that all have the same bits.
"""

import numpy as np

from dynmeans.records.arrays import FloatArray

Pair = tuple[FloatArray, FloatArray]  # Their sum is meant.

_SPLITTER = 2.0**27 + 1.0


def two_sum(a: FloatArray, b: FloatArray) -> Pair:
    """a + b, and what rounding lost: exact (Knuth).

    >>> two_sum(np.array([1e16]), np.array([1.0]))
    (array([1.e+16]), array([1.]))
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: FloatArray, b: FloatArray) -> Pair:
    """A b, and what rounding lost: exact far from underflow (Dekker, by Veltkamp's halves).

    >>> two_product(np.array([2.0**27 + 1]), np.array([2.0**27 + 1]))
    (array([1.80143988e+16]), array([1.]))
    """
    product = a * b
    high_a, high_b = _high_half(a), _high_half(b)
    low_a, low_b = a - high_a, b - high_b
    lost = low_a * low_b - (((product - high_a * high_b) - low_a * high_b) - high_a * low_b)
    return product, lost


def _high_half(a: FloatArray) -> FloatArray:
    large = a * _SPLITTER
    return large - (large - a)


def add_pairs(a: Pair, b: Pair) -> Pair:
    """Add two pairs; the rests are only added up."""
    total, lost = two_sum(a[0], b[0])
    return total, (a[1] + b[1]) + lost


def weighted_squares(points: FloatArray, weights: FloatArray) -> Pair:
    """w |y|^2 of each point as its sums see it: they add w y as it was rounded.

    That is w y - e, and so stands for the point y - e/w. Eight running sums, added in halves, as
    in `squared_distances`.

    >>> weighted_squares(np.array([[3.0, 4.0]]), np.array([2.0]))
    (array([50.]), array([0.]))
    """
    lanes = [(np.zeros(len(points)), np.zeros(len(points))) for _ in range(8)]
    for j, y in enumerate(points.T):
        term, lost = two_product(weights, y)
        square, rest = two_product(term, y)
        rest = np.where(weights == 1.0, rest, rest - term * (lost / weights))
        lanes[j % 8] = add_pairs(lanes[j % 8], (square, rest))
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [add_pairs(a, b) for a, b in zip(lanes[:half], lanes[half:], strict=True)]
    return lanes[0]
