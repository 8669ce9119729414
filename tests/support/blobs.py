"""Blobs for the tests of any-time clustering."""

import numpy as np


def blobs(n_rows=20_000, n_clusters=30, n_features=2, seed=0, dtype=np.float64):
    """Blobs on a coarse grid, far enough apart for lambda = 4, rows in the order of their blob."""
    rng = np.random.default_rng(seed)
    places = np.array([rng.permutation(n_clusters) for _ in range(n_features)]).T * 8.0
    owner = np.sort(rng.integers(n_clusters, size=n_rows))
    return (places[owner] + 0.3 * rng.normal(size=(n_rows, n_features))).astype(dtype)
