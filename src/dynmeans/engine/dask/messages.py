"""What crosses the network: one request to all workers, and their replies."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.engine.dask.pass_log import FlagArray, KeyArray, PassLog
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class PieceInfo:
    """Consecutive rows of the batch: which piece, where it begins, which rows of its array."""

    number: int
    first_row: int
    rows: tuple[int, int]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows[1] - self.rows[0]


@dataclass(frozen=True, slots=True)
class Request:
    """What to do next, with all that is needed to do it from nothing.

    Attributes
    ----------
    run : str
        Name of the run: one batch, one visiting order.
    seed : int
        Seed of the keys, where rows are visited by their hash.
    new_penalty : float
        lambda.
    sums : tuple
        How the sums of the batch are taken, as the compiled module has it.
    n_pass : int
        The pass under way, from 1.
    settled : PassLog or None
        The pass before it, complete.
    log : PassLog
        The pass under way, as far as it is known.
    has_moved : FlagArray
        Slots that are not as they were when the pass before began.
    settle : int
        Labels are final for all keys below this one.
    propose : tuple of int, optional
        First and last key of the rows to look at next.
    limit : int
        Proposers to send back, at most.
    kept_runs : tuple of str
        Runs whose labels may still be asked for.
    """

    run: str
    seed: int
    new_penalty: float
    sums: tuple[Any, ...]
    n_pass: int
    settled: PassLog | None
    log: PassLog
    has_moved: FlagArray
    settle: int
    propose: tuple[int, int] | None
    limit: int
    kept_runs: tuple[str, ...]


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
        """Those of all workers, up to the key to which every list is complete."""
        last = min(part.last for part in parts)
        keys = np.concatenate([part.keys for part in parts])
        order = np.argsort(keys)
        order = order[keys[order] <= np.uint64(last)]
        return cls(keys[order], np.concatenate([part.rows for part in parts])[order], last)


@dataclass(frozen=True, slots=True)
class Moves:
    """Rows that joined and left each slot since the pass began, and the outermost of their keys.

    `slots` are those that anybody joined or left, of `n_slots`.
    """

    n_slots: int
    slots: IntArray
    n_joined: IntArray
    n_left: IntArray
    first_join: KeyArray
    last_leave: KeyArray

    @classmethod
    def packed(
        cls, n_joined: IntArray, n_left: IntArray, first_join: KeyArray, last_leave: KeyArray
    ) -> "Moves":
        """Leave out slots where nothing moved."""
        slots = np.flatnonzero(n_joined + n_left)
        return cls(
            len(n_joined),
            slots,
            n_joined[slots],
            n_left[slots],
            first_join[slots],
            last_leave[slots],
        )

    @classmethod
    def merged(cls, parts: "list[Moves]") -> "Moves":
        """Those on all workers, with all slots."""
        n = parts[0].n_slots
        never = np.iinfo(np.uint64).max
        whole = cls(
            n,
            np.arange(n),
            np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
            np.full(n, never, dtype=np.uint64),
            np.zeros(n, dtype=np.uint64),
        )
        for part in parts:
            whole.n_joined[part.slots] += part.n_joined
            whole.n_left[part.slots] += part.n_left
            for join, found in (
                (np.minimum, (whole.first_join, part.first_join)),
                (np.maximum, (whole.last_leave, part.last_leave)),
            ):
                found[0][part.slots] = join(found[0][part.slots], found[1])
        return whole


@dataclass(frozen=True, slots=True)
class Reply:
    """What the workers answer.

    Attributes
    ----------
    worker : str
        Address of the worker.
    own_bins : FloatArray
        The sum of own costs, in bins.
    settled : Moves, optional
        Among the rows whose labels are final; not in the first pass, where nothing can empty.
    wished : Moves, optional
        Among those, and the rows looked at that are no proposers.
    proposals : Proposals, optional
    """

    worker: str
    own_bins: FloatArray
    settled: Moves | None
    wished: Moves | None
    proposals: Proposals | None


@dataclass(frozen=True, slots=True)
class SlotBins:
    """What the means need: n and n * m by slot, in bins; and who joined in the whole pass."""

    worker: str
    moves: Moves
    bins: FloatArray
