"""Identities too small for a name: each goes with the nearest that has one, or is an outlier."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from dynmeans.families.evidence import Evidence
from dynmeans.records.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from dynmeans.families.tree import PairMeasures

_FAR = 4.0  # spreads of a group from its middle; what lies farther belongs to nothing
_RARE = 1e-3  # of the points that came while it lived: fewer make no name
_MAX_NUMBERS = 2**22  # of distances held at once


def find_small_groups(
    evidence: Evidence, group_of_row: IntArray, min_cluster_size: float, min_batches: int
) -> npt.NDArray[np.bool_]:
    """Groups with fewer points, or seen in fewer batches or very seldom; none where all are."""
    sizes = np.bincount(group_of_row, evidence.n)
    lifetimes = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(lifetimes, group_of_row, evidence.n_batches)
    # Of a few batches few can be asked for.
    least_life = min(min_batches, 1 + (evidence.n_added - 1) // 3)
    # What the last batch brought had no chance to be seen twice.
    first = np.full(len(sizes), np.inf)
    np.minimum.at(first, group_of_row, evidence.first_times)
    is_new = first == evidence.last_times.max()
    is_short = (lifetimes < least_life) & ~is_new
    is_small: npt.NDArray[np.bool_] = (sizes < min_cluster_size) | is_short
    if min_batches > 1:
        is_small |= sizes < _RARE * _points_meanwhile(evidence, group_of_row)
    return np.zeros_like(is_small) if is_small.all() else is_small


def _points_meanwhile(evidence: Evidence, group_of_row: IntArray) -> FloatArray:
    """Points that came from the first to the last time a group was seen, at the usual rate."""
    first, last = np.full((2, group_of_row.max() + 1), np.inf) * [[1.0], [-1.0]]
    np.minimum.at(first, group_of_row, evidence.first_times)
    np.maximum.at(last, group_of_row, evidence.last_times)
    whole = float(evidence.last_times.max() - evidence.first_times.min())
    usual = whole / max(evidence.n_added - 1, 1) or 1.0
    share: FloatArray = (last - first + usual) / (whole + usual)
    return float(evidence.n.sum()) * share


def nearest_rows(
    evidence: Evidence, measures: "PairMeasures", rows: IntArray, others: IntArray
) -> tuple[IntArray, FloatArray]:
    """Of each of some rows, the nearest of others and its squared distance.

    Pairs that were near are measured while both were seen; the rest from the end of one to the
    beginning of the other, or between their means over all time.
    """
    place = np.full(len(evidence.ids), -1)
    place[rows] = np.arange(len(rows))
    is_other = np.zeros(len(evidence.ids), dtype=bool)
    is_other[others] = True
    ends = np.concatenate([measures.rows, measures.rows[:, ::-1]])
    squares = np.tile(measures.apart, 2)
    is_used = (place[ends[:, 0]] >= 0) & is_other[ends[:, 1]]
    ends, squares = ends[is_used], squares[is_used]
    order = np.lexsort((ends[:, 1], squares, ends[:, 0]))
    found, first = np.unique(ends[order, 0], return_index=True)
    nearest, distances = np.full(len(rows), -1), np.full(len(rows), np.inf)
    nearest[place[found]] = ends[order[first], 1]
    distances[place[found]] = squares[order[first]]
    alone = np.flatnonzero(nearest < 0)
    step = max(1, _MAX_NUMBERS // max(len(others), 1))
    for begin in range(0, len(alone), step):
        part = alone[begin : begin + step]
        far = far_distances(evidence, rows[part], others)
        best = np.argmin(far, axis=1)
        nearest[part], distances[part] = others[best], far[np.arange(len(part)), best]
    return nearest, distances


def far_distances(evidence: Evidence, rows: IntArray, others: IntArray) -> FloatArray:
    """From the end of one to the beginning of the other where they did not overlap, else means."""
    sides = rows, others
    means = [evidence.sums[side] / evidence.n[side, None] for side in sides]
    squares: FloatArray = cdist(*means, "sqeuclidean")
    first, last = evidence.first_times, evidence.last_times
    after = cdist(evidence.last_means[rows], evidence.first_means[others], "sqeuclidean")
    is_after = last[rows][:, None] < first[others]
    squares[is_after] = after[is_after]
    before = cdist(evidence.first_means[rows], evidence.last_means[others], "sqeuclidean")
    is_before = first[rows][:, None] > last[others]
    squares[is_before] = before[is_before]
    return squares


def assign_small_to_nearest(
    evidence: Evidence,
    measures: "PairMeasures",
    group_of_row: IntArray,
    is_small: npt.NDArray[np.bool_],
    noise: float | None = None,
) -> tuple[IntArray, FloatArray]:
    """The row that each row is counted with, -1 for an outlier, and how far that is, squared.

    With `noise` at most that share of the points are outliers, those farthest away.
    """
    nearest_family, distances = np.arange(len(group_of_row)), np.zeros(len(group_of_row))
    rows = np.flatnonzero(is_small[group_of_row])
    if not len(rows):
        return nearest_family, distances
    others = np.flatnonzero(~is_small[group_of_row])
    nearest, squares = nearest_rows(evidence, measures, rows, others)
    # The members of a group stay together: all go where the nearest goes.
    order = np.lexsort((squares, group_of_row[rows]))
    _, first, inverse = np.unique(group_of_row[rows][order], return_index=True, return_inverse=True)
    leader = np.empty(len(rows), dtype=np.int64)
    leader[order] = order[first][inverse]
    nearest, squares = nearest[leader], squares[leader]
    is_out = squares > _FAR**2 * _spreads(evidence, group_of_row)[group_of_row[nearest]]
    points = evidence.n[rows]
    if noise is not None:
        order = np.argsort(np.where(is_out, -squares, np.inf), kind="stable")
        is_out[order] &= np.cumsum(points[order]) <= noise * evidence.n.sum()
    nearest_family[rows], distances[rows] = np.where(is_out, -1, nearest), squares
    return nearest_family, distances


def _spreads(evidence: Evidence, group_of_row: IntArray) -> FloatArray:
    """Mean squared distance of the points of each group from its middle, all time together."""
    n = np.bincount(group_of_row, evidence.n)
    sums = np.zeros((len(n), evidence.sums.shape[1]))
    np.add.at(sums, group_of_row, evidence.sums)
    squared = np.einsum("id,id->i", evidence.sums, evidence.sums) / evidence.n
    total = np.bincount(group_of_row, evidence.squares + squared)
    between = total / n - np.einsum("id,id->i", sums, sums) / n**2
    shared = float(evidence.squares.sum()) / max(float(evidence.free.sum()), 1.0)
    return np.asarray(np.maximum(between, shared))
