"""Births, moves, gaps, deaths, splits and mergers, read off one step's result."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dynmeans.algorithm.motion import MAX_EXTRAPOLATION
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import KINDS, Event
from dynmeans.records.state import Clustering, ClusterState


def find_events(
    before: ClusterState,
    elapsed: float,
    clustering: Clustering,
    after: ClusterState,
    *,
    are_means: bool = True,
) -> list[Event]:
    """Return the events of the batch that came `elapsed` steps after `before`.

    Splits and merges are inferred from the masses of clusters, which takes centers that
    `are_means`: one of length 1 does not show how far out its points lie.

    >>> before = ClusterState([4], [[0.0]], [9.0], [1.0], next_id=5)
    >>> after = ClusterState([4, 5], [[0.0], [7.0]], [9.0, 3.0], [2.0, 1.0], next_id=6)
    >>> labels, center = np.array([5, 5, 5]), np.array([[7.0]])
    >>> batch = Clustering(labels, np.array([5]), np.array([3]), center, 1.0, 1, np.ones(1))
    >>> [(event.kind, event.cluster_id) for event in find_events(before, 1.0, batch, after)]
    [('born', 5), ('vanished', 4)]
    """
    old = {int(k): row for row, k in enumerate(before.ids)}
    seen = set(clustering.ids.tolist())
    moves, speeds = _displacements(before, clustering), _speeds(clustering, after)
    events = []
    for row, k in enumerate(clustering.ids.tolist()):
        if k not in old:
            events.append(Event("born", k))
        elif before.ages[old[k]] == 1.0:
            events.append(Event("moved", k, displacement=moves[row], speed=speeds[row]))
        else:
            gap = float(before.ages[old[k]] - 1.0 + elapsed)
            events.append(Event("returned", k, displacement=moves[row], gap=gap, speed=speeds[row]))
    for k, row in old.items():
        if k not in seen and before.ages[row] == 1.0:
            events.append(Event("vanished", k))
    kept = set(after.ids.tolist())
    events.extend(Event("forgotten", k) for k in old if k not in kept)
    if are_means:
        moved = _extrapolate(before, elapsed, after)
        events.extend(_splits_and_mergers(moved, clustering, after))
    return sorted(events, key=lambda event: (KINDS.index(event.kind), event.cluster_id))


def _displacements(before: ClusterState, clustering: Clustering) -> list[float]:
    """How far each center is from where it was; of no meaning for a new cluster."""
    if before.n_clusters == 0:
        return [0.0] * len(clustering.ids)
    rows = np.minimum(np.searchsorted(before.ids, clustering.ids), before.n_clusters - 1)
    moves: list[float] = _lengths(clustering.centers - before.centers[rows]).tolist()
    return moves


def _speeds(clustering: Clustering, after: ClusterState) -> list[float | None]:
    """How far each cluster moves in a step of time, where clusters keep a course."""
    if after.velocities is None:
        return [None] * len(clustering.ids)
    speeds: list[float | None] = _lengths(
        after.velocities[np.searchsorted(after.ids, clustering.ids)]
    ).tolist()
    return speeds


def _extrapolate(before: ClusterState, elapsed: float, after: ClusterState) -> ClusterState:
    """Put clusters that keep a course where the batch expected them."""
    if before.velocities is None or after.velocities is None:
        return before
    steps = np.minimum(before.ages - 1.0 + elapsed, MAX_EXTRAPOLATION)
    return replace(before, centers=before.centers + before.velocities * steps[:, None])


@dataclass(frozen=True, slots=True)
class _Bodies:
    """Clusters' points in one batch: how many, and where their mean lies; oldest first."""

    ids: IntArray
    masses: FloatArray
    places: FloatArray

    def among(self, ids: IntArray) -> "_Bodies":
        rows = np.flatnonzero(np.isin(self.ids, ids))
        return _Bodies(self.ids[rows], self.masses[rows], self.places[rows])


def _splits_and_mergers(
    before: ClusterState, clustering: Clustering, after: ClusterState
) -> list[Event]:
    """Does a continuing cluster fit better with a newborn, or a vanished one (decision 0008)?"""
    rows = np.flatnonzero(before.ages == 1.0)
    was = _Bodies(before.ids[rows], before.counts[rows], before.centers[rows])
    newborn = np.setdiff1d(clustering.ids, before.ids)
    vanished = np.setdiff1d(was.ids, clustering.ids)
    if not len(newborn) and not len(vanished):
        return []
    now = _bodies_now(before, clustering, after)
    then_continuing, now_continuing = was.among(now.ids), now.among(was.ids)
    events = []
    for k, parent in _best_partners(now.among(newborn), now_continuing, then_continuing):
        events.append(Event("split", k, other_id=parent))
    for k, heir in _best_partners(was.among(vanished), then_continuing, now_continuing):
        events.append(Event("merged", k, other_id=heir))
    return events


def _bodies_now(before: ClusterState, clustering: Clustering, after: ClusterState) -> _Bodies:
    """Take the memory out of each center again: the mean of this batch's points alone."""
    n = np.asarray(clustering.counts, dtype=np.float64)
    w = after.weights[np.searchsorted(after.ids, clustering.ids)]
    theta_old = clustering.centers.copy()
    was_known = np.isin(clustering.ids, before.ids)
    theta_old[was_known] = before.centers[np.searchsorted(before.ids, clustering.ids[was_known])]
    places = (w[:, None] * clustering.centers - (w - n)[:, None] * theta_old) / n[:, None]
    return _Bodies(clustering.ids, n, places)


def _best_partners(others: _Bodies, parts: _Bodies, wholes: _Bodies) -> Iterator[tuple[int, int]]:
    """For each other, the part that lies nearer to its whole with it than alone, in mass too.

    The one of the highest gain is taken, the oldest on a tie; none without any gain.
    """
    alone = _lengths(parts.places - wholes.places)
    for k, mass, place in zip(others.ids.tolist(), others.masses, others.places, strict=True):
        if not len(parts.ids):
            return
        masses = parts.masses + mass
        places = (parts.masses[:, None] * parts.places + mass * place) / masses[:, None]
        gains = alone - _lengths(places - wholes.places)
        is_nearer = np.abs(masses - wholes.masses) < np.abs(parts.masses - wholes.masses)
        gains[~is_nearer] = 0.0
        best = int(np.argmax(gains))
        if gains[best] > 0:
            yield k, int(parts.ids[best])


def _lengths(vectors: FloatArray) -> FloatArray:
    lengths: FloatArray = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return lengths
