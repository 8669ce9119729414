"""A move of the deeper search: the identities of all sets at once, by linear assignment.

The scatter does not depend on identities, so the best ones are a matching of sets and remembered
clusters whose terms are the lowest in all; a set left over is a new cluster for lambda. Only pairs
that cost less than lambda matter. They fall into groups that share nothing, and most of those need
no search: every set of the group wants another cluster.
"""

import numpy as np

from dynmeans.algorithm.sets import NEW, Sets
from dynmeans.algorithm.sums import sum_over_slots
from dynmeans.records.arrays import FloatArray


def assign_identities(sets: Sets, least: float) -> bool:
    """Give the sets the identities of the cheapest matching; say whether L_t fell.

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
    time along the shortest augmenting path. Columns of zeros stand for none.
    """
    n_rows, n_columns = gains.shape
    lowest = [int(c) if gains[r, c] < 0.0 else -1 for r, c in enumerate(gains.argmin(axis=1))]
    wanted = [c for c in lowest if c >= 0]
    if len(set(wanted)) == len(wanted):
        return lowest
    costs = np.hstack([gains, np.zeros((n_rows, n_rows))])
    u, v = np.zeros(n_rows), np.zeros(n_columns + n_rows)  # the dual prices of rows and columns
    holder = np.full(len(v), -1)
    for row in range(n_rows):
        _augment(row, costs, u, v, holder)
    chosen = [-1] * n_rows
    for c in range(n_columns):
        if holder[c] >= 0 and gains[holder[c], c] < 0.0:
            chosen[holder[c]] = c
    return chosen


def _augment(row: int, costs: FloatArray, u: FloatArray, v: FloatArray, holder: FloatArray) -> None:
    """Find a column for one more row, moving the others aside along the shortest path."""
    n_columns = len(v)
    slack, came_from = np.full(n_columns, np.inf), np.full(n_columns, -1)
    is_used = np.zeros(n_columns, dtype=bool)
    column, r = -1, row
    while True:
        reduced = costs[r] - u[r] - v
        is_nearer = ~is_used & (reduced < slack)
        slack[is_nearer], came_from[is_nearer] = reduced[is_nearer], column
        nearest = int(np.argmin(np.where(is_used, np.inf, slack)))
        delta = slack[nearest]
        u[row] += delta
        u[holder[is_used]] += delta
        v[is_used] -= delta
        slack[~is_used] -= delta
        column = nearest
        if holder[column] < 0:
            break
        is_used[column] = True
        r = int(holder[column])
    while column >= 0:
        before = int(came_from[column])
        holder[column] = holder[before] if before >= 0 else row
        column = before
