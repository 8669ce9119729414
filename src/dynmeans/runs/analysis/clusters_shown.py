"""Counts of the clusters at the level shown."""

from dataclasses import dataclass

import numpy as np

from dynmeans.families.levels import FINE
from dynmeans.records.arrays import IntArray
from dynmeans.runs.levels import NO_JOINS, read_levels
from dynmeans.runs.store.run_tables import cluster_sizes
from dynmeans.runs.store.store import Store


@dataclass(frozen=True, slots=True, eq=False)
class ClustersShown:
    """How many clusters there are at the level shown, and which rows have none."""

    level: str
    ids: IntArray  # of subclusters, ascending
    cluster_ids: IntArray  # of each of them; -1 for noise
    n_clusters: int
    n_noise: int  # rows
    n_unconfirmed: int

    def count(self, subclusters: IntArray) -> int:
        """Return how many clusters these subclusters belong to."""
        found = self.cluster_ids[np.isin(self.ids, subclusters)]
        return len(np.unique(found[found >= 0]))


def clusters_shown(store: Store) -> ClustersShown:
    """Count the clusters of a run; mergers by hand do not count."""
    stored = read_levels(store)
    joins = NO_JOINS if stored is None else stored.joins
    level = FINE if stored is None else stored.chosen
    rows = cluster_sizes(store)
    ids = rows[:, 0].astype(np.int64)
    found = np.array([joins.get(k, k) for k in ids.tolist()], dtype=np.int64)
    names, place = np.unique(found, return_inverse=True)
    is_cluster = names >= 0
    fields = store.config_fields()
    points = np.bincount(place, rows[:, 1], len(names))
    windows = np.zeros(len(names))
    np.maximum.at(windows, place, rows[:, 2])
    is_small = points < fields.get("min_cluster_size", 1)
    is_small |= windows < fields.get("min_batches", 1)
    return ClustersShown(
        level,
        ids,
        found,
        n_clusters=int(is_cluster.sum()),
        n_noise=int(points[~is_cluster].sum()),
        n_unconfirmed=int((is_small & is_cluster).sum()),
    )
