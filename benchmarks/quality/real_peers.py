"""What others find in a stream: clusterers of single batches, matched or tracked, and of streams.

Each is given what its name states; the best setting "by labels" is chosen in hindsight.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from dynmeans import DynamicMeans
from dynmeans.records.arrays import FloatArray, IntArray

LAMBDAS = tuple(2.8 * 2.0 ** (-k / 2) for k in range(-2, 10))  # of the variance within batches
GAPS_AND_REACHES = ((6.8, 1.2), (28.0, 1.01), (np.inf, 1.01))
EPS = (0.6, 0.8, 1.0, 1.3, 1.7)  # of the median distance to the fifth neighbor

Labels = list[IntArray]
Found = Callable[[], list[Labels]]  # from which the best is taken, where there are several


def peers(batches: list[FloatArray], n_clusters: int) -> dict[str, Found]:
    """Return what to call for the labels of each of the others."""
    eps = _fifth_neighbor(batches)
    makers: dict[str, list[Any]] = {
        "DBSCAN, best of 5 eps by labels": [DBSCAN(eps=m * eps, min_samples=5) for m in EPS],
        "HDBSCAN": [HDBSCAN(min_cluster_size=5, copy=True)],
        "KMeans, K given": [KMeans(n_clusters, n_init=3, random_state=0)],
    }
    found: dict[str, Found] = {"best of 36 by labels": lambda: _settings(batches)}
    for name, clusterers in makers.items():
        for memory, follow in (("last batch", _matched), ("tracked", _tracked)):
            found[f"{name}, {memory}"] = lambda follow=follow, clusterers=clusterers: [  # type: ignore[misc]
                follow(batches, clusterer) for clusterer in clusterers
            ]
    found["MiniBatchKMeans, K given"] = lambda: [_mini_batches(batches, n_clusters)]
    for name in ("DenStream", "DBSTREAM"):
        found[name] = lambda name=name: [_river(name, batches, eps)]  # type: ignore[misc]
    return found


def _settings(batches: list[FloatArray]) -> list[Labels]:
    """36 settings with one lambda."""
    variance = _variance(batches)
    return [
        DynamicMeans(
            share * variance, max_gap=max_gap, reach=reach, random_state=0, search="paper"
        ).fit_sequence(batches)[0]
        for share in LAMBDAS
        for max_gap, reach in GAPS_AND_REACHES
    ]


def _clustered(clusterer: Any, batch: FloatArray) -> IntArray:
    least = getattr(clusterer, "n_clusters", getattr(clusterer, "min_cluster_size", 1))
    if len(batch) < max(least, 2):
        return np.zeros(len(batch), dtype=np.int64)
    return np.asarray(clusterer.fit_predict(batch), dtype=np.int64)


def _matched(batches: list[FloatArray], clusterer: Any) -> list[IntArray]:
    return match_to_last(batches, [_clustered(clusterer, batch) for batch in batches])


def match_to_last(batches: list[FloatArray], found: list[IntArray]) -> list[IntArray]:
    """Match the clusters of each batch one to one to those of the last, by their means."""
    ids, centers, n_born, labels = np.empty(0, dtype=np.int64), np.empty((0, 0)), 0, []
    for batch, names in zip(batches, found, strict=True):
        used = np.unique(names[names >= 0])
        if not len(used):
            labels.append(names)
            continue
        means = np.array([batch[names == name].mean(axis=0) for name in used])
        mine = np.full(len(used), -1)
        if len(ids):
            rows, columns = linear_sum_assignment(cdist(means, centers, "sqeuclidean"))
            mine[rows] = ids[columns]
        is_new = mine < 0
        mine[is_new] = n_born + np.arange(np.count_nonzero(is_new))
        n_born += int(np.count_nonzero(is_new))
        labels.append(
            np.where(names >= 0, mine[np.searchsorted(used, np.maximum(names, used[0]))], -1)
        )
        ids, centers = mine, means
    return labels


def _tracked(batches: list[FloatArray], clusterer: Any) -> list[IntArray]:
    """Match the clusters of each batch to all that are remembered, without parameters."""
    model = DynamicMeans(method=clusterer, max_gap=np.inf, random_state=0)
    labels: list[IntArray] = model.fit_sequence(batches)[0]
    return labels


def _mini_batches(batches: list[FloatArray], n_clusters: int) -> list[IntArray]:
    model = MiniBatchKMeans(n_clusters, random_state=0)
    labels, waiting = [], []
    for batch in batches:
        waiting.append(batch)
        if not hasattr(model, "cluster_centers_") and sum(map(len, waiting)) < n_clusters:
            labels.append(np.zeros(len(batch), dtype=np.int64))
            continue
        model.partial_fit(np.concatenate(waiting))
        waiting = []
        labels.append(model.predict(batch).astype(np.int64) if len(batch) else np.empty(0, int))
    return labels


def _river(name: str, batches: list[FloatArray], eps: float) -> list[IntArray]:
    cluster = importlib.import_module("river.cluster")
    model: Any = (
        cluster.DenStream(decaying_factor=0.01, beta=0.75, mu=2, epsilon=eps, n_samples_init=100)
        if name == "DenStream"
        else cluster.DBSTREAM(clustering_threshold=eps, cleanup_interval=100)
    )
    labels = []
    for batch in batches:
        rows = [dict(enumerate(row)) for row in batch.tolist()]
        for row in rows:
            model.learn_one(row)
        labels.append(np.array([model.predict_one(row) for row in rows], dtype=np.int64))
    return labels


def _variance(batches: list[FloatArray]) -> float:
    squares = sum(float(((b - b.mean(axis=0)) ** 2).sum()) for b in batches if len(b))
    return squares / sum(map(len, batches))


def _fifth_neighbor(batches: list[FloatArray]) -> float:
    """Return the median distance of a fifth neighbor that is not the same row again."""
    found = [
        NearestNeighbors(n_neighbors=6).fit(b).kneighbors(b)[0][:, -1]
        for b in batches
        if len(b) > 6
    ]
    distances = np.concatenate(found)
    return float(np.median(distances[distances > 0]))
