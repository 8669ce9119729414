"""Best one-to-one match of true and found labels: in each step, over all time, or frozen."""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from dynmeans.metrics.check_labels import number_distinct, sum_by
from dynmeans.metrics.label_streams import LabelStreams
from dynmeans.records.arrays import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

_DENSE_CELLS = 250_000  # up to here a full table is solved, above only the pairs in it
_WHOLE_CELLS = 10_000_000  # from here the time of the solver, quadratic in rows, makes parts pay


def match_per_step(streams: LabelStreams) -> BoolArray:
    """Return the pairs that match if every step is matched alone."""
    uses_matching = np.zeros(len(streams.overlaps), dtype=bool)
    for step in streams.each_step():
        uses_matching[step.pairs] = best_match(step.rows, step.cols, streams.overlaps[step.pairs])
    return uses_matching


def match_over_history(streams: LabelStreams) -> BoolArray:
    """Return the pairs that match if each true ID has one found ID for all steps."""
    overlaps = sum_by(streams.pair_links, streams.overlaps, len(streams.link_true))
    return best_match(streams.link_true, streams.link_found, overlaps)[streams.pair_links]


def match_frozen(streams: LabelStreams) -> BoolArray:
    """Return the pairs that match if a match, once made, stays.

    In each step only identities that were never matched before are free. The free ones are
    matched as well as this step allows, and every match that shares points is for good. Of
    equally good matches of a step, the one that gains most from there on is made, so that the
    score does not depend on how labels are named.
    """
    scores = streams.overlaps + _tie_breaks(streams)
    found_of = np.full(streams.true.n_ids, -1)
    true_of = np.full(streams.found.n_ids, -1)
    uses_matching = np.zeros(len(streams.overlaps), dtype=bool)
    for step in streams.each_step():
        true_ids, found_ids = step.true_ids[step.rows], step.found_ids[step.cols]
        free = np.flatnonzero((found_of[true_ids] == -1) & (true_of[found_ids] == -1))
        made = free[best_match(step.rows[free], step.cols[free], scores[step.pairs][free])]
        found_of[true_ids[made]] = found_ids[made]
        true_of[found_ids[made]] = true_ids[made]
        uses_matching[step.pairs] = found_of[true_ids] == found_ids
    return uses_matching


def _tie_breaks(streams: LabelStreams) -> FloatArray:
    """What each pair gains from its step on if it is kept, scaled to decide between equals only."""
    steps, n_steps = streams.true.steps, streams.points.n_steps
    totals = np.bincount(steps, streams.true.sizes, n_steps)
    pair_steps = steps[streams.pair_true]
    # What comes sooner counts a little more: equal sums of different courses are told apart.
    shares = streams.overlaps / totals[pair_steps] * (1.0 + 1e-4 * (1.0 - pair_steps / n_steps))
    order = np.argsort(streams.pair_links, kind="stable")  # by link, then by step
    until = np.cumsum(shares[order])
    ends = np.cumsum(np.bincount(streams.pair_links))  # of every link
    gains = np.empty(len(shares))
    gains[order] = until[np.repeat(ends - 1, np.diff(ends, prepend=0))] - until + shares[order]
    # A match gains at most 1 in every step. Counts differ by 1 at least; sums of weights that
    # differ by less than a millionth of the smallest are taken as equal.
    unit = 1.0 if streams.points.weights is None else 1e-6 * streams.overlaps.min(initial=1.0)
    return gains * (0.4 * unit / max(n_steps, 1))


def best_match(rows: IntArray, cols: IntArray, overlaps: FloatArray) -> BoolArray:
    """Return the pairs of largest overlap of which none share a row or column.

    No pair is given twice, and each gains more than 0; pairs that are not given gain nothing.
    """
    if not len(overlaps):
        return np.zeros(0, dtype=bool)
    if _n_cells(rows, cols) <= _WHOLE_CELLS:
        return _match_part(rows, cols, overlaps)
    is_kept = np.ones(len(overlaps), dtype=bool)  # a pair that is a part by itself is kept
    for pairs in _find_components(rows, cols):
        if len(pairs) > 1:
            is_kept[pairs] = _match_part(rows[pairs], cols[pairs], overlaps[pairs])
    return is_kept


def assign(
    rows: IntArray, cols: IntArray, scores: FloatArray, shape: tuple[int, int] | None = None
) -> BoolArray:
    """Return the pairs of the assignment of largest score, in a table of that shape."""
    table = np.zeros(shape or (int(rows.max()) + 1, int(cols.max()) + 1))
    table[rows, cols] = scores
    kept_rows, kept_cols = linear_sum_assignment(-table)
    return _is_kept(rows, cols, kept_rows, kept_cols, len(table))


def _n_cells(rows: IntArray, cols: IntArray) -> int:
    return (int(rows.max()) + 1) * (int(cols.max()) + 1)


def _find_components(rows: IntArray, cols: IntArray) -> list[IntArray]:
    """Divide the pairs so that no two parts share a row or column: each can be solved alone."""
    n_rows, n_nodes = int(rows.max()) + 1, int(rows.max()) + int(cols.max()) + 2
    graph = _graph(np.ones(len(rows)), rows, n_rows + cols, (n_nodes, n_nodes))
    parts = connected_components(graph, directed=False)[1][rows]
    order = np.argsort(parts, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(parts[order])) + 1)


def _match_part(rows: IntArray, cols: IntArray, overlaps: FloatArray) -> BoolArray:
    rows, cols = number_distinct(rows)[1], number_distinct(cols)[1]
    if _n_cells(rows, cols) <= _DENSE_CELLS:
        return assign(rows, cols, overlaps)
    if rows.max() > cols.max():  # the solver's time grows with the rows
        return _assign_sparse(cols, rows, overlaps)
    return _assign_sparse(rows, cols, overlaps)


def _assign_sparse(rows: IntArray, cols: IntArray, overlaps: FloatArray) -> BoolArray:
    """As `assign`, in memory for the pairs that are given."""
    n_rows, n_cols = int(rows.max()) + 1, int(cols.max()) + 1
    # The solver matches every row and takes no costs of 0: each row gets a column of its own
    # that gains nothing, and all costs are raised above 0 by the same amount.
    idle = np.arange(n_rows)
    costs = 2 * overlaps.max() - np.concatenate([overlaps, np.zeros(n_rows)])
    ends = np.concatenate([rows, idle]), np.concatenate([cols, n_cols + idle])
    graph = _graph(costs, *ends, (n_rows, n_cols + n_rows))
    kept_rows, kept_cols = min_weight_full_bipartite_matching(graph)
    return _is_kept(rows, cols, kept_rows, kept_cols, n_rows)


def _graph(values: FloatArray, rows: IntArray, cols: IntArray, shape: tuple[int, int]) -> csr_array:
    """Return a sparse matrix with 32-bit indices: SciPy 1.11 has wrong answers for wider ones."""
    return csr_array((values, (rows.astype(np.int32), cols.astype(np.int32))), shape=shape)


def _is_kept(
    rows: IntArray, cols: IntArray, kept_rows: IntArray, kept_cols: IntArray, n_rows: int
) -> BoolArray:
    col_of = np.full(n_rows, -1)
    col_of[kept_rows] = kept_cols
    return np.asarray(col_of[rows] == cols)
