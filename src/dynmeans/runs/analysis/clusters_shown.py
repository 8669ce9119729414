"""Counts of the clusters at the level shown."""

from dataclasses import dataclass

import numpy as np

from dynmeans.families.levels import FINE
from dynmeans.records.arrays import IntArray
from dynmeans.runs.levels import NO_JOINS, read_levels
from dynmeans.runs.store.run_tables import cluster_sizes
from dynmeans.runs.store.store import Store
from dynmeans.runs.unconfirmed import unconfirmed_ids


@dataclass(frozen=True, slots=True, eq=False)
class ClustersShown:
    """How many clusters there are at the level shown, and which rows have none."""

    level: str
    ids: IntArray  # of subclusters, ascending
    cluster_ids: IntArray  # of each of them; -1 for noise and for joined ones not confirmed yet
    n_clusters: int  # of joined clusters those that are confirmed
    n_noise: int  # rows
    n_unconfirmed: int  # clusters

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

    def map_ids(subclusters: IntArray) -> IntArray:
        return np.array([joins.get(k, k) for k in subclusters.tolist()], dtype=np.int64)

    found = map_ids(ids)
    small = unconfirmed_ids(store, map_ids)
    n_noise = int(rows[found < 0, 1].sum())
    if stored is not None:
        found = np.where(np.isin(found, small), -1, found)
    n_clusters = len(np.unique(found[found >= 0]))
    return ClustersShown(level, ids, found, n_clusters, n_noise, len(small))
