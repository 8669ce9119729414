"""The deeper search: what moves of whole sets find after Algorithm 2 has stopped.

After the passes have converged: identities by assignment, splits, merges, single points; then
passes again, until nothing lowers L_t. Every move is taken only if it lowers L_t, the passes lower
it by Theorem 1, and there are finitely many divisions of a batch: so the search ends, and never
above what Algorithm 2 reached (decision 0017).
"""

from dynmeans.algorithm.assign_params import assign_params
from dynmeans.algorithm.cluster import NO_FALL, Solution, make_passes
from dynmeans.algorithm.cost import clustering_cost
from dynmeans.algorithm.identities import assign_identities
from dynmeans.algorithm.merges import merge_sets
from dynmeans.algorithm.sets import Batch, Sets
from dynmeans.algorithm.single_points import move_single_points
from dynmeans.algorithm.splits import split_sets
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def search_deeper(
    points: FloatArray,
    point_weights: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
    found: Solution,
) -> Solution:
    """Continue from where Algorithm 2 stopped; the trace of the cost goes on."""
    batch = Batch(points, point_weights, state, penalties, order)
    while len(order):
        labels = _move_sets(Sets(batch, found.labels), NO_FALL * found.cost)
        if labels is None:
            return found
        counts, centers = assign_params(points, point_weights, labels, state, penalties)
        cost = clustering_cost(points, point_weights, labels, counts, centers, state, penalties)
        if not cost < found.cost * (1.0 - NO_FALL):
            return found
        moved = Solution(labels, counts, centers, [*found.cost_trace, cost])
        found = make_passes(points, point_weights, state, penalties, order, moved)
    return found


def _move_sets(sets: Sets, least: float) -> IntArray | None:
    """Make each kind of move once; return the labels it comes to, or None if there was none."""
    moves = (assign_identities, split_sets, merge_sets, move_single_points)
    has_changed = [move(sets, least) for move in moves]
    return sets.labels() if any(has_changed) else None
