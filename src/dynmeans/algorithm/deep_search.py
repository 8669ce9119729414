"""The deeper search: what moves of whole sets find after Algorithm 2 has stopped.

After the passes have converged: identities by assignment, splits, merges, single points; then a
few passes, and so on. Where a round finds nothing the passes converge, and another looks at that;
a round that brings next to nothing is the last. Every move is taken only if it lowers L_t, the
passes lower it by Theorem 1, and there are finitely many divisions of a batch: so the search ends,
and never above what Algorithm 2 reached (decision 0017).
"""

from dynmeans.algorithm.assign_params import assign_params
from dynmeans.algorithm.cluster import NO_FALL, Solution, run_passes
from dynmeans.algorithm.cost import clustering_cost
from dynmeans.algorithm.identities import assign_identities
from dynmeans.algorithm.merges import merge_sets
from dynmeans.algorithm.sets import Sets, SetsBatch
from dynmeans.algorithm.single_points import move_single_points
from dynmeans.algorithm.splits import split_sets
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

PASSES_PER_ROUND = 4  # after a round
MIN_RELATIVE_GAIN = 1e-3  # of L_t: by how much a round must lower it for another to follow


def run_deep_search(
    points: FloatArray,
    point_weights: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
    found: Solution,
    depth: int = 2,
) -> Solution:
    """Continue from where Algorithm 2 stopped; the trace of the cost continues.

    At depth 1 sets that clearly contain two groups are split, and nothing else is moved.
    """
    batch = SetsBatch(points, point_weights, state, penalties, order)
    is_last, has_converged = len(order) == 0, True
    while not (is_last and has_converged):
        sets = Sets(batch, found.labels)
        labels = None if is_last else _move_sets(sets, NO_FALL * found.cost, depth)
        if labels is not None:
            counts, centers = assign_params(points, point_weights, labels, state, penalties)
            cost = clustering_cost(points, point_weights, labels, counts, centers, state, penalties)
            if not cost < found.cost * (1.0 - NO_FALL):
                return found
            trace, before = [*found.cost_trace, cost], found.cost
            moved = Solution(labels, counts, centers, trace)
            most = len(trace) + PASSES_PER_ROUND
            found = run_passes(points, point_weights, state, penalties, order, moved, most)
            has_converged = not found.cost < found.cost_trace[-2] * (1.0 - NO_FALL)
            is_last = not found.cost < before * (1.0 - MIN_RELATIVE_GAIN)
        elif has_converged:
            return found
        else:
            found = run_passes(points, point_weights, state, penalties, order, found)
            has_converged = True
    return found


def _move_sets(sets: Sets, least: float, depth: int) -> IntArray | None:
    """Make each kind of move once; return the labels it comes to, or None if there was none."""
    if depth == 1:
        return sets.labels() if split_sets(sets, least, require_clear_gap=True) else None
    moves = (assign_identities, split_sets, merge_sets, move_single_points)
    has_changed = [move(sets, least) for move in moves]
    return sets.labels() if any(has_changed) else None
