"""What crosses the network while sets are split: requests about sets, and the replies."""

from dataclasses import dataclass, replace

import numpy as np

from dynmeans.engine.dask.messages import Labeling, OrderRun, Split
from dynmeans.engine.dask.turns import TurnArray, turn_order
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class AskMembers:
    """For the first members of each slot in a visiting order, this many at most as `wanted`."""

    seed: int
    wanted: IntArray


@dataclass(frozen=True, slots=True)
class AskHalf:
    """For the rows of a slot that are nearer to the second of two means.

    By other means `before` some of them were so already; by None, none.
    """

    slot: int
    before: FloatArray | None
    means: FloatArray


@dataclass(frozen=True, slots=True)
class AskScatter:
    """For the scatter of a slot about two means; `halves` are those that decide which."""

    slot: int
    halves: FloatArray
    means: FloatArray


@dataclass(frozen=True, slots=True)
class SetRequest:
    """What to find out about the sets of a batch: the slots of a labeling after some splits."""

    before: Labeling
    splits: tuple[Split, ...]
    ask: AskMembers | AskHalf | AskScatter
    kept_runs: tuple[str, ...] = ()
    pass_number: int = 0  # It belongs to no pass

    @property
    def run(self) -> OrderRun:
        """The run it belongs to."""
        return self.before.run

    def under(self, suffix: str) -> "SetRequest":
        """Return the same under another name of the run."""
        return replace(self, before=self.before.under(suffix))


@dataclass(frozen=True, slots=True)
class Members:
    """Members of some slots, by slot and turn."""

    slots: IntArray
    turns: TurnArray
    points: FloatArray
    weights: FloatArray

    @classmethod
    def merge(cls, parts: "list[Members]", wanted: IntArray) -> "Members":
        """The first of all pieces."""
        slots = np.concatenate([part.slots for part in parts])
        turns = np.concatenate([part.turns for part in parts])
        order = turn_order(turns)
        order = order[np.argsort(slots[order], kind="stable")]
        slots = slots[order]
        is_first = np.arange(len(slots)) - np.searchsorted(slots, slots) < wanted[slots]
        order = order[is_first]
        points = np.concatenate([part.points for part in parts])[order]
        weights = np.concatenate([part.weights for part in parts])[order]
        return cls(slots[is_first], turns[order], points, weights)

    def of(self, slot: int) -> "tuple[FloatArray, FloatArray]":
        """Return the points and weights of one slot."""
        first, end = np.searchsorted(self.slots, [slot, slot + 1])
        return self.points[first:end], self.weights[first:end]


@dataclass(frozen=True, slots=True)
class Half:
    """The second half of a slot: rows that changed halves, its members, its sums in bins."""

    n_changed: int
    n_members: int
    sums: FloatArray

    @classmethod
    def merge(cls, parts: "list[Half]") -> "Half":
        """That of all pieces."""
        return cls(
            sum(part.n_changed for part in parts),
            sum(part.n_members for part in parts),
            np.sum([part.sums for part in parts], axis=0),
        )
