"""Algorithm 1, Dynamic Means: one step over a batch, and the loop over the batches."""

from collections.abc import Iterable

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL, Solution, cluster
from dynmeans.algorithm.deep_search import run_deep_search
from dynmeans.algorithm.predict_labels import predict_labels
from dynmeans.algorithm.update_state import advance_time, update_state
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def dynamic_means(
    batches: Iterable[tuple[FloatArray, IntArray]], n_features: int, penalties: Penalties
) -> Iterable[Clustering]:
    """Algorithm 1: cluster (points, orders) one after the other, carrying the state along."""
    state = ClusterState.empty(n_features)
    for points, orders in batches:
        state, clustering = step(points, state, penalties, orders, 1.0, None)
        yield clustering


def step(
    points: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    orders: IntArray,
    elapsed: float,
    point_weights: FloatArray | None,
    depth: int = 0,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch once for each visiting order, keep the cheapest, remember it.

    Splits (depth 1) or all moves (2) follow the cheapest, in the last of the orders. New identities
    are handed out in slot order.
    """
    weights = np.ones(len(points)) if point_weights is None else point_weights
    arrived = advance_time(state, elapsed, penalties)
    best: Solution | None = None
    for order in orders:
        order = order[weights[order] > 0]  # A point of weight 0 takes no part.
        found = cluster(points, weights, arrived, penalties, order)
        # The first of equals is kept: a later one must be lower.
        if best is None or found.cost < best.cost * (1.0 - NO_FALL):
            best = found
    assert best is not None, "orders has at least one row"
    if depth > 0:
        best = run_deep_search(points, weights, arrived, penalties, order, best, depth)
    new_state = update_state(best.counts, best.centers, arrived, state.centers, penalties, elapsed)
    n_new = len(best.counts) - state.n_clusters
    ids = np.concatenate([state.ids, state.next_id + np.arange(n_new)])
    labels = np.append(ids, -1)[best.labels]
    bystanders = weights == 0
    labels[bystanders], _ = predict_labels(points[bystanders], new_state, penalties)
    clustering = _name_clusters(best, ids, labels, counts_are_integers=point_weights is None)
    return new_state, clustering


def _name_clusters(
    solution: Solution, ids: IntArray, labels: IntArray, *, counts_are_integers: bool
) -> Clustering:
    """Keep the slots that were seen, under their identities."""
    seen = solution.counts > 0
    counts = solution.counts[seen]
    return Clustering(
        labels=labels,
        ids=ids[seen],
        counts=counts.astype(np.int64) if counts_are_integers else counts,
        centers=solution.centers[seen],
        cost=solution.cost,
        n_iter=len(solution.cost_trace),
        cost_trace=np.array(solution.cost_trace),
    )
