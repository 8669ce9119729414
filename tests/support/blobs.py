"""Blobs, as arrays and as Parquet files, for the tests of any-time clustering."""

import numpy as np
import pandas as pd


def blobs(n_rows=20_000, n_clusters=30, n_features=2, seed=0, dtype=np.float64):
    """Blobs on a coarse grid, far enough apart for lambda = 4, rows in the order of their blob."""
    rng = np.random.default_rng(seed)
    places = np.array([rng.permutation(n_clusters) for _ in range(n_features)]).T * 8.0
    owner = np.sort(rng.integers(n_clusters, size=n_rows))
    return (places[owner] + 0.3 * rng.normal(size=(n_rows, n_features))).astype(dtype)


def write_parquet(points, folder, rows_per_file=7000, **options):
    folder.mkdir()
    for i, first in enumerate(range(0, len(points), rows_per_file)):
        part = pd.DataFrame(points[first : first + rows_per_file], columns=["x", "y"])
        part["name"] = "ignored"
        part.to_parquet(folder / f"part-{i}.parquet", row_group_size=1000, **options)
    return folder
