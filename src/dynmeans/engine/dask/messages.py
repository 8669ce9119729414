"""What crosses the network: one request to all workers, and the reply for each piece."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.dask.pass_log import FlagArray, PassLog
from dynmeans.engine.dask.turns import (
    END,
    TurnArray,
    Words,
    are_before,
    count_below,
    to_array,
    turn_order,
)
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class OrderRun:
    """One run of Algorithm 2: one batch, one visiting order, rows by increasing turn."""

    name: str  # What workers remember the run by
    seed: int  # Seed of the keys, where rows are visited by their hash
    # What the hash of a row follows from: the key of all orders, and how many batches there were
    # before; None for an order that was given.
    hashed_by: tuple[int, int] | None
    end: int  # After every turn; turns are spread evenly from 0 to here
    new_penalty: float  # lambda
    sums: tuple[Any, ...]  # What the terms of sums are rounded to (native/algorithm/batch_sums.hpp)


@dataclass(frozen=True, slots=True)
class ClientLabels:
    """Labels that the client found for rows it had gathered, by their numbers."""

    rows: Words
    labels: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Labeling:
    """What the labels after some passes follow from: the log of the last one, None before any.

    The rest saves work: who remembers the labels after `since` passes, when all rows were looked at
    last, needs to look only at slots that moved and rows that were decided since.
    """

    run: OrderRun
    n_passes: int
    log: PassLog | None
    since: int
    has_moved: FlagArray
    decided: ClientLabels | None = None  # None: rows were labeled where they lie
    division: "Division | None" = None  # None: by passes

    def under(self, suffix: str) -> "Labeling":
        """Return the same under another name of the run, of which nothing is remembered."""
        of = None
        if self.division is not None:
            of = replace(self.division, of=self.division.of.under(suffix))
        run = replace(self.run, name=self.run.name + suffix)
        return replace(self, run=run, division=of)


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of a slot that are nearer to the second of two means get a slot that was added."""

    slot: int
    added: int
    means: FloatArray  # (2, n_features)


@dataclass(frozen=True, slots=True)
class Division:
    """Labels after splits of whole sets: those of a labeling, the splits, new numbers of slots."""

    of: Labeling
    splits: tuple[Split, ...]
    renamed: IntArray


