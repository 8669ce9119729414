"""Rows joined by chains of near landmarks: a spectral map, learned once (decision 0334)."""

import numpy as np

from dynmeans.records.arrays import FloatArray

_ROUNDS = 10  # of Lloyd's algorithm
_LEAST_SHARE = 0.2  # of the usual number of rows: landmarks with fewer are outliers, and bridges
_NEIGHBOR = 3  # whose distance is the unit of widths
_WIDTHS = (0.3, 0.37, 0.45, 0.55, 0.7, 1.0)
_MAX_GROUPS = 20
_EPSILON = 1e-6


def squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the squared distance of every pair, in an order of sums that BLAS cannot change."""
    total = np.zeros((len(first), len(second)))
    for a, b in zip(first.T, second.T, strict=True):
        total += np.square(a[:, None] - b)
    return total


def dense_landmarks(rows: FloatArray, n_landmarks: int) -> FloatArray:
    """Return k-means centers of the rows, less those that hold few.

    It begins with the row in the middle and then the farthest ones, so that nothing is drawn.
    """
    best = squared_distances(rows, rows.mean(axis=0)[None])[:, 0]
    chosen = [int(np.argmin(best))]
    best = squared_distances(rows, rows[chosen])[:, 0]
    while len(chosen) < n_landmarks and best.max() > 0:
        chosen.append(int(np.argmax(best)))
        best = np.minimum(best, squared_distances(rows, rows[chosen[-1:]])[:, 0])
    centers = rows[chosen]
    for _ in range(_ROUNDS):
        nearest = np.argmin(squared_distances(rows, centers), axis=1)
        counts = np.bincount(nearest, minlength=len(centers)).astype(np.float64)
        sums = np.stack([np.bincount(nearest, column, len(centers)) for column in rows.T], axis=1)
        centers = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1.0)[:, None], centers)
    return centers[counts >= max(1.0, _LEAST_SHARE * len(rows) / len(centers))]


def spectral_map(landmarks: FloatArray, width: float | None) -> tuple[float, FloatArray]:
    """Return the width and the matrix from similarities to coordinates, one row for each.

    Of the random walk from landmark to landmark the slowest movements are kept: those between
    groups that it hardly ever leaves. How many groups there are is told by the widest gap between
    the rates; without a `width` that is also what chooses it.
    """
    squares = squared_distances(landmarks, landmarks)
    near = np.sort(squares, axis=1)[:, min(_NEIGHBOR, len(landmarks) - 1)]
    unit = float(np.sqrt(np.median(near))) or 1.0
    widths = (width,) if width is not None else tuple(share * unit for share in _WIDTHS)
    found = [(*_slowest(squares, one), one) for one in widths]
    _, root, chosen = max(found, key=lambda one: one[0])
    return chosen, root


def _slowest(squares: FloatArray, width: float) -> tuple[float, FloatArray]:
    similarities = np.exp(squares * (-0.5 / width**2))
    roots = np.sqrt(similarities.sum(axis=1))
    values, vectors = np.linalg.eigh(similarities / np.outer(roots, roots))
    values, vectors = values[::-1], vectors[:, ::-1]
    rates = -np.log(np.clip(values[: _MAX_GROUPS + 1], 1e-12, 1.0 - _EPSILON))
    gaps = rates[1:] / rates[:-1]
    n_groups = int(np.argmax(gaps[1:])) + 2 if len(gaps) > 1 else len(values)
    kept = vectors[:, :n_groups]
    # A direction has no sign of its own: its largest part points up.
    signs = np.sign(kept[np.abs(kept).argmax(axis=0), np.arange(n_groups)])
    root = (kept * signs / values[:n_groups] / roots[:, None]).T
    return float(gaps[n_groups - 1]) if n_groups <= len(gaps) else 0.0, root
