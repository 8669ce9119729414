"""Sums whose bits do not depend on the order of their terms (decision 0006).

Each term is rounded to a multiple of a unit, a power of two that follows from the batch as a whole;
the multiples are added exactly, and only the total is rounded. So terms may come in any order, in
parts that are added later, and may be taken out again. It is Demmel and Nguyen's reproducible
summation; compiled code adds the multiples in bins, as ReproBLAS does.
"""

import math
from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.double_double import Pair
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

LANES = 8
# A unit is so many bits finer than the least that matters.
COORDINATE_BITS, COST_BITS, SQUARE_BITS = 60, 80, 64
MIN_EXPONENT = -1074  # Every float64 is a multiple of 2**-1074.


def squared_distances(points: FloatArray, centers: FloatArray) -> FloatArray:
    """|y - theta|^2 along the last axis: eight running sums, added in halves.

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


def on_sphere(sums: FloatArray) -> FloatArray:
    """Return vectors of length 1, one for each row; the first axis for a row of zeros.

    The squares are added in eight lanes, then in halves; one root, one division a coordinate.

    >>> on_sphere(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [1.0, 0.0]]
    """
    lengths = np.sqrt(squared_distances(sums, np.zeros_like(sums)))
    has_length = (lengths > 0)[:, None]
    first_axis = np.broadcast_to(np.eye(1, sums.shape[1]), sums.shape)
    return np.divide(sums, lengths[:, None], out=first_axis.copy(), where=has_length)


@dataclass(frozen=True, slots=True)
class SumUnits:
    """What the terms of a batch's sums are rounded to multiples of.

    w, w y by feature, w |y|^2, and w |y - theta|^2.
    """

    weight: float
    coordinates: FloatArray
    square: float
    cost: float


def sum_units(
    points: FloatArray, point_weights: FloatArray, state: ClusterState, penalties: Penalties
) -> SumUnits:
    """Return the units: a tiny share of the lightest weight times the reach or the data.

    A cluster reaches sqrt(lambda) far, so a center that is off by 2**-60 of that changes nothing.
    """
    takes_part = point_weights > 0
    lightest = float(point_weights[takes_part].min(initial=np.inf))
    lightest = lightest if math.isfinite(lightest) else 1.0
    rows = np.abs(np.concatenate([points[takes_part], state.centers]))
    farthest = rows.max(axis=0, initial=0.0)  # the largest coordinate, by feature
    widest = float(farthest.max(initial=0.0))
    new_penalty = penalties.new_penalty
    least_square = lightest * min(new_penalty, widest * widest)
    return SumUnits(
        weight=_unit_of(lightest, COORDINATE_BITS),
        coordinates=np.array(
            [_unit_of(lightest * min(math.sqrt(new_penalty), y), COORDINATE_BITS) for y in farthest]
        ),
        square=_unit_of(least_square, SQUARE_BITS),
        cost=_unit_of(least_square, COST_BITS),
    )


def _unit_of(least: float, n_bits: int) -> float:
    """`least` / 2**n_bits, rounded down to a power of two."""
    exponent = math.frexp(least)[1] - 1 - n_bits if least > 0 else MIN_EXPONENT
    return math.ldexp(1.0, max(exponent, MIN_EXPONENT))


def round_to(values: FloatArray, unit: FloatArray | float) -> FloatArray:
    """Round to the nearest multiple of a unit, to an even one on a tie; large values are some."""
    is_large = np.abs(values) >= 2.0**53 * unit
    small = np.where(is_large, 0.0, values)
    return np.where(is_large, values, np.rint(small / unit) * unit)


def sum_by_slot(
    values: FloatArray, labels: IntArray, n_slots: int, units: FloatArray | float
) -> FloatArray:
    """Add the rows of `values` (n_points, n_columns) into their slots.

    Rows with a negative label belong to no slot.
    """
    totals = np.zeros((n_slots, values.shape[1]))
    placed = np.flatnonzero(labels >= 0)
    if not len(placed):
        return totals
    in_order = placed[np.argsort(labels[placed], kind="stable")]
    rounded = round_to(values[in_order], units)
    slots, starts = np.unique(labels[in_order], return_index=True)
    for k, rows in zip(slots, np.split(rounded, starts[1:]), strict=True):
        totals[k] = [math.fsum(column) for column in rows.T.tolist()]
    return totals


def precise_sums(
    values: FloatArray, labels: IntArray, n_slots: int, units: FloatArray | float
) -> Pair:
    """`sum_by_slot`, and what the rounding of its totals lost."""
    totals = sum_by_slot(values, labels, n_slots, units)
    rests, rounded = np.zeros_like(totals), round_to(values, units)
    for k in np.unique(labels[labels >= 0]):
        rows = np.vstack([-totals[k], rounded[labels == k]])
        rests[k] = [math.fsum(column) for column in rows.T.tolist()]
    return totals, rests


def sum_of(values: FloatArray, unit: float) -> float:
    """Add `values`."""
    return math.fsum(round_to(values, unit).tolist())


def sum_over_slots(values: FloatArray) -> float:
    """Add one value for each slot, one by one: slots have an order of their own."""
    return float(np.add.accumulate(values)[-1]) if len(values) else 0.0