@dataclass(frozen=True, slots=True)
class Request:
    """What to do next, with all that is needed to do it from nothing."""

    before: Labeling  # The labels when the pass under way began
    log: PassLog  # That pass, as far as it is known
    settle: int  # Labels are final for all turns before this one
    propose: tuple[int, int] | None  # First and last turn of the rows to look at next
    limit: int  # Proposers to send back, at most
    gather: int  # Rows in doubt to send back, at most
    kept_runs: tuple[str, ...]  # Other runs whose labels may still be asked for

    def under(self, suffix: str) -> "Request":
        """Return the same under another name of the run."""
        return replace(self, before=self.before.under(suffix))

    @property
    def run(self) -> OrderRun:
        """The run it belongs to."""
        return self.before.run

    @property
    def pass_number(self) -> int:
        """The pass under way, from 1."""
        return self.before.n_passes + 1

    def last_moves(self) -> FloatArray:
        """How far each center moved in the last pass, in which no slot changed."""
        assert self.before.log is not None, "a pass went before"
        moves = self.log.table.centers - self.before.log.table.centers
        lengths: FloatArray = np.sqrt((moves**2).sum(axis=1))
        return lengths


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Ask for the rows of a range of turns, first and last: the first pass on the sphere."""

    before: Labeling
    turns: tuple[int, int]
    limit: int  # Rows to send back, at most, the first ones
    kept_runs: tuple[str, ...]

    def under(self, suffix: str) -> "TurnRequest":
        """Return the same under another name of the run."""
        return replace(self, before=self.before.under(suffix))

    @property
    def run(self) -> OrderRun:
        """The run it belongs to."""
        return self.before.run

    @property
    def pass_number(self) -> int:
        """The first."""
        return 1


@dataclass(frozen=True, slots=True)
class TurnRows:
    """Rows of a piece by increasing turn, complete up to `last`, and their places in the piece."""

    turns: TurnArray
    rows: FloatArray
    weights: FloatArray
    places: IntArray
    last: int

    def until(self, last: int) -> "TurnRows":
        """Return the rows up to this turn."""
        n = count_below(self.turns, last + 1)
        return TurnRows(self.turns[:n], self.rows[:n], self.weights[:n], self.places[:n], last)


@dataclass(frozen=True, slots=True)
class Proposals:
    """Rows that want an inactive or a new cluster, by increasing turn.

    `last` is the turn up to which the list is complete.
    """

    turns: TurnArray
    rows: FloatArray
    last: int

    @classmethod
    def merge(cls, parts: "list[Proposals]") -> "Proposals":
        """Those of all pieces, up to the turn to which every list is complete."""
        last = min(part.last for part in parts)
        turns = np.concatenate([part.turns for part in parts])
        order = turn_order(turns)
        order = order[: count_below(turns[order], last + 1)]
        return cls(turns[order], np.concatenate([part.rows for part in parts])[order], last)

    @property
    def n_unlike(self) -> int:
        """How many of them are unlike the one before: equal rows want the same."""
        is_unlike = (self.turns[1:, :2] != self.turns[:-1, :2]).any(axis=1)
        return min(1, len(self.turns)) + int(is_unlike.sum())


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that joined and left each slot since the pass began, and the outermost of their turns.

    `slots` are those that anybody joined or left, of `n_slots`. `sums` has, for each of them, the
    sums of who joined less those of who left, in bins that add up in any order; only where the
    pass may be over.
    """

    n_slots: int
    slots: IntArray
    n_joined: IntArray
    n_left: IntArray
    first_join: TurnArray
    last_leave: TurnArray
    sums: FloatArray | None

    @classmethod
    def merge(cls, parts: "list[Moves]") -> "Moves":
        """Those of all pieces, with all slots."""
        n = parts[0].n_slots
        sums = None
        if all(part.sums is not None for part in parts):
            sums = np.zeros((n, *_input_arrays(parts[0].sums).shape[1:]))
        whole = cls(
            n,
            np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            to_array([END - 1] * n),
            to_array([0] * n),
            sums,
        )
        for part in parts:
            slots = part.slots
            whole.n_joined[slots] += part.n_joined
            whole.n_left[slots] += part.n_left
            is_first = are_before(part.first_join, whole.first_join[slots])
            is_last = are_before(whole.last_leave[slots], part.last_leave)
            whole.first_join[slots[is_first]] = part.first_join[is_first]
            whole.last_leave[slots[is_last]] = part.last_leave[is_last]
            if sums is not None:
                sums[slots] += _input_arrays(part.sums)
        return whole


@dataclass(frozen=True, slots=True)
class BorderRows:
    """Rows that may soon prefer another slot, and what holds for those that stay behind.

    By slot, no row that stays behind is farther than `reaches` from its center, and every other
    choice is farther off by `slacks` at least; merged, these have a row for each piece.
    """

    rows: Words
    points: FloatArray
    weights: FloatArray | None
    labels: npt.NDArray[np.int32]
    slacks: FloatArray
    reaches: FloatArray

    @classmethod
    def merge(cls, parts: "list[BorderRows]") -> "BorderRows":
        """Those of all pieces."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.points for part in parts]),
            np.concatenate(weights) if weights else None,
            np.concatenate([part.labels for part in parts]),
            np.stack([part.slacks for part in parts]),
            np.stack([part.reaches for part in parts]),
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What is answered for one piece."""

    # Among the rows whose labels are final; not in the first pass, where nothing can empty.
    settled: Moves | None
    wished: Moves | None  # Among those, and the rows looked at that are no proposers
    proposals: Proposals | None
    in_doubt: BorderRows | None = None  # None: not asked for, or not known here


def _input_arrays(sums: FloatArray | None) -> FloatArray:
    assert sums is not None
    return sums
