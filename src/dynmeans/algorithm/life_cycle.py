"""Births, moves, gaps, deaths, splits and mergers, read off one step's result."""

from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import FloatArray
from dynmeans.records.events import KINDS, Event
from dynmeans.records.state import Clustering, ClusterState


def find_events(
    before: ClusterState, elapsed: float, clustering: Clustering, after: ClusterState
) -> list[Event]:
    """Say what the batch that came `elapsed` steps after `before` did to each cluster.

    Examples
    --------
    >>> before = ClusterState([4], [[0.0]], [9.0], [1.0], next_id=5)
    >>> after = ClusterState([4, 5], [[0.0], [7.0]], [9.0, 3.0], [2.0, 1.0], next_id=6)
    >>> labels, center = np.array([5, 5, 5]), np.array([[7.0]])
    >>> batch = Clustering(labels, np.array([5]), np.array([3]), center, 1.0, 1, np.ones(1))
    >>> [(event.kind, event.cluster_id) for event in find_events(before, 1.0, batch, after)]
    [('born', 5), ('vanished', 4)]
    """
    old = {int(k): row for row, k in enumerate(before.ids)}
    seen = set(clustering.ids.tolist())
    events = []
    for row, k in enumerate(clustering.ids.tolist()):
        if k not in old:
            events.append(Event("born", k))
            continue
        moved = float(np.linalg.norm(clustering.centers[row] - before.centers[old[k]]))
        if before.ages[old[k]] == 1.0:
            events.append(Event("moved", k, displacement=moved))
        else:
            gap = float(before.ages[old[k]] - 1.0 + elapsed)
            events.append(Event("returned", k, displacement=moved, gap=gap))
    for k, row in old.items():
        if k not in seen and before.ages[row] == 1.0:
            events.append(Event("vanished", k))
    kept = set(after.ids.tolist())
    events.extend(Event("forgotten", k) for k in old if k not in kept)
    events.extend(_splits_and_mergers(before, clustering, after))
    return sorted(events, key=lambda event: (KINDS.index(event.kind), event.cluster_id))


@dataclass(frozen=True, slots=True)
class _Body:
    """A cluster's points in one batch: how many, and where their mean lies."""

    mass: float
    place: FloatArray


def _splits_and_mergers(
    before: ClusterState, clustering: Clustering, after: ClusterState
) -> list[Event]:
    """Does a continuing cluster fit better with a newborn, or a vanished one (decision 0008)?"""
    was_seen = before.ages == 1.0
    was = {
        int(k): _Body(float(n), center)
        for k, n, center in zip(
            before.ids[was_seen], before.counts[was_seen], before.centers[was_seen], strict=True
        )
    }
    now = _bodies_now(before, clustering, after)
    continuing = [k for k in now if k in was]
    events = []
    for k in set(now) - set(before.ids.tolist()):
        gains = {p: _gain(now[p], now[k], whole=was[p]) for p in continuing}
        if (parent := _best(gains)) is not None:
            events.append(Event("split", k, other_id=parent))
    for k in set(was) - set(now):
        gains = {p: _gain(was[p], was[k], whole=now[p]) for p in continuing}
        if (heir := _best(gains)) is not None:
            events.append(Event("merged", k, other_id=heir))
    return events


def _bodies_now(
    before: ClusterState, clustering: Clustering, after: ClusterState
) -> dict[int, _Body]:
    """Take the memory out of each center again: the mean of this batch's points alone."""
    bodies = {}
    weights = after.weights[np.searchsorted(after.ids, clustering.ids)]
    rows_before = np.searchsorted(before.ids, clustering.ids)
    was_known = np.isin(clustering.ids, before.ids)
    for row, k in enumerate(clustering.ids.tolist()):
        n, theta, w = float(clustering.counts[row]), clustering.centers[row], float(weights[row])
        theta_old = before.centers[rows_before[row]] if was_known[row] else theta
        bodies[k] = _Body(n, (w * theta - (w - n) * theta_old) / n)
    return bodies


def _gain(part: _Body, other: _Body, whole: _Body) -> float:
    """How much nearer to `whole` the two lie together than `part` alone; 0 if not in mass too."""
    mass = part.mass + other.mass
    place = (part.mass * part.place + other.mass * other.place) / mass
    if abs(mass - whole.mass) >= abs(part.mass - whole.mass):
        return 0.0
    alone, together = part.place - whole.place, place - whole.place
    return max(0.0, float(np.linalg.norm(alone) - np.linalg.norm(together)))


def _best(gains: dict[int, float]) -> int | None:
    """Return the cluster of the highest gain, the oldest on a tie, if there is any gain."""
    best = max(gains, key=lambda k: (gains[k], -k), default=None)
    return best if best is not None and gains[best] > 0 else None
