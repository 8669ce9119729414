"""Matching: clusters that another clusterer found in a batch continue those that are remembered.

A cluster counts as one observation at its mean for what it costs to revive another (Eq. 5), and as
all of its points for the center and the course it then has (Eq. 12). No two clusters of a batch
continue the same one: the matching of lowest cost is taken, and what is left over is new.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dynmeans.algorithm.assign_params import prior_weights, weighted_means
from dynmeans.algorithm.update_state import advance_time, update_state
from dynmeans.engine.batch import Batch
from dynmeans.engine.guard import check_growth
from dynmeans.follow.clusterers import DETECTIONS, NOISE, clusters_of
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import MOTIONS, Penalties, penalties_with_defaults
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.suggestion import Candidate, Suggestion

_MIN_BATCHES_FOR_VELOCITY = 4  # batches
_MUCH_NEARER = 0.5  # what steady motion must come to, of the squared distances of still motion
_NEW = -1


class _Sets(NamedTuple):
    """The clusters of a batch: which rows have one and which, what they weigh, their means."""

    is_used: Any
    rows: IntArray
    n: FloatArray
    means: FloatArray
    scatter: float


def _sets(labels: IntArray, batch: Batch) -> _Sets:
    is_used = labels != NOISE
    names, rows = np.unique(labels[is_used], return_inverse=True)
    points = batch.points[is_used].astype(np.float64)
    weights = batch.masses[is_used]
    n: FloatArray = np.bincount(rows, weights, len(names)).astype(np.float64)
    columns = [np.bincount(rows, weights * column, len(names)) / n for column in points.T]
    means = np.column_stack(columns)
    scatter = float(weights @ np.sum((points - means[rows]) ** 2, axis=1))
    return _Sets(is_used, rows, n, means, scatter)


def match_batch(
    labels: IntArray,
    batch: Batch,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float,
    max_clusters: int | None = None,
) -> tuple[ClusterState, Clustering]:
    """Return the state after a batch whose rows have these clusters, and its clustering."""
    arrived = advance_time(state, elapsed, penalties)
    sets = _sets(labels, batch)
    owners, _ = _match_to_remembered(sets.means, arrived, penalties)
    slots = owners.copy()
    slots[owners == _NEW] = state.n_clusters + np.arange(np.count_nonzero(owners == _NEW))
    n_slots = max([state.n_clusters, *(slots + 1)])
    counts, totals = np.zeros(n_slots), np.zeros((n_slots, state.n_features))
    counts[slots], totals[slots] = sets.n, sets.n[:, None] * sets.means
    centers = weighted_means(counts, totals, arrived, penalties)
    after = update_state(counts, centers, arrived, state.centers, penalties, elapsed)
    check_growth(state, after, max_clusters)
    ids = np.concatenate([state.ids, state.next_id + np.arange(n_slots - state.n_clusters)])
    found = np.full(batch.n_points, NOISE)
    found[sets.is_used] = ids[slots[sets.rows]]
    cost = sets.scatter + _cluster_costs(sets, owners, arrived, penalties)
    seen = counts > 0
    is_whole = batch.weights is None
    clustering = Clustering(
        labels=found,
        ids=ids[seen],
        counts=counts[seen].astype(np.int64) if is_whole else counts[seen],
        centers=centers[seen],
        cost=cost,
        n_iter=1,
        cost_trace=np.array([cost]),
    )
    return after, clustering


def nearest(
    points: FloatArray, state: ClusterState, penalties: Penalties, elapsed: float
) -> tuple[IntArray, FloatArray]:
    """Return the identity whose mean is nearest to each row, and the squared distance."""
    if not state.n_clusters:
        return np.full(len(points), NOISE), np.full(len(points), np.inf)
    expected = advance_time(state, elapsed, penalties) if elapsed else state
    squares = cdist(points, expected.centers, "sqeuclidean")
    first = np.argmin(squares, axis=1)
    return state.ids[first], squares[np.arange(len(points)), first]


def choose_matching(
    method: Any,
    batches: Sequence[Batch],
    gaps: Sequence[float],
    entropy: int,
    batch_noun: str,
    motion: str | None,
    **given: Any,
) -> Suggestion:
    """Choose lambda, and whether clusters keep a course, from the clusters of the first batches.

    lambda is a quarter of the median squared distance between a cluster and its nearest neighbor:
    half of that distance. Constant velocity is used for detections that are much nearer to where it
    expects them; the mean of a shape that is cut for once would be thrown off its course.
    """
    labels = [clusters_of(method, batch, entropy) for batch in batches]
    pairs = list(zip(labels, batches, gaps, strict=True))
    squares = np.concatenate([_neighbors(found, batch) for found, batch, _ in pairs])
    usual = float(np.median(squares)) if len(squares) else 0.0
    tried = {}
    is_open = motion is None and method == DETECTIONS and len(batches) >= _MIN_BATCHES_FOR_VELOCITY
    for one in MOTIONS if is_open else [motion]:
        penalties = penalties_with_defaults(
            0.25 * usual or 1.0, motion=one or "random_walk", **given
        )
        tried[one] = penalties, *_prediction_error(pairs, penalties)
    best = min(
        tried, key=lambda one: tried[one][1] / (_MUCH_NEARER if one == "random_walk" else 1.0)
    )
    penalties, _, n_clusters_total = tried[best]
    n_seen = sum(len(np.unique(found[found != NOISE])) for found in labels)
    n_filled = max(1, sum(batch.has_weight for batch in batches))
    chosen = Candidate(penalties, float("nan"), n_seen / n_filled, n_clusters_total)
    n_points = sum(batch.n_points for batch in batches)
    return Suggestion(
        chosen,
        (chosen,),
        len(batches),
        n_points,
        n_sampled_points=n_points,
        has_scale=usual > 0,
        batch_noun=batch_noun,
        uses_matching=True,
        is_of_objects=method == DETECTIONS,
    )


def _prediction_error(
    pairs: Sequence[tuple[IntArray, Batch, float]], penalties: Penalties
) -> tuple[float, int]:
    """Squared distances of clusters from where they were expected, lambda for a new one."""
    state, total = ClusterState.empty(pairs[0][1].n_features), 0.0
    for labels, batch, gap in pairs:
        arrived = advance_time(state, gap, penalties)
        _, squares = _match_to_remembered(_sets(labels, batch).means, arrived, penalties)
        total += float(np.minimum(squares, penalties.new_penalty).sum())
        state, _ = match_batch(labels, batch, state, penalties, gap)
    return total, state.next_id


def _match_to_remembered(
    means: FloatArray, arrived: ClusterState, penalties: Penalties
) -> tuple[IntArray, FloatArray]:
    """Return which cluster each one continues, and its distance to the prediction."""
    owners, away = np.full(len(means), _NEW), np.full(len(means), np.inf)
    if not len(means) or not arrived.n_clusters:
        return owners, away
    squares = cdist(means, arrived.centers, "sqeuclidean")
    gamma = prior_weights(arrived, penalties)
    costs = penalties.revival_penalty * arrived.ages + gamma / (gamma + 1.0) * squares
    gains = np.minimum(costs - penalties.new_penalty, 0.0)
    rows, columns = linear_sum_assignment(gains)
    pays = gains[rows, columns] < 0.0
    owners[rows[pays]] = columns[pays]
    away[rows[pays]] = squares[rows[pays], columns[pays]]
    return owners, away


def _cluster_costs(
    sets: _Sets, owners: IntArray, arrived: ClusterState, penalties: Penalties
) -> float:
    """What L_t has beyond the scatter."""
    old = owners != _NEW
    gamma, n = prior_weights(arrived, penalties)[owners[old]], sets.n[old]
    lag = np.sum((sets.means[old] - arrived.centers[owners[old]]) ** 2, axis=1)
    revived = penalties.revival_penalty * arrived.ages[owners[old]] + gamma * n / (gamma + n) * lag
    return float(revived.sum()) + penalties.new_penalty * np.count_nonzero(~old)


def _neighbors(labels: IntArray, batch: Batch) -> FloatArray:
    """Squared distance of each cluster of a batch to its nearest neighbor."""
    means = _sets(labels, batch).means
    if len(means) < 2:
        return np.empty(0)
    squares = cdist(means, means, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    nearest_other: FloatArray = squares.min(axis=1)
    return nearest_other
