"""A move of the deeper search: the identities of all sets at once, by linear assignment.

The scatter does not depend on identities, so the best ones are a matching of sets and remembered
clusters whose terms are the lowest in all; a set left over is a new cluster for lambda. Only pairs
that cost less than lambda matter. They fall into groups that share nothing, and most of those need
no search: every set of the group wants another cluster.
"""

import heapq

import numpy as np

from dynmeans.algorithm.sets import NEW, Sets
from dynmeans.algorithm.sums import sum_over_slots
from dynmeans.records.arrays import FloatArray


def assign_identities(sets: Sets, least: float) -> bool:
    """Give the sets the identities of the cheapest matching; return whether L_t fell.

    A group keeps what it has unless the other matching is cheaper by more than `least`.
    """
    gains = _gains(sets)
    has_changed = False
    for rows, columns in _groups(gains < 0.0, sets.owners):
        chosen = _match(np.minimum(gains[np.ix_(rows, columns)], 0.0))
        owners = [columns[c] if c >= 0 else NEW for c in chosen]
        before = [gains[k, j] for k in rows if (j := sets.owners[k]) != NEW]
        after = [gains[k, j] for k, j in zip(rows, owners, strict=True) if j != NEW]
        if sum_over_slots(np.array(before)) - sum_over_slots(np.array(after)) > least:
            has_changed = True
            for k in rows:
                sets.own(k, NEW)
            for k, j in zip(rows, owners, strict=True):
                sets.own(k, j)
    return has_changed


def _gains(sets: Sets) -> FloatArray:
    """What each set (row) would pay with each remembered cluster (column), less lambda."""
    batch = sets.batch
    gains = np.empty((len(sets), len(batch.gamma)))
    for k in range(len(sets)):
        for j in range(len(batch.gamma)):
            gains[k, j] = batch.term(sets.n[k], sets.mean(k), j) - batch.new_penalty
    return gains


def _groups(
    pays: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], owners: list[int]
) -> list[tuple[list[int], list[int]]]:
    """Sets and remembered clusters that hang together, by pairs that pay and pairs that are."""
    linked = pays.copy()
    for k, j in enumerate(owners):
        if j != NEW:
            linked[k, j] = True
    groups, is_done = [], np.zeros(len(owners), dtype=bool)
    for first in np.flatnonzero(linked.any(axis=1)).tolist():
        if is_done[first]:
            continue
        rows = np.arange(len(owners)) == first
        while True:
            columns = linked[rows].any(axis=0)
            wider = linked[:, columns].any(axis=1)
            if np.array_equal(wider, rows):
                break
            rows = wider
        is_done |= rows
        groups.append((np.flatnonzero(rows).tolist(), np.flatnonzero(columns).tolist()))
    return groups


def _match(gains: FloatArray) -> list[int]:
    """Choose a column for each row, no two the same and -1 for none, for the lowest sum of gains.

    Where every row has a lowest of its own, that is it; else the Hungarian method, one row at a
    time along the shortest augmenting path. Only pairs that gain are looked at, and
    each row has a column of its own, at no gain, that stands for none.
    """
    n_rows, n_columns = gains.shape
    lowest = [int(c) if gains[r, c] < 0.0 else -1 for r, c in enumerate(gains.argmin(axis=1))]
    wanted = [c for c in lowest if c >= 0]
    if len(set(wanted)) == len(wanted):
        return lowest
    pairs = [
        [*((c, float(row[c])) for c in np.flatnonzero(row < 0.0).tolist()), (n_columns + r, 0.0)]
        for r, row in enumerate(gains)
    ]
    matching = _Matching(n_columns + n_rows)
    for row in range(n_rows):
        matching.augment(row, pairs)
    chosen = [-1] * n_rows
    for c, holder in enumerate(matching.holders[:n_columns]):
        if holder >= 0:
            chosen[holder] = c
    return chosen


class _Matching:
    """Who holds each column, and the dual prices of rows and columns."""

    def __init__(self, n_columns: int) -> None:
        self.holders, self.v = [-1] * n_columns, [0.0] * n_columns
        self.u: list[float] = []

    def augment(self, row: int, pairs: list[list[tuple[int, float]]]) -> None:
        """Find a column for one more row, moving others aside along the shortest path.

        Dijkstra's method on the reduced gains; ties go to the lowest column.
        """
        self.u.append(0.0)
        lengths: dict[int, float] = {}
        came_from: dict[int, int] = {}
        settled: dict[int, int] = {}
        waiting: list[tuple[float, int]] = []
        column, r, length = -1, row, 0.0
        while True:
            for c, gain in pairs[r]:
                longer = length + (gain - self.u[r] - self.v[c])
                if c not in settled and longer < lengths.get(c, np.inf):
                    lengths[c], came_from[c] = longer, column
                    heapq.heappush(waiting, (longer, c))
            length, column = heapq.heappop(waiting)
            while length != lengths[column]:  # it was reached on a shorter path since
                length, column = heapq.heappop(waiting)
            if (r := self.holders[column]) < 0:
                break
            settled[column] = r
        self.u[row] += length
        for c, holder in settled.items():
            self.u[holder] += length - lengths[c]
            self.v[c] -= length - lengths[c]
        while column >= 0:
            before = came_from[column]
            self.holders[column] = self.holders[before] if before >= 0 else row
            column = before
