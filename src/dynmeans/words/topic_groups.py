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
_MOST_FAR = 1 / 3  # of the rows
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


def set_far_apart(
    levels: dict[str, IntArray], centers: FloatArray, n_rows: FloatArray, least_cosine: float
) -> int | None:
    """Put clusters that fit no group of the default level into one more group; return its number.

    They are those whose cosine to the direction of their group is below `least_cosine`. None if
    there is none, or if they hold a third of the rows: then groups are too few to have a direction.
    """
    groups = levels["default"]
    mean = (n_rows[:, None] * centers).sum(axis=0) / n_rows.sum()
    directions = _unit(centers - mean)
    sums = np.zeros((groups.max() + 1, centers.shape[1]))
    np.add.at(sums, groups, np.sqrt(n_rows)[:, None] * directions)
    is_far = (directions * _unit(sums)[groups]).sum(axis=1) < least_cosine
    if not 0 < n_rows[is_far].sum() < _MOST_FAR * n_rows.sum():
        return None
    for name in ("coarse", "default"):
        apart = np.where(is_far, levels[name].max() + 1, levels[name])
        levels[name] = np.unique(apart, return_inverse=True)[1]
    return int(levels["default"].max())


def topic_levels(
    centers: FloatArray,
    n_rows: FloatArray,
    *,
    n_groups: int | None = None,
    least_cosine: float = -1.0,
) -> dict[str, IntArray]:
    """Return a group for each cluster at three levels, each within the next coarser one.

    fine: every cluster separately. default: topics of ten rows and more, which smaller ones join by
    the nearest direction, unless the cosine to its center is below `least_cosine`; or `n_groups`
    groups. coarse: about twenty groups of those.

    >>> centers, n_texts = np.eye(4)[[0, 1, 1]] + 0.1, np.array([20.0, 30.0, 2.0])
    >>> {name: groups.tolist() for name, groups in topic_levels(centers, n_texts).items()}
    {'coarse': [1, 0, 0], 'default': [1, 0, 0], 'fine': [1, 0, 2]}
    """
    order = np.argsort(-n_rows, kind="stable")
    fine = np.empty(len(order), dtype=np.int64)
    fine[order] = np.arange(len(order))
    if not len(order):
        return {"coarse": fine, "default": fine, "fine": fine}
    if n_groups is not None:
        default = group_topics(centers, n_rows, n_groups)
    else:
        default = _join_small(centers, n_rows, order, least_cosine)
    _, first = np.unique(default[order], return_index=True)
    roots = order[first]  # the largest of each group
    sizes = np.bincount(default, n_rows).astype(np.float64)
    groups = group_topics(centers[roots], sizes, min(_COARSE, max(len(roots) // 2, 2)))
    return {"coarse": groups[default], "default": default, "fine": fine}


def _join_small(
    centers: FloatArray, n_rows: FloatArray, order: IntArray, least_cosine: float
) -> IntArray:
    """Number the large clusters from 0, the largest first, and let small ones join the nearest."""
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = np.arange(len(order))
    n_large = int(np.count_nonzero(n_rows >= _MIN_TEXTS))
    if not 0 < n_large < len(order):
        return groups
    large, small = order[:n_large], order[n_large:]
    mean = (n_rows[:, None] * centers).sum(axis=0) / n_rows.sum()
    directions = _unit(centers - mean)
    nearest = np.argmax(directions[small] @ directions[large].T, axis=1)
    is_near = (centers[small] * centers[large[nearest]]).sum(axis=1) >= least_cosine
    groups[small] = np.where(is_near, nearest, groups[small])
    return np.asarray(np.unique(groups, return_inverse=True)[1])


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
