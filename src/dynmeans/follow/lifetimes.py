"""Number of points and batches of every cluster so far, counted lazily."""

from typing import Any, NamedTuple

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.state import Clustering, ClusterState

_FEW = 64  # forgotten identities that may wait to be left out
# Batches, and identities in them, that may wait to be counted.
MAX_WAITING, MAX_IDS = 1024, 2**16

Counted = dict[int, tuple[float, int]]


class Lifetimes(NamedTuple):
    """What was counted up to some batch, and the batches after it, which wait.

    `waiting` may be longer: later memories share it, and each looks at its own beginning.
    """

    counted: Counted | tuple[FloatArray, IntArray]  # as a pair of arrays: of identities from 0 on
    waiting: list[tuple[IntArray, Any]]
    n_waiting: int
    n_ids: int


NO_LIFETIMES = Lifetimes({}, [], 0, 0)


def add_batch_to_lifetimes(
    lifetimes: Lifetimes, clustering: Clustering, state: ClusterState
) -> Lifetimes:
    """Return the lives after one more batch; who is forgotten is left out in time."""
    counted, waiting, n, n_ids = lifetimes
    if n >= MAX_WAITING or n_ids >= MAX_IDS:
        counted, waiting, n, n_ids = (
            without_forgotten(count_lifetimes(lifetimes), state),
            [],
            0,
            0,
        )
    elif len(waiting) > n or n == 0:
        waiting = waiting[:n]
    waiting.append((clustering.ids, clustering.counts))
    return Lifetimes(counted, waiting, n + 1, n_ids + len(clustering.ids))


def count_lifetimes(lifetimes: Lifetimes) -> Counted:
    """Return points and batches of each identity, the batches that wait included."""
    counted, batches = lifetimes.counted, lifetimes.waiting[: lifetimes.n_waiting]
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


def without_forgotten(lifetimes: Counted, state: ClusterState) -> Counted:
    """Leave out who is forgotten, once they are many."""
    if len(lifetimes) <= 2 * state.n_clusters + _FEW:
        return lifetimes
    return {k: lifetimes[k] for k in state.ids.tolist() if k in lifetimes}


def lifetimes_of_sequence(clusterings: list[Clustering], state: ClusterState) -> Lifetimes:
    """Return the lives after a whole sequence of batches from nothing."""
    batches = [(found.ids, found.counts) for found in clusterings]
    counted = count_lifetimes(Lifetimes({}, batches, len(batches), 0))
    return NO_LIFETIMES._replace(counted=without_forgotten(counted, state))


def confirmed_by_lifetime(
    lifetimes: Lifetimes, min_cluster_size: float, min_batches: int
) -> list[int]:
    """Return the identities that held enough points, in enough batches, so far."""
    known = count_lifetimes(lifetimes).items()
    return [k for k, (points, n) in known if points >= min_cluster_size and n >= min_batches]
