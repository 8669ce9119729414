"""Sums in one fixed order, so that every backend can give the same bits (decision 0006)."""

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

LANES = 8
BLOCK = 16384


def squared_distances(points: FloatArray, centers: FloatArray) -> FloatArray:
    """|y - theta|^2 along the last axis: eight running sums, added in halves.

    Examples
    --------
    >>> squared_distances(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0]]))
    array([25.])
    """
    squares = (points - centers) ** 2
    n_features = squares.shape[-1]
    lanes = np.zeros((*squares.shape[:-1], LANES))
    for start in range(0, n_features, LANES):
        width = min(LANES, n_features - start)
        lanes[..., :width] += squares[..., start : start + width]
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def sum_by_slot(values: FloatArray, labels: IntArray, n_slots: int) -> FloatArray:
    """Add the rows of `values` (n_points, n_columns) into their slots, block by block.

    Rows with a negative label belong to no slot.
    """
    totals = np.zeros((n_slots, values.shape[1]))
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        rows = labels[block] >= 0
        partial = np.zeros_like(totals)
        np.add.at(partial, labels[block][rows], values[block][rows])
        totals += partial
    return totals


def sum_in_order(values: FloatArray) -> float:
    """Add `values` one by one, block by block."""
    total = 0.0
    for start in range(0, len(values), BLOCK):
        partial = 0.0
        for value in values[start : start + BLOCK].tolist():
            partial += value
        total += partial
    return total
