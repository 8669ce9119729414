"""Clusters below `min_cluster_size` or `min_batches`, which views show as noise."""

from collections.abc import Callable

import numpy as np

from dynmeans.records.arrays import IntArray
from dynmeans.runs.store.run_tables import cluster_sizes, ids_by_window
from dynmeans.runs.store.store import Store


def unconfirmed_ids(
    store: Store, shown: Callable[[IntArray], IntArray], pinned: frozenset[int] = frozenset()
) -> IntArray:
    """Return the clusters that held too few points or windows so far, unless they are pinned.

    `shown` maps subclusters to clusters, -1 for noise.
    """
    fields = store.config_fields()
    size, life = fields.get("min_cluster_size", 1), fields.get("min_batches", 1)
    if size <= 1 and life <= 1:
        return np.empty(0, dtype=np.int64)
    rows = cluster_sizes(store)
    names, place = np.unique(shown(rows[:, 0].astype(np.int64)), return_inverse=True)
    is_small = np.bincount(place, rows[:, 1], len(names)) < size
    if life > 1:
        windows = np.zeros(len(names))
        for _, seen in ids_by_window(store):
            here = np.unique(shown(seen))
            windows[np.searchsorted(names, here)] += 1
        is_small |= windows < life
    kept = shown(np.array(sorted(pinned), dtype=np.int64))
    return np.asarray(names[is_small & (names >= 0) & ~np.isin(names, kept)])
