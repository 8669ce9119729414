"""Records of clusters instead of those of their subclusters."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import KINDS, Event
from dynmeans.records.step_record import StepRecord

# From the ids of subclusters to those of their clusters; -1 for noise.
Rename = Callable[[IntArray], IntArray]


def join_records(records: Iterable[StepRecord], rename: Rename) -> Iterator[StepRecord]:
    """Yield the records as if the subclusters of each cluster had been one from the beginning.

    A center is the mean of those of its subclusters, by their points. A cluster is forgotten with
    the last of its subclusters; splits and mergers within a cluster are left out.

    >>> empty, one = np.empty(0), np.ones(2)
    >>> ids, centers = np.array([3, 8]), np.array([[0.0], [4.0]])
    >>> born = (Event("born", 3), Event("born", 8))
    >>> counts = np.array([3.0, 1.0])
    >>> record = StepRecord(0, 1.0, ids, ids, counts, centers, one, 0 * one, one, 2, born)
    >>> [joined] = join_records([record], lambda ids: np.where(ids == 8, 3, ids))
    >>> joined.labels.tolist(), joined.counts.tolist(), joined.centers.tolist()
    ([3, 3], [4.0], [[1.0]])
    >>> joined.events
    (Event(kind='born', cluster_id=3, other_id=None, displacement=None, gap=None, speed=None),)
    """
    lifetimes = _Lives(rename)
    for record in records:
        names = rename(record.ids)
        is_named = names >= 0
        ids, place = np.unique(names[is_named], return_inverse=True)
        counts = record.counts[is_named]
        sums = np.bincount(place, counts, len(ids)).astype(np.float64)
        shares = (counts / np.where(sums > 0, sums, 1.0)[place])[:, None]
        velocities = record.velocities
        yield replace(
            record,
            labels=rename(record.labels) if len(record.labels) else record.labels,
            ids=ids,
            counts=sums,
            centers=_sum_rows(shares * record.centers[is_named], place, len(ids)),
            weights=np.bincount(place, record.weights[is_named], len(ids)).astype(np.float64),
            ages=np.array([record.time - lifetimes.last.get(k, record.time) for k in ids.tolist()]),
            n_remembered=lifetimes.take_in(record),
            events=tuple(lifetimes.events(record, ids)),
            velocities=None
            if velocities is None
            else _sum_rows(shares * velocities[is_named], place, len(ids)),
        )


def _sum_rows(rows: FloatArray, place: IntArray, n: int) -> FloatArray:
    sums = np.zeros((n, rows.shape[1]))
    np.add.at(sums, place, rows)
    return sums


@dataclass(slots=True)
class _Lives:
    """When clusters were last seen, and which of their subclusters are remembered."""

    rename: Rename
    last: dict[int, float] = field(default_factory=dict)
    before: set[int] = field(default_factory=set)  # seen in the last batch
    remembered: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    forgotten: list[int] = field(default_factory=list)

    def take_in(self, record: StepRecord) -> int:
        """Note what is remembered after a batch; return how many clusters that is."""
        for k, cluster in zip(record.ids.tolist(), self.rename(record.ids).tolist(), strict=True):
            self.remembered[cluster].add(k)
        self.forgotten = []
        for event in record.events:
            if event.kind != "forgotten":
                continue
            cluster = self.name(event.cluster_id)
            self.remembered[cluster].discard(event.cluster_id)
            if not self.remembered[cluster]:
                del self.remembered[cluster]
                self.forgotten.append(cluster)
        return len(self.remembered) - (-1 in self.remembered)

    def name(self, k: int) -> int:
        return int(self.rename(np.array([k]))[0])

    def events(self, record: StepRecord, ids: IntArray) -> list[Event]:
        """Return the events of a processed batch."""
        moves = defaultdict[int, list[Event]](list)
        for event in record.events:
            if event.kind in ("moved", "returned"):
                moves[self.name(event.cluster_id)].append(event)
        seen = set(ids.tolist())
        found = [self._event_of(k, record.time, moves[k]) for k in ids.tolist()]
        found += [Event("vanished", k) for k in sorted(self.before - seen)]
        found += [Event("forgotten", k) for k in self.forgotten if k >= 0]
        is_new = {event.cluster_id for event in found if event.kind == "born"}
        pairs = set()  # several subclusters may go into the same cluster at once
        for event in record.events:
            if event.kind not in ("split", "merged") or event.other_id is None:
                continue
            one, other = self.name(event.cluster_id), self.name(event.other_id)
            is_whole = one in is_new if event.kind == "split" else one in self.before - seen
            if is_whole and other >= 0 and (event.kind, one, other) not in pairs:
                pairs.add((event.kind, one, other))
                found.append(replace(event, cluster_id=one, other_id=other))
        self.last |= dict.fromkeys(seen, record.time)
        self.before = seen
        return sorted(found, key=lambda event: (KINDS.index(event.kind), event.cluster_id))

    def _event_of(self, k: int, time: float, moves: list[Event]) -> Event:
        far = [event.displacement for event in moves if event.displacement is not None]
        fast = [event.speed for event in moves if event.speed is not None]
        displacement = float(np.mean(far)) if far else None
        speed = float(np.mean(fast)) if fast else None
        if k not in self.last:
            return Event("born", k)
        if k in self.before:
            return Event("moved", k, displacement=displacement, speed=speed)
        gap = time - self.last[k]
        return Event("returned", k, displacement=displacement, gap=gap, speed=speed)
