"""Event log and replay: births, revivals and emptied clusters of one pass, found in parallel.

A pass visits rows one by one, and a cluster that is opened, revived or emptied on the way (an
event) changes what later rows can choose. Given a log of events, every row chooses independently:
it sees the versions of the slots that, by the log, exist at its turn. Those choices imply a
log. A log that implies itself is that of visiting the rows one by one, and it is found by starting
from any log and replacing it by what it implies.

Exact because: let a log be right for all turns before t. Then all choices up to t are right, and
so is every event they imply up to t: a birth and a revival are choices, and a slot is empty after
its last row's turn if all its rows chose to leave it and none joined before, all of which happened
up to then. So the implied log is right up to and with the first event at t or later; each round
settles at least one event more, and a log that comes back unchanged is right for all turns. In a
random order few events depend on each other, and a few rounds settle them all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dynmeans.engine.gpu.host.slots import RememberedSlots, Slots, Versions
from dynmeans.engine.gpu.host.turns import NEVER, TURN, TurnArray, in_order, is_before, join
from dynmeans.records.arrays import FloatArray, IntArray

OPEN_NEW = -1  # the choice of a row that finds no version within lambda

Version = tuple[str, int, int]  # what happened, to which slot, at which row


def _no_turns() -> TurnArray:
    return np.empty(0, dtype=TURN)


def _no_slots() -> IntArray:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class EventLog:
    """Births in order; for each revived and each emptied slot, by slot, when it happened."""

    born: TurnArray = field(default_factory=_no_turns)
    revived: IntArray = field(default_factory=_no_slots)
    revived_at: TurnArray = field(default_factory=_no_turns)
    emptied: IntArray = field(default_factory=_no_slots)
    emptied_at: TurnArray = field(default_factory=_no_turns)

    def is_same(self, other: "EventLog") -> bool:
        """Return whether both have the same events; a row's turn follows from its number."""
        return (
            np.array_equal(self.born["row"], other.born["row"])
            and np.array_equal(self.revived, other.revived)
            and np.array_equal(self.revived_at["row"], other.revived_at["row"])
            and np.array_equal(self.emptied, other.emptied)
        )

    @property
    def new_cluster_rows(self) -> IntArray:
        """Rows at which clusters were born and revived, in the order of `versions`."""
        return np.concatenate([self.born["row"], self.revived_at["row"]])

    def names(self, n_remembered: int) -> list[Version]:
        """Return a name for each version that the events added, in the order of `versions`."""
        names = [("born", -1, row) for row in self.born["row"].tolist()]
        opened = zip(self.revived.tolist(), self.revived_at["row"].tolist(), strict=True)
        names += [("revived", slot, row) for slot, row in opened]
        asleep = self.emptied[self.emptied < n_remembered].tolist()
        return names + [("dormant", slot, -1) for slot in asleep]

    def versions(self, start: Slots, memory: RememberedSlots, opened: FloatArray) -> Versions:
        """Return the versions of all slots; `opened` has the points of `opened_rows`."""
        frozen, n_born = Versions.freeze(start), len(self.born)
        asleep = self.emptied < len(memory)
        falls, fallen = self.emptied[asleep], self.emptied_at[asleep]
        n_opened, n_extra = len(opened), len(opened) + len(falls)

        until = np.full(len(start) + n_extra, NEVER)
        until[self.emptied] = self.emptied_at
        # A slot that was emptied before it is revived sleeps in between as an extra version.
        slept = np.full(len(start), -1)
        slept[falls] = len(start) + n_opened + np.arange(len(falls))
        asleep_as = np.where(slept[self.revived] >= 0, slept[self.revived], self.revived)
        until[asleep_as] = self.revived_at

        zeros, ones = np.zeros(n_opened), np.ones(n_opened)
        centers = [frozen.centers, opened[:n_born]]
        centers += [memory.revive_slots(self.revived, opened[n_born:]), memory.centers[falls]]
        return Versions(
            np.concatenate([frozen.slots, len(start) + np.arange(n_born), self.revived, falls]),
            np.concatenate(centers),
            np.concatenate([frozen.offsets, zeros, memory.offsets[falls]]),
            np.concatenate([frozen.scales, ones, memory.scales[falls]]),
            np.concatenate([frozen.is_inactive, zeros > 0, np.ones(len(falls), dtype=bool)]),
            join(frozen.since, self.born, self.revived_at, fallen),
            until,
            start,
        )


@dataclass(frozen=True, slots=True)
class Choosers:
    """Rows whose choices may be events: turns, slots before, versions chosen, places in a list."""

    turns: TurnArray
    labels: IntArray
    choices: IntArray
    places: IntArray


def derive_log(choosers: Choosers, versions: Versions, all_left: IntArray) -> EventLog:
    """Read the events off what rows chose; `all_left` are the slots that all their rows left."""
    turns, choices = choosers.turns, choosers.choices
    born = turns[choices == OPEN_NEW]
    wakes = np.append(versions.is_inactive, False)[choices]
    revived, revived_at = _first_of_each(versions.slots[choices[wakes]], turns[wakes])
    has_left = np.isin(choosers.labels, all_left) & (choices != choosers.labels)
    emptied, emptied_at = _last_of_each(choosers.labels[has_left], turns[has_left])
    joins = np.isin(choices, all_left) & (choices != choosers.labels)
    joined, joined_at = _first_of_each(choices[joins], turns[joins])
    at = np.searchsorted(joined, emptied)
    stays = np.zeros(len(emptied), dtype=bool)
    known = at < len(joined)
    known[known] = joined[at[known]] == emptied[known]
    stays[known] = is_before(joined_at[at[known]], emptied_at[known])
    return EventLog(born[in_order(born)], revived, revived_at, emptied[~stays], emptied_at[~stays])


def derive_births(turns: TurnArray, choices: IntArray, versions: Versions) -> EventLog:
    """Read the events off the choices of rows without labels, given in the order of their turns."""
    wakes = np.append(versions.is_inactive, False)[choices]
    revived, at = np.unique(versions.slots[choices[wakes]], return_index=True)
    return EventLog(turns[choices == OPEN_NEW], revived, turns[wakes][at])


def _first_of_each(slots: IntArray, turns: TurnArray) -> tuple[IntArray, TurnArray]:
    order = in_order(turns)
    found, at = np.unique(slots[order], return_index=True)
    return found, turns[order][at]


def _last_of_each(slots: IntArray, turns: TurnArray) -> tuple[IntArray, TurnArray]:
    order = in_order(turns)[::-1]
    found, at = np.unique(slots[order], return_index=True)
    return found, turns[order][at]


def iterate_to_fixed_point(log: EventLog, imply: Callable[[EventLog], EventLog]) -> EventLog:
    """Replace the log by what it implies until it comes back unchanged."""
    while True:
        implied = imply(log)
        if implied.is_same(log):
            return log
        log = implied


def union(earlier: EventLog, later: EventLog) -> EventLog:
    """Join the events of two stretches of a first pass; nothing is emptied in one."""
    slots = np.concatenate([earlier.revived, later.revived])
    turns = join(earlier.revived_at, later.revived_at)
    order = np.argsort(slots)
    return EventLog(join(earlier.born, later.born), slots[order], turns[order])
