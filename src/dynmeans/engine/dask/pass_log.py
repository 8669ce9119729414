"""One pass as it is told to the workers: the clusters at its start, and what happened to them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import FloatArray, IntArray

KeyArray = npt.NDArray[np.uint64]
FlagArray = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Board:
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
class Events:
    """Slots that changed after the visit with a key, in the order it happened."""

    keys: KeyArray
    slots: IntArray
    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    is_active: FlagArray

    @classmethod
    def none(cls, n_features: int) -> "Events":
        """Nothing happened."""
        return cls.opened(
            np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64), np.empty((0, n_features))
        )

    @classmethod
    def opened(cls, keys: KeyArray, slots: IntArray, centers: FloatArray) -> "Events":
        """Clusters were opened or revived."""
        n = len(keys)
        return cls(keys, slots, centers, np.zeros(n), np.ones(n), np.ones(n, dtype=np.uint8))

    @property
    def arrays(self) -> tuple[Any, ...]:
        """As the compiled module takes it."""
        return self.keys, self.slots, self.centers, self.offsets, self.scales, self.is_active

    def between(self, first: int, end: int) -> "Events":
        """Those with keys of at least `first` and below `end`."""
        begin, stop = self._count_below(first), self._count_below(end)
        return Events(*(array[begin:stop] for array in self.arrays))

    def followed_by(self, later: "Events") -> "Events":
        """These, then those."""
        pairs = zip(self.arrays, later.arrays, strict=True)
        return Events(*(np.concatenate(pair) for pair in pairs))

    def _count_below(self, key: int) -> int:
        if key >= 2**64:
            return len(self.keys)
        return int(np.searchsorted(self.keys, np.uint64(key), side="left"))


@dataclass(frozen=True, slots=True)
class PassLog:
    """All that labels depend on, besides the rows and their keys.

    Attributes
    ----------
    board : Board
        The clusters when the pass began.
    events : Events
        What happened since, as far as it is known.
    renamed : IntArray, optional
        New number of each slot once the pass is over: those that emptied are closed up.
    """

    board: Board
    events: Events
    renamed: IntArray | None = None

    @classmethod
    def start(cls, board: Board) -> "PassLog":
        """A pass in which nothing happened yet."""
        return cls(board, Events.none(board.centers.shape[1]))

    @property
    def n_slots(self) -> int:
        """Slots at the end, closed ones included."""
        return max(self.board.n_slots, int(self.events.slots.max(initial=-1)) + 1)

    def happened(self, events: Events) -> "PassLog":
        """Add events later than all so far."""
        return replace(self, events=self.events.followed_by(events))

    def emptied(self, key: int, slot: int, asleep: Board | None) -> "PassLog":
        """Let a cluster empty at the visit with this key: closed, or asleep as remembered."""
        after = Events(
            np.array([key], dtype=np.uint64),
            np.array([slot]),
            np.zeros((1, self.board.centers.shape[1])) if asleep is None else asleep.centers,
            np.array([np.inf]) if asleep is None else asleep.offsets,
            np.ones(1) if asleep is None else asleep.scales,
            np.zeros(1, dtype=np.uint8),
        )
        before, later = self.events.between(0, key + 1), self.events.between(key + 1, 2**64)
        return replace(self, events=before.followed_by(after).followed_by(later))

    def until(self, end: int) -> "PassLog":
        """Forget what happened at keys of `end` or more."""
        return replace(self, events=self.events.between(0, end))

    def board_before(self, key: int) -> Board:
        """The clusters as they stand when the row with this key is visited."""
        events, n = self.events.between(0, key), self.board.n_slots
        n_slots = max(n, int(events.slots.max(initial=-1)) + 1)
        if not len(events.keys):
            return self.board
        board = Board(
            np.zeros((n_slots, self.board.centers.shape[1])),
            np.full(n_slots, np.inf),
            np.ones(n_slots),
            np.zeros(n_slots, dtype=np.uint8),
        )
        for array, old, new in zip(board.arrays, self.board.arrays, events.arrays[2:], strict=True):
            array[:n] = old
            array[events.slots] = new  # The last one of a slot is the one that stays.
        return board
