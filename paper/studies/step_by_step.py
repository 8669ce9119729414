"""Each step clustered by itself, its clusters matched with those of the step before.

What the paper's section 5 names as finding the number of clusters by a criterion, and DP-Means:

- x-means (Pelleg and Moore, ICML 2000): from two clusters on, each is split in two while the
  Bayesian information criterion of the split is higher;
- the gap statistic (Tibshirani, Walther and Hastie, 2001): the least K whose gap to uniform points
  is not below that of K + 1 by more than one standard error;
- DP-Means (Kulis and Jordan, ICML 2012) with the lambda that Dynamic Means was found to track best
  with.

A cluster takes the identity of the one before that is matched with it, if their squared distance is
below lambda; otherwise it is new.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from dynmeans import DPMeans
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.stream import LabeledStream

Cluster = Callable[[FloatArray, int], IntArray]
LARGEST_K, N_REFERENCES = 8, 5


def methods(new_penalty: float) -> Iterator[tuple[str, str, Callable[..., list[IntArray]]]]:
    """Yield name, that K is not told, and a function of a stream and a seed."""
    for name, cluster in (
        ("x-means, each step by itself", x_means),
        ("gap statistic, each step by itself", gap_statistic),
        ("DP-Means, each step by itself", dp_means(new_penalty)),
    ):

        def run(stream: LabeledStream, seed: int, cluster: Cluster = cluster) -> list[IntArray]:
            return follow(stream.batches, cluster, new_penalty, seed)

        yield name, "not told", run


def follow(
    batches: list[FloatArray], cluster: Cluster, farthest: float, seed: int
) -> list[IntArray]:
    """Cluster every batch by itself, and hand identities on to the clusters that lie closest."""
    centers, ids, next_id, labels = np.empty((0, 2)), np.empty(0, np.int64), 0, []
    for step, points in enumerate(batches):
        found = np.unique(cluster(points, 1000 * seed + step), return_inverse=True)[1]
        means = np.array([points[found == k].mean(axis=0) for k in range(found.max() + 1)])
        costs = cdist(means, centers, "sqeuclidean")
        rows, cols = linear_sum_assignment(np.minimum(costs, farthest))
        named = np.full(len(means), -1)
        is_near = costs[rows, cols] < farthest
        named[rows[is_near]] = ids[cols[is_near]]
        is_new = named < 0
        named[is_new] = next_id + np.arange(is_new.sum())
        next_id += int(is_new.sum())
        centers, ids = means, named
        labels.append(named[found])
    return labels


def dp_means(new_penalty: float) -> Cluster:
    """Return DP-Means of one batch."""
    return lambda points, seed: DPMeans(
        new_penalty, n_init=3, search="paper", random_state=seed
    ).fit_predict(points)


def k_means(points: FloatArray, k: int, seed: int) -> tuple[IntArray, float]:
    """Return labels and the sum of squares of the best of three starts."""
    model = KMeans(k, n_init=3, random_state=seed % 2**31).fit(points)
    return model.labels_, float(model.inertia_)


def gap_statistic(points: FloatArray, seed: int) -> IntArray:
    """Return the clusters of the K that the gap statistic chooses."""
    rng = np.random.default_rng(seed)
    low, high = points.min(axis=0), points.max(axis=0)
    uniform = [rng.uniform(low, high, points.shape) for _ in range(N_REFERENCES)]
    gaps, errors, found = [], [], []
    for k in range(1, LARGEST_K + 1):
        labels, within = k_means(points, k, seed)
        logs = np.log([k_means(made, k, seed)[1] for made in uniform])
        gaps.append(logs.mean() - np.log(within))
        errors.append(logs.std() * np.sqrt(1 + 1 / N_REFERENCES))
        found.append(labels)
        if k > 1 and gaps[-2] >= gaps[-1] - errors[-1]:
            return found[-2]
    return found[-1]


def x_means(points: FloatArray, seed: int) -> IntArray:
    """Return the clusters that no split in two improves, by BIC."""
    labels, next_label = k_means(points, 2, seed)[0].astype(np.int64), 2
    todo = [0, 1]
    while todo:
        members = np.flatnonzero(labels == todo.pop())
        if len(members) < 4:
            continue
        halves, _ = k_means(points[members], 2, seed)
        whole = np.zeros(len(members), np.int64)
        if _bic(points[members], halves) > _bic(points[members], whole):
            labels[members[halves == 1]] = next_label
            todo += [int(labels[members[halves == 0][0]]), next_label]
            next_label += 1
    return labels


def _bic(points: FloatArray, labels: IntArray) -> float:
    """BIC of spherical Gaussians of one variance, as x-means has it."""
    (n, d), counts = points.shape, np.bincount(labels)
    means = np.array([points[labels == k].mean(axis=0) for k in range(len(counts))])
    k = len(counts)
    variance = max(((points - means[labels]) ** 2).sum() / (d * max(n - k, 1)), 1e-12)
    fit = (counts * np.log(counts / n)).sum() - n * d / 2 * np.log(2 * np.pi * variance)
    return float(fit - d * (n - k) / 2 - (k * (d + 1)) / 2 * np.log(n))
