"""Lives: points and batches of each identity so far, counted when somebody asks."""

from typing import Any

import numpy as np

from dynmeans.records.arrays import IntArray
from dynmeans.records.state import Clustering, ClusterState

_FEW = 64  # forgotten identities that may wait to be left out
_MOST_WAITING = 64  # batches


# Points and batches of each identity up to some batch; then the later batches, which wait to be
# counted, as a chain: everything before one, its ids, its counts, and how many wait.
Counted = dict[int, tuple[float, int]]
Lives = Counted | tuple[Any, IntArray, Any, int]


def lives_after(lives: Lives, clustering: Clustering, state: ClusterState) -> Lives:
    """Return the lives after one more batch; who is forgotten is left out in time."""
    n_waiting = 1 if isinstance(lives, dict) else lives[3] + 1
    longer = (lives, clustering.ids, clustering.counts, n_waiting)
    if n_waiting < _MOST_WAITING:
        return longer
    counted = counted_lives(longer)
    return without_forgotten(counted, state)


def counted_lives(lives: Lives) -> Counted:
    """Return points and batches of each identity, the batches that wait included."""
    ids, counts = [], []
    while not isinstance(lives, dict):
        lives, *batch, _ = lives
        ids.append(batch[0])
        counts.append(batch[1])
    return added_lives(lives, ids[::-1], counts[::-1])


def added_lives(before: Counted, ids: list[IntArray], counts: list[Any]) -> Counted:
    """Add batches to what was counted before, all at once."""
    if not ids:
        return before
    names, rows = np.unique(np.concatenate(ids), return_inverse=True)
    sums = np.bincount(rows, weights=np.concatenate(counts)).tolist()
    lives = before.copy()
    for k, n, n_batches in zip(names.tolist(), sums, np.bincount(rows).tolist(), strict=True):
        points, n_before = lives.get(k, (0.0, 0))
        lives[k] = points + n, n_before + n_batches
    return lives


def without_forgotten(lives: Counted, state: ClusterState) -> Counted:
    """Leave out who is forgotten, once they are many."""
    if len(lives) <= 2 * state.n_clusters + _FEW:
        return lives
    return {k: lives[k] for k in state.ids.tolist() if k in lives}


def lives_of(clusterings: list[Clustering], state: ClusterState) -> Counted:
    """Return the lives after a whole sequence of batches from nothing."""
    ids, counts = [found.ids for found in clusterings], [found.counts for found in clusterings]
    return without_forgotten(added_lives({}, ids, counts), state)


def confirmed(lives: Lives, min_cluster_size: float, min_life: int) -> list[int]:
    """Return the identities that held enough points, in enough batches, so far."""
    known = counted_lives(lives).items()
    return [k for k, (points, n) in known if points >= min_cluster_size and n >= min_life]
