"""One cluster until there is evidence for two: a single cloud is neither cut nor drawn out."""

from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from dynmeans.parameters.trials import Setting, Trials, level_of_penalty
from dynmeans.records.arrays import FloatArray, IntArray

# As in `families.contact`: pieces of one cloud have a contact index below 8.
_TOUCHING = 8.0
_FEWEST = 3  # points of a piece: fewer have no shape
_NEARLY_ALL = 0.9  # of the points, in the one cloud; the rest may be outliers
_MOST = 200  # pieces
_FARTHEST = 4.0  # median distances from the middle of the cloud: beyond are outliers in its piece
_MARGIN = 2.0  # Later batches have points a bit farther away.


def hold_together(trials: Trials, chosen: Setting) -> Setting:
    """Return a coarser lambda if all pieces of a single batch touch; else the one chosen.

    A single batch does not show whether its pieces part in another one. Lambda is then the
    largest squared distance of a point of the cloud from its mean, so that none opens a cluster.
    """
    points = trials.points
    if points.n_batches > 1 or trials.feed.motion == "constant_velocity":
        return chosen
    labels, _, _ = trials.labels(chosen)
    cloud = single_cloud(points.rows, labels)
    if cloud is None:
        return chosen
    squares = np.sum((cloud - cloud.mean(axis=0)) ** 2, axis=1)
    level = level_of_penalty(float(squares.max()), points.variance)
    return replace(chosen, level=min(chosen.level, level))


def fit_to_cloud(trials: Trials, chosen: Setting) -> Setting:
    """Return a finer lambda if a single batch is one cloud and outliers; else the one chosen.

    One cloud does not show how far clusters lie apart, and the outliers of a batch are described
    most briefly by few wide clusters, into which every later cluster would fall. Lambda is then
    at most twice the largest squared distance of a point of the cloud from its mean. Clusters that
    come later and are wider fall to pieces, so this is for identities that will be joined.
    """
    points = trials.points
    if points.n_batches > 1 or trials.feed.motion == "constant_velocity":
        return chosen
    labels, _, _ = trials.labels(chosen)
    cloud = single_cloud(points.rows, labels)
    if cloud is None:
        return chosen
    squares = np.sum((cloud - np.median(cloud, axis=0)) ** 2, axis=1)
    cloud = cloud[squares <= _FARTHEST**2 * np.median(squares)]
    largest = float(np.sum((cloud - cloud.mean(axis=0)) ** 2, axis=1).max())
    if not largest > 0:
        return chosen
    level = level_of_penalty(_MARGIN * largest, points.variance)
    return replace(chosen, level=max(chosen.level, level))


def single_cloud(rows: FloatArray, labels: IntArray) -> FloatArray | None:
    """Return the rows of all pieces if they touch, without outliers; None for several clouds.

    >>> rng = np.random.default_rng(0)
    >>> one = rng.normal(size=(400, 2))
    >>> len(single_cloud(one, (one[:, 0] > 0).astype(int)))
    400
    >>> two = np.where(one[:, :1] > 0, one + [9, 0], one)
    >>> single_cloud(two, (one[:, 0] > 0).astype(int)) is None
    True
    """
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    many = np.flatnonzero(counts >= _FEWEST)
    if not 1 <= len(many) <= _MOST:
        return None
    means = np.stack([rows[places == k].mean(axis=0) for k in many])
    touching = np.zeros((len(many), len(many)), dtype=bool)
    for i in range(len(many)):
        for j in range(i):
            gap = means[i] - means[j]
            square = float(gap @ gap)
            free = counts[many[i]] + counts[many[j]] - 2.0
            along = sum(
                float(np.sum(((rows[places == many[k]] - means[k]) @ gap) ** 2)) for k in (i, j)
            )
            touching[i, j] = square * square < _TOUCHING * 2.0 * along / free
    _, groups = connected_components(touching, directed=False)
    sizes = np.bincount(groups, counts[many])
    largest = int(np.argmax(sizes))
    if sizes[largest] < _NEARLY_ALL * len(rows):
        return None
    return np.asarray(rows[np.isin(places, many[groups == largest])])
