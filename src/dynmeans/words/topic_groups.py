"""Topics of topics: fine clusters of texts in about as many groups as are requested.

Ward's method on the largest clusters, then k-means over all of them from where it ends. Both
compare the directions of centers, less the mean direction of all texts. A cluster weighs the root
of its texts: otherwise one large story takes several groups, and all small ones share one.
"""

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray

_LARGEST = 500  # clusters that Ward's method joins; it takes the square of them in memory
_ROUNDS = 30  # of k-means
_MIN_TEXTS = 10  # fewer are no topic of their own at the default level
_COARSE = 20  # groups that a reader can keep in mind
_TINY = 1e-12


def group_topics(centers: FloatArray, n_texts: FloatArray, n_groups: int) -> IntArray:
    """Return a group for each cluster, numbered by the largest cluster in it.

    >>> centers = np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.1, 1.0]])
    >>> group_topics(centers, np.array([9.0, 4.0, 5.0, 1.0]), 2).tolist()
    [0, 0, 1, 1]
    """
    if len(centers) <= n_groups:
        return np.arange(len(centers))
    mean = (n_texts[:, None] * centers).sum(axis=0) / n_texts.sum()
    directions = _unit(centers - mean)
    masses = np.sqrt(n_texts)
    largest = np.argsort(-n_texts, kind="stable")[: max(_LARGEST, n_groups)]
    joined = _ward(directions[largest], masses[largest], n_groups)
    first = np.zeros((n_groups, centers.shape[1]))
    np.add.at(first, joined, masses[largest, None] * directions[largest])
    groups = _k_means(directions, masses, _unit(first))
    order = np.argsort(-n_texts, kind="stable")
    _, places = np.unique(groups[order], return_index=True)
    names = np.empty(groups.max() + 1, dtype=np.int64)
    names[np.unique(groups)[np.argsort(places)]] = np.arange(len(places))
    return names[groups]


def text_levels(centers: FloatArray, n_texts: FloatArray) -> dict[str, IntArray]:
    """Return a group for each cluster at three levels, each within the next coarser one.

    fine: every cluster separately. default: topics of ten texts and more, which smaller ones join
    by the nearest direction. coarse: about twenty groups of those.

    >>> centers, n_texts = np.eye(4)[[0, 1, 1]] + 0.1, np.array([20.0, 30.0, 2.0])
    >>> {name: groups.tolist() for name, groups in text_levels(centers, n_texts).items()}
    {'coarse': [1, 0, 0], 'default': [1, 0, 0], 'fine': [1, 0, 2]}
    """
    order = np.argsort(-n_texts, kind="stable")
    fine = np.empty(len(order), dtype=np.int64)
    fine[order] = np.arange(len(order))
    large = order[: max(int(np.count_nonzero(n_texts >= _MIN_TEXTS)), 1)]
    default = fine.copy()
    if len(large) < len(order):
        mean = (n_texts[:, None] * centers).sum(axis=0) / n_texts.sum()
        directions = _unit(centers - mean)
        small = order[len(large) :]
        default[small] = np.argmax(directions[small] @ directions[large].T, axis=1)
    sizes = np.bincount(default, n_texts, len(large)).astype(np.float64)
    groups = group_topics(centers[large], sizes, min(_COARSE, max(len(large) // 2, 2)))
    return {"coarse": groups[default], "default": default, "fine": fine}


def _unit(rows: FloatArray) -> FloatArray:
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows / np.maximum(lengths, _TINY))


def _k_means(directions: FloatArray, masses: FloatArray, centers: FloatArray) -> IntArray:
    groups = np.full(len(directions), -1)
    for _ in range(_ROUNDS):
        nearest = np.argmax(directions @ centers.T, axis=1)
        if np.array_equal(nearest, groups):
            break
        groups = nearest
        sums = np.zeros_like(centers)
        np.add.at(sums, groups, masses[:, None] * directions)
        is_used = (sums * sums).sum(axis=1) > _TINY
        centers = np.where(is_used[:, None], _unit(sums), centers)
    return groups


def _ward(rows: FloatArray, masses: FloatArray, n_groups: int) -> IntArray:
    """Join the two groups whose union spreads least more, until this many are left."""
    rows, masses = rows.copy(), masses.copy()
    groups = np.arange(len(rows))
    squares = (rows * rows).sum(axis=1)
    gaps = squares[:, None] + squares - 2.0 * (rows @ rows.T)
    costs = gaps * (masses[:, None] * masses / (masses[:, None] + masses))
    np.fill_diagonal(costs, np.inf)
    for _ in range(len(rows) - n_groups):
        i, j = sorted(np.unravel_index(np.argmin(costs), costs.shape))
        both = masses[i] + masses[j]
        rows[i] = (masses[i] * rows[i] + masses[j] * rows[j]) / both
        masses[i] = both
        groups[groups == j] = i
        costs[j], costs[:, j] = np.inf, np.inf
        away = ((rows - rows[i]) ** 2).sum(axis=1) * (masses * both / (masses + both))
        away[np.isinf(costs).all(axis=1)] = np.inf
        away[i] = np.inf
        costs[i], costs[:, i] = away, away
    return np.asarray(np.unique(groups, return_inverse=True)[1])
