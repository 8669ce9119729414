"""Scores that need no truth: how well batches are divided, and whether identities last."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import silhouette_score

from dynmeans.engine.checks import as_rows, checked_coordinates
from dynmeans.metrics.check_labels import NO_CLUSTER, Batches, label_batches
from dynmeans.records.arrays import FloatArray

MAX_POINTS = 2_000


def silhouettes(
    points: Sequence[npt.ArrayLike], labels: Batches, *, max_points: int = MAX_POINTS
) -> FloatArray:
    """Return the silhouette of every batch: how much nearer points are to their own cluster.

    Parameters
    ----------
    points : sequence of array-like of shape (n_points, n_features)
        The batches.
    labels : sequence of array-like of shape (n_points,)
        Found labels of their points. -1 is no cluster: such a point is left out.
    max_points : int
        Of a larger batch so many points are drawn, always the same ones: time and memory grow with
        the square of their number.

    Returns
    -------
    array of shape (n_batches,)
        From -1 to 1, as scikit-learn's `silhouette_score`; NaN for a batch of fewer than two
        clusters, or with none that has two points.

    Examples
    --------
    >>> silhouettes([[[0.0], [0.1], [5.0], [5.1]], [[0.0], [0.2]]], [[0, 0, 1, 1], [0, 0]]).round(2)
    array([0.98,  nan])
    """
    found = label_batches("labels", labels)
    if len(points) != len(found):
        raise ValueError(
            f"points must hold one batch for each of {len(found)} batches of labels, "
            f"got {len(points)}."
        )
    return np.array([_silhouette(t, X, found[t], max_points) for t, X in enumerate(points)])


def stability(labels: Batches) -> float:
    """Return the share of points whose cluster was seen in the batch before, too.

    Points of the first batch do not count, nor do those in no cluster (-1). 1 says that every
    identity lasts, 0 that each batch has names of its own; a cluster that is truly new, or returns,
    lowers it as well. NaN for a single batch.

    Examples
    --------
    >>> stability([[0, 0, 1], [0, 1, 1, 2]])
    0.75
    """
    n_kept = n_points = 0
    for before, now in pairwise(label_batches("labels", labels)):
        is_point = _in_clusters(now)
        n_points += int(is_point.sum())
        n_kept += int(np.isin(now[is_point], before).sum())
    return n_kept / n_points if n_points else float("nan")


def life_times(labels: Batches) -> dict[Any, int]:
    """Return for every identity the batches from its first to its last sight, both included.

    Examples
    --------
    >>> life_times([[0, 0, 1], [0, 2], [0, 1]])
    {0: 3, 1: 3, 2: 1}
    """
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for step, batch in enumerate(label_batches("labels", labels)):
        for name in np.unique(batch[_in_clusters(batch)]).tolist():
            first.setdefault(name, step)
            last[name] = step
    return {name: last[name] - first[name] + 1 for name in sorted(first)}


def quality_report(
    points: Sequence[npt.ArrayLike], labels: Batches, *, max_points: int = MAX_POINTS
) -> dict[str, float]:
    """Score a clustering over time without knowing the truth.

    Parameters are those of `silhouettes`.

    Returns
    -------
    dict of str to float
        ``silhouette``, the mean over the batches that have one; ``stability``; ``life_time``, the
        mean of `life_times`; and ``n_identities``.

    Examples
    --------
    >>> points = [[[0.0], [0.1], [5.0], [5.1]], [[0.2], [0.3], [5.2], [5.3]]]
    >>> report = quality_report(points, [[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> {name: round(score, 2) for name, score in report.items()}
    {'silhouette': 0.98, 'stability': 1.0, 'life_time': 2.0, 'n_identities': 2}
    """
    found = label_batches("labels", labels)
    scores = silhouettes(points, found, max_points=max_points)
    lives = life_times(found)
    is_scored = ~np.isnan(scores)
    return {
        "silhouette": float(scores[is_scored].mean()) if is_scored.any() else float("nan"),
        "stability": stability(found),
        "life_time": float(np.mean(list(lives.values()))) if lives else float("nan"),
        "n_identities": len(lives),
    }


def _in_clusters(labels: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.ones(len(labels), dtype=bool) if labels.dtype.kind == "U" else labels != NO_CLUSTER


def _silhouette(
    step: int, points: npt.ArrayLike, labels: npt.NDArray[Any], max_points: int
) -> float:
    if not len(labels):
        return float("nan")
    rows = checked_coordinates(as_rows(points, f"points[{step}]"), f"points[{step}]")
    if len(rows) != len(labels):
        raise ValueError(
            f"points[{step}] and labels[{step}] must have the same number of rows, "
            f"got {len(rows)} and {len(labels)}."
        )
    is_point = _in_clusters(labels)
    rows, labels = rows[is_point], labels[is_point]
    if len(rows) > max_points:
        drawn = np.random.default_rng(step).choice(len(rows), max_points, replace=False)
        rows, labels = rows[drawn], labels[drawn]
    n_clusters = len(np.unique(labels))
    if not 1 < n_clusters < len(rows):
        return float("nan")
    return float(silhouette_score(rows, labels))
