"""Event log of one pass: the clusters when it began, and every slot that changed since.

The label of a row follows from this log, the row and its turn, so any worker can compute it again.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.dask.turns import END, TurnArray, count_below, to_array
from dynmeans.records.arrays import FloatArray, IntArray

FlagArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class ClusterTable:
    """The clusters at one moment: J_k = offset + scale * |y - center|^2, and who has points."""

    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    is_active: FlagArray

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As the compiled module takes it."""
        return self.centers, self.offsets, self.scales, self.is_active

    @property
    def n_slots(self) -> int:
        """Number of slots, closed ones included."""
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class SlotChanges:
    """Slots that changed after the visit at a turn, in the order it happened."""

    turns: TurnArray
    slots: IntArray
    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    is_active: FlagArray

    @classmethod
    def none(cls, n_features: int) -> "SlotChanges":
        """Nothing happened."""
        return cls.new_slots(to_array([]), np.empty(0, dtype=np.int64), np.empty((0, n_features)))

    @classmethod
    def new_slots(cls, turns: TurnArray, slots: IntArray, centers: FloatArray) -> "SlotChanges":
        """Clusters were opened or revived."""
        n = len(turns)
        return cls(turns, slots, centers, np.zeros(n), np.ones(n), np.ones(n, dtype=np.uint8))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As the compiled module takes it."""
        return self.turns, self.slots, self.centers, self.offsets, self.scales, self.is_active

    def changes_between(self, first: int, end: int) -> "SlotChanges":
        """Those from the turn `first` to before `end`."""
        begin, stop = count_below(self.turns, first), count_below(self.turns, end)
        return SlotChanges(*(array[begin:stop] for array in self.arrays))

    def append(self, later: "SlotChanges") -> "SlotChanges":
        """These, then those."""
        pairs = zip(self.arrays, later.arrays, strict=True)
        return SlotChanges(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class PassLog:
    """All that labels depend on, besides the rows and their turns."""

    table: ClusterTable  # The clusters when the pass began
    changes: SlotChanges  # What happened since, as far as it is known
    # New number of each slot once the pass is over: those that emptied are closed up.
    renamed: IntArray | None = None

    @classmethod
    def start(cls, table: ClusterTable) -> "PassLog":
        """A pass in which nothing happened yet."""
        return cls(table, SlotChanges.none(table.centers.shape[1]))

    @property
    def n_slots(self) -> int:
        """Slots at the end, closed ones included."""
        return max(self.table.n_slots, int(self.changes.slots.max(initial=-1)) + 1)

    def add(self, changes: SlotChanges) -> "PassLog":
        """Add changes later than all so far."""
        return replace(self, changes=self.changes.append(changes))

    def add_emptied(self, turn: int, slot: int, asleep: ClusterTable | None) -> "PassLog":
        """Let a cluster empty at the visit at this turn: closed, or asleep as remembered."""
        after = SlotChanges(
            to_array([turn]),
            np.array([slot]),
            np.zeros((1, self.table.centers.shape[1])) if asleep is None else asleep.centers,
            np.array([np.inf]) if asleep is None else asleep.offsets,
            np.ones(1) if asleep is None else asleep.scales,
            np.zeros(1, dtype=np.uint8),
        )
        before, later = (
            self.changes.changes_between(0, turn + 1),
            self.changes.changes_between(turn + 1, END),
        )
        return replace(self, changes=before.append(after).append(later))

    def until(self, end: int) -> "PassLog":
        """Drop what happened at turns of `end` or later."""
        return replace(self, changes=self.changes.changes_between(0, end))

    def table_before(self, turn: int) -> ClusterTable:
        """The clusters as they stand when the row of this turn is visited."""
        changes, n = self.changes.changes_between(0, turn), self.table.n_slots
        n_slots = max(n, int(changes.slots.max(initial=-1)) + 1)
        if not len(changes.slots):
            return self.table
        table = ClusterTable(
            np.zeros((n_slots, self.table.centers.shape[1])),
            np.full(n_slots, np.inf),
            np.ones(n_slots),
            np.zeros(n_slots, dtype=np.uint8),
        )
        for array, old, new in zip(
            table.arrays, self.table.arrays, changes.arrays[2:], strict=True
        ):
            array[:n] = old
            array[changes.slots] = new  # The last change of a slot is the one that stays.
        return table
