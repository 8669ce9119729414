"""One batch as a choice of parameters clusters it: what a picture of the choice shows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.blas import one_thread
from dynmeans.engine.sequence import label_sequence
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.suggestion import Candidate


@dataclass(frozen=True, slots=True, eq=False)
class CandidateData:
    """One batch as a choice of parameters clusters it."""

    # (n_points, 2); the two features, the only one against the row, or the two directions of
    # largest spread.
    places: FloatArray
    labels: IntArray  # (n_points,); identities
    title: str  # The choice and what it gives


def candidate_data(
    candidate: Candidate, batches: Sequence[Batch], elapsed: Sequence[float]
) -> CandidateData:
    """Cluster all batches with a choice, and keep the fullest of them to look at.

    >>> from dynmeans.parameters.suggest import suggest_details
    >>> rows = [[0.0], [0.2], [9.0], [9.1]]
    >>> chosen = suggest_details([rows] * 3).chosen
    >>> data = candidate_data(chosen, [Batch(np.array(rows))] * 3, [1.0] * 3)
    >>> data.places.shape, np.unique(data.labels).tolist(), data.title.splitlines()[1]
    ((4, 2), [0, 1], '2 clusters in a batch, 2 in all')
    """
    labels, _, _ = label_sequence(batches, candidate.penalties, VisitingOrders(0, 3), elapsed)
    rows = [_counted_points(batch) for batch in batches]  # those that have labels
    ends = np.cumsum([len(points) for points in rows])
    fullest = int(np.argmax([len(points) for points in rows]))
    points = rows[fullest]
    return CandidateData(
        _in_two(points),
        labels[ends[fullest] - len(points) : ends[fullest]],
        f"new_penalty {candidate.penalties.new_penalty:.4g}\n{candidate.n_clusters:.3g} clusters "
        f"in a batch, {candidate.n_identities:,} in all",
    )


def _counted_points(batch: Batch) -> FloatArray:
    points = np.asarray(batch.points, dtype=np.float64)
    return points if batch.weights is None else points[np.asarray(batch.weights) > 0]


@one_thread()
def _in_two(points: FloatArray) -> FloatArray:
    if points.shape[1] == 1:
        return np.column_stack([np.arange(len(points)), points[:, 0]])
    if points.shape[1] == 2:
        return points
    centered = points - points.mean(axis=0)
    return np.asarray(centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T)
