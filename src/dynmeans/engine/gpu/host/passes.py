"""AssignLabels on a device: the first pass, and the passes after it (decision 0501)."""

from dataclasses import dataclass

import numpy as np

from dynmeans.engine.following import follow_rows
from dynmeans.engine.gpu.host.event_log import (
    OPEN_NEW,
    Choosers,
    EventLog,
    Version,
    derive_births,
    derive_log,
    iterate_to_fixed_point,
    union,
)
from dynmeans.engine.gpu.host.rows import Compared, Listed, Rows
from dynmeans.engine.gpu.host.slots import RememberedSlots, Slots, Versions
from dynmeans.records.arrays import IntArray

_MAX_PROPOSERS = 8192  # that are replayed together


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes over the rows of one batch."""

    rows: Rows
    memory: RememberedSlots
    new_penalty: float

    def first(self) -> int:
        """Label rows that have no label yet; return the number of slots.

        Rows are processed in stretches of the visiting order that grow as events get rare. A row
        that finds an active cluster can cause no event, whatever happens before its turn in the
        stretch: that cluster stays where it is, and no dormant one gets cheaper. So events are
        sought among the others.
        """
        rows, slots, low = self.rows, Slots.asleep(self.memory), 0
        for high in rows.window_limits():
            slots = self._first_stretch(rows.select(low, high), slots)
            low = high
        return self._rest(slots, low)

    def follow(self) -> int:
        """Make the first pass on the sphere; return the number of slots.

        Every row moves the center it joins, so compiled code visits the rows one by one, in memory.
        """
        memory, rows = self.memory, self.rows
        here, order = rows.in_visiting_order()
        sums = memory.gamma[:, None] * memory.centers
        clusters = memory.centers, memory.offsets, sums
        labels, centers, _, _ = follow_rows(here, order, *clusters, self.new_penalty)
        rows.give_labels(labels.astype(np.int64))
        return len(centers)

    def _first_stretch(self, listed: Listed, start: Slots) -> Slots:
        rows = self.rows
        if len(listed) == 0:
            return start
        choices = rows.cheapest(listed, start, self.new_penalty)
        proposers = rows.propose_moves(listed, choices, start.is_inactive) if len(start) else listed
        log = self._events_among(proposers, start)
        versions = self._versions(log, start)
        if len(proposers):
            choices = rows.choose(listed, choices, versions, self.new_penalty)
        rows.set_labels(listed, choices, versions.slots)
        rows.label_born(log.born["row"], len(start))
        return versions.last()

    def _rest(self, start: Slots, low: int) -> int:
        rows = self.rows
        proposers = rows.label_rest(start, low, self.new_penalty)
        if len(proposers) == 0:
            return len(start)
        log = self._events_among(proposers, start)
        versions = self._versions(log, start)
        # A row that keeps its slot beside all that was opened keeps it beside any part of that, and
        # one that takes the cheapest of all takes it beside any part that has it.
        others = rows.attracted_rows(versions, start, low, self.new_penalty)
        choices = rows.choose(others, rows.labels_of(others), versions, self.new_penalty)
        rows.set_labels(others, choices, versions.slots)
        base = None if start.is_inactive.any() else rows.nowhere(len(proposers))
        choices = rows.choose(proposers, base, versions, self.new_penalty)
        rows.set_labels(proposers, choices, versions.slots)
        rows.label_born(log.born["row"], len(start))
        return versions.n_last

    def _events_among(self, proposers: Listed, start: Slots) -> EventLog:
        """Return the events of rows without labels, those that come first first."""
        rows, known, only_births = self.rows, EventLog(), not start.is_inactive.any()
        proposers = rows.in_order(proposers)
        while len(proposers):
            few, proposers = proposers[:_MAX_PROPOSERS], proposers[_MAX_PROPOSERS:]
            if only_births:
                opened = rows.open_in_order(few, self.new_penalty)
                known = union(known, EventLog(rows.turns(opened)))
            else:
                known = self._settle_unlabeled(few, start, known)
            if len(proposers):
                versions = self._versions(known, start)
                base = rows.nowhere(len(proposers)) if only_births else None
                choices = rows.choose(proposers, base, versions, self.new_penalty)
                proposers = rows.propose_moves(proposers, choices, versions.is_inactive)
                proposers = rows.in_order(proposers)
        return known

    def _settle_unlabeled(self, listed: Listed, start: Slots, known: EventLog) -> EventLog:
        rows, turns = self.rows, self.rows.turns(listed)
        base = rows.choose(listed, None, Versions.freeze(start), self.new_penalty)

        def imply(log: EventLog) -> EventLog:
            versions = self._versions(log, start)
            choices = rows.choose(listed, base, versions, self.new_penalty)
            return union(known, derive_births(turns, rows.to_numpy(choices), versions))

        return iterate_to_fixed_point(self._guess(listed, base, start, known), imply)

    def _guess(self, listed: Listed, base: Listed, start: Slots, known: EventLog) -> EventLog:
        """Begin with the events of rows that can revive nothing, and the first of each revival."""
        rows, turns, choices = self.rows, self.rows.turns(listed), self.rows.to_numpy(base)
        at = np.flatnonzero(choices == OPEN_NEW)
        born = rows.turns(rows.open_in_order(rows.take(listed, at), self.new_penalty))
        wakes = np.flatnonzero((choices != OPEN_NEW) & ~np.isin(choices, known.revived))
        revived, first = np.unique(choices[wakes], return_index=True)
        return union(known, EventLog(born, revived, turns[wakes[first]]))

    def later(self, start: Slots, n_members: IntArray, found: Compared) -> IntArray:
        """Move the rows that want to; return how many each slot has then.

        While no cluster is opened, revived or emptied, each gets what it wanted. A row that
        wanted to stay sees its own cluster at its turn, so only versions that events add can
        change its choice: those it may prefer are looked for whenever a version is new.
        """
        left, joined = found.left, found.joined
        opens = joined[-1] > 0 or bool(joined[:-1][start.is_inactive].any())
        if not opens and not ((left > 0) & (left == n_members)).any():
            self.rows.relabel(found.listed, found.wishes, None, len(start))
            return n_members - left + joined[:-1]
        replay = _Replay(self, start, n_members, found)
        log = iterate_to_fixed_point(EventLog(), replay.imply)
        return replay.make(log)

    def _versions(self, log: EventLog, start: Slots) -> Versions:
        return log.versions(start, self.memory, self.rows.points(log.new_cluster_rows))


class _Replay:
    """Rows in play while the events of a later pass are settled."""

    def __init__(self, passes: Passes, start: Slots, n_members: IntArray, found: Compared) -> None:
        self._passes, self._start, self._n_members = passes, start, n_members
        self._list_rows, self._base = found.listed, found.wishes
        self._known: set[Version] = set()
        # Without events rows choose what they wish.
        self._versions, self._choices = Versions.freeze(start), found.wishes
        self._left, self._joined = found.left, found.joined
        passes.rows.begin_events(found.listed)

    def imply(self, log: EventLog) -> EventLog:
        if not log.is_same(EventLog()):
            self._choose(log)
        left = self._left[: len(self._start)]
        all_left = np.flatnonzero((left > 0) & (left == self._n_members))
        by = (self._list_rows, self._choices, self._versions, all_left)
        self._choosers: Choosers = self._passes.rows.choosers(*by)
        return derive_log(self._choosers, self._versions, all_left)

    def _choose(self, log: EventLog) -> None:
        passes, rows = self._passes, self._passes.rows
        self._versions = versions = passes._versions(log, self._start)
        self._take_followers(log, versions)
        self._choices = rows.choose(self._list_rows, self._base, versions, passes.new_penalty)
        self._left, self._joined = rows.count_moves(self._list_rows, self._choices, len(versions))

    def _take_followers(self, log: EventLog, versions: Versions) -> None:
        names, rows = log.names(len(self._passes.memory)), self._passes.rows
        fresh = [v for v, name in enumerate(names) if name not in self._known]
        self._known.update(names)
        if not fresh:
            return
        extra = np.array(fresh) + len(self._start)
        penalty = self._passes.new_penalty
        found = rows.followers(self._start, versions, extra, penalty)
        self._list_rows = rows.join(self._list_rows, found)
        self._base = rows.join(self._base, rows.labels_of(found))

    def make(self, log: EventLog) -> IntArray:
        """Move the rows by the log that the last look implied; return how many each slot has."""
        rows, versions, n_start = self._passes.rows, self._versions, len(self._start)
        opens = self._choosers.choices == OPEN_NEW
        # Rows that open a cluster, in the order of these; each joins its own.
        order = np.argsort(self._choosers.turns["row"][opens])[
            np.argsort(np.argsort(log.born["row"]))
        ]
        born = n_start + np.arange(len(log.born))
        rows.put(self._choices, self._choosers.places[opens][order], born)
        joined = self._joined[:-1].copy()
        joined[born] += 1
        n_slots = int(versions.slots.max()) + 1
        members = np.bincount(versions.slots, joined, minlength=n_slots).astype(np.int64)
        members[:n_start] += self._n_members - self._left[:n_start]
        rows.relabel(self._list_rows, self._choices, versions.slots, n_slots)
        return members
