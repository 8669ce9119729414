"""Lives: points and batches of each identity so far, counted when somebody asks."""

from typing import Any, NamedTuple

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.state import Clustering, ClusterState

_FEW = 64  # forgotten identities that may wait to be left out
# Batches, and identities in them, that may wait to be counted.
MOST_WAITING, MOST_IDS = 1024, 2**16

Counted = dict[int, tuple[float, int]]


class Lives(NamedTuple):
    """What was counted up to some batch, and the batches after it, which wait.

    `waiting` may be longer: later memories share it, and each looks at its own beginning.
    """

    counted: Counted | tuple[FloatArray, IntArray]  # as a pair of arrays: of identities from 0 on
    waiting: list[tuple[IntArray, Any]]
    n_waiting: int
    n_ids: int


NOBODY = Lives({}, [], 0, 0)


def lives_after(lives: Lives, clustering: Clustering, state: ClusterState) -> Lives:
    """Return the lives after one more batch; who is forgotten is left out in time."""
    counted, waiting, n, n_ids = lives
    if n >= MOST_WAITING or n_ids >= MOST_IDS:
        counted, waiting, n, n_ids = without_forgotten(counted_lives(lives), state), [], 0, 0
    elif len(waiting) > n or n == 0:
        waiting = waiting[:n]
    waiting.append((clustering.ids, clustering.counts))
    return Lives(counted, waiting, n + 1, n_ids + len(clustering.ids))


def counted_lives(lives: Lives) -> Counted:
    """Return points and batches of each identity, the batches that wait included."""
    counted, batches = lives.counted, lives.waiting[: lives.n_waiting]
    if not isinstance(counted, dict):
        points, n_batches = (part.tolist() for part in counted)
        counted = dict(enumerate(zip(points, n_batches, strict=True)))
    if not batches:
        return counted
    ids, counts = (np.concatenate(arrays) for arrays in zip(*batches, strict=True))
    names, rows = np.unique(ids, return_inverse=True)
    sums = np.bincount(rows, weights=counts).tolist()
    more = counted.copy()
    for k, n, n_more in zip(names.tolist(), sums, np.bincount(rows).tolist(), strict=True):
        n_points, n_before = more.get(k, (0.0, 0))
        more[k] = n_points + n, n_before + n_more
    return more


def without_forgotten(lives: Counted, state: ClusterState) -> Counted:
    """Leave out who is forgotten, once they are many."""
    if len(lives) <= 2 * state.n_clusters + _FEW:
        return lives
    return {k: lives[k] for k in state.ids.tolist() if k in lives}


def lives_of(clusterings: list[Clustering], state: ClusterState) -> Lives:
    """Return the lives after a whole sequence of batches from nothing."""
    batches = [(found.ids, found.counts) for found in clusterings]
    counted = counted_lives(Lives({}, batches, len(batches), 0))
    return NOBODY._replace(counted=without_forgotten(counted, state))


def confirmed(lives: Lives, min_cluster_size: float, min_life: int) -> list[int]:
    """Return the identities that held enough points, in enough batches, so far."""
    known = counted_lives(lives).items()
    return [k for k, (points, n) in known if points >= min_cluster_size and n >= min_life]
