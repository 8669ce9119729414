"""What crosses the network: one request to all workers, and the reply for each piece."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.dask.pass_log import FlagArray, KeyArray, PassLog
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class OrderRun:
    """One run of Algorithm 2: one batch, one visiting order, rows by increasing key."""

    name: str  # What workers remember the run by
    seed: int  # Seed of the keys, where rows are visited by their hash
    # Possible keys: 2**64 for hashed rows, the number of rows for an order that was given.
    n_keys: int
    new_penalty: float  # lambda
    sums: tuple[Any, ...]  # What the terms of sums are rounded to (native/algorithm/batch_sums.hpp)


@dataclass(frozen=True, slots=True)
class Decided:
    """Labels that the client found for rows it had gathered, by increasing key."""

    keys: KeyArray
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
    decided: Decided | None = None  # None: rows were labeled where they lie


@dataclass(frozen=True, slots=True)
class Request:
    """What to do next, with all that is needed to do it from nothing."""

    before: Labeling  # The labels when the pass under way began
    log: PassLog  # That pass, as far as it is known
    settle: int  # Labels are final for all keys below this one
    propose: tuple[int, int] | None  # First and last key of the rows to look at next
    limit: int  # Proposers to send back, at most
    gather: int  # Rows in doubt to send back, at most
    kept_runs: tuple[str, ...]  # Other runs whose labels may still be asked for

    @property
    def run(self) -> OrderRun:
        """The run it belongs to."""
        return self.before.run

    @property
    def pass_number(self) -> int:
        """The pass under way, from 1."""
        return self.before.n_passes + 1


@dataclass(frozen=True, slots=True)
class Proposals:
    """Rows that want an inactive or a new cluster, by increasing key.

    `last` is the key up to which the list is complete.
    """

    keys: KeyArray
    rows: FloatArray
    last: int

    @classmethod
    def merged(cls, parts: "list[Proposals]") -> "Proposals":
        """Those of all pieces, up to the key to which every list is complete."""
        last = min(part.last for part in parts)
        keys = np.concatenate([part.keys for part in parts])
        order = np.argsort(keys)
        order = order[keys[order] <= np.uint64(last)]
        return cls(keys[order], np.concatenate([part.rows for part in parts])[order], last)


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that joined and left each slot since the pass began, and the outermost of their keys.

    `slots` are those that anybody joined or left, of `n_slots`. `sums` has, for each of them, the
    sums of who joined less those of who left, in bins that add up in any order; only where the
    pass may be over.
    """

    n_slots: int
    slots: IntArray
    n_joined: IntArray
    n_left: IntArray
    first_join: KeyArray
    last_leave: KeyArray
    sums: FloatArray | None

    @classmethod
    def merged(cls, parts: "list[Moves]") -> "Moves":
        """Those of all pieces, with all slots."""
        n, never = parts[0].n_slots, np.iinfo(np.uint64).max
        sums = None
        if all(part.sums is not None for part in parts):
            sums = np.zeros((n, *_given(parts[0].sums).shape[1:]))
        whole = cls(
            n,
            np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            np.full(n, never, dtype=np.uint64),
            np.zeros(n, dtype=np.uint64),
            sums,
        )
        for part in parts:
            slots = part.slots
            whole.n_joined[slots] += part.n_joined
            whole.n_left[slots] += part.n_left
            whole.first_join[slots] = np.minimum(whole.first_join[slots], part.first_join)
            whole.last_leave[slots] = np.maximum(whole.last_leave[slots], part.last_leave)
            if sums is not None:
                sums[slots] += _given(part.sums)
        return whole


@dataclass(frozen=True, slots=True)
class InDoubt:
    """Rows that may soon prefer another slot, and what holds for those that stay behind.

    By slot, no row that stays behind is farther than `reaches` from its center, and every other
    choice is farther off by `slacks` at least; merged, these have a row for each piece.
    """

    keys: KeyArray
    points: FloatArray
    weights: FloatArray | None
    labels: npt.NDArray[np.int32]
    slacks: FloatArray
    reaches: FloatArray

    @classmethod
    def merged(cls, parts: "list[InDoubt]") -> "InDoubt":
        """Those of all pieces."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.keys for part in parts]),
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
    in_doubt: InDoubt | None = None  # None: not asked for, or not known here


def _given(sums: FloatArray | None) -> FloatArray:
    assert sums is not None
    return sums
