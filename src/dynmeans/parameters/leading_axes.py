"""Correlated features are not independent witnesses: points on their leading principal axes.

A description counts every feature as one more witness of where a point belongs. Of 128 features
that follow 20 directions, 108 would only repeat the others.
"""

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray

_KEPT = 0.99  # of the spread within batches: squared distances shrink by no more on average
_FEW = 8  # features that are left as they are


def leading_axes(batches: list[BatchArray]) -> FloatArray | None:
    """Directions, as columns, that hold 99 % of the spread within batches; None for all of them.

    >>> rng = np.random.default_rng(0)
    >>> few = rng.normal(size=(500, 3))
    >>> leading_axes([few @ rng.normal(size=(3, 30))]).shape
    (30, 3)
    >>> leading_axes([rng.normal(size=(500, 30))]) is None
    True
    """
    n_features = batches[0].shape[1]
    if n_features <= _FEW:
        return None
    scatter = np.zeros((n_features, n_features))
    for batch in batches:
        if len(batch):
            centered = np.asarray(batch, dtype=np.float64) - batch.mean(axis=0, dtype=np.float64)
            scatter += centered.T @ centered
    spreads, axes = np.linalg.eigh(scatter)
    shares = np.cumsum(spreads[::-1]) / max(float(spreads.sum()), np.finfo(float).tiny)
    n_kept = int(np.searchsorted(shares, _KEPT)) + 1
    return None if n_kept >= n_features else np.ascontiguousarray(axes[:, ::-1][:, :n_kept])
