"""Methods: what finds the clusters of one batch, by name or as an object."""

from typing import Any

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.records.arrays import IntArray

DYNMEANS, DETECTIONS = "dynmeans", "detections"
NOISE = -1


def check_method(name: str, value: Any) -> Any:
    """Return a method as text if it can be written as such, else the clusterer itself.

    >>> check_method("method", "HDBSCAN(min_samples=3, min_cluster_size=9)")
    'hdbscan(min_cluster_size=9, min_samples=3)'
    """
    word = value.strip().lower() if isinstance(value, str) else None
    if word in (DYNMEANS, DETECTIONS):
        return word
    from dynmeans.follow.sklearn_clusterers import check_clusterer

    return check_clusterer(name, value)


def method_text(method: Any) -> str:
    """Return the text of a method that a memory stores, enough to identify it."""
    return method if isinstance(method, str) else f"a clusterer {type(method).__name__}"


def clusters_of(method: Any, batch: Batch, entropy: int) -> IntArray:
    """Return the cluster of each row of a batch separately, -1 for noise; rows weigh 0 or more."""
    is_used, found = batch.masses > 0, np.full(batch.n_points, NOISE)
    if not is_used.any():
        return found
    if method == DETECTIONS:
        found[is_used] = np.arange(np.count_nonzero(is_used))
        return found
    from dynmeans.follow.sklearn_clusterers import labels_of

    used = batch.take_rows(is_used)
    found[is_used] = labels_of(method, used.points.astype(np.float64), used.weights, entropy)
    return np.where(found < 0, NOISE, found)
