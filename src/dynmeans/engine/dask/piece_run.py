"""A piece in one run: the labels of its rows so far, and its answers to requests.

What is remembered from one request to the next saves work and decides nothing: whatever is
missing, or belongs to another moment of the run, is computed again from the request.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import (
    InDoubt,
    Labeling,
    Moves,
    OrderRun,
    Proposals,
    Reply,
    Request,
)
from dynmeans.engine.dask.pass_log import ClusterTable, KeyArray, PassLog, SlotChanges
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray


class Part(NamedTuple):
    """Rows in one array: from `first_row` of the batch on, or those of the given `numbers`."""

    first_row: int
    points: BatchArray
    weights: FloatArray | None
    numbers: KeyArray | None = None


class PieceRun:
    """What a piece knows in one run.

    Attributes
    ----------
    labels, next, own : arrays with one value for each row
        Slots after the last pass, slots in the one under way, costs of the own cluster.
    n_passes : int
        Passes that are over.
    own_pass : int
        The pass under way when `own` was brought up to date; 0 for never.
    highest : FloatArray
        The highest of `own` in each slot.
    settled : int
        `next` is final for keys below this one.
    proposed : tuple of int, optional
        First and last key of rows for which `next` is their choice as of that first key.
    movers : list of IntArray, optional
        The rows whose `next` is not their label, by part, where that is known of all rows.
    in_doubt : tuple of KeyArray and IntArray, optional
        The rows that were sent in this pass, by their keys: the client may decide about them.
    """

    def __init__(self, parts: list[Part], run: OrderRun, positions: KeyArray | None) -> None:
        self._parts, self._run = parts, run
        edges = np.cumsum([0, *(len(part.points) for part in parts)]).tolist()
        self._spans = [slice(*span) for span in pairwise(edges)]
        self._keys = [
            hashed(part, run.seed) if positions is None else positions[span]
            for part, span in zip(parts, self._spans, strict=True)
        ]
        self._forget(edges[-1], n_passes=0)

    def _forget(self, n_rows: int, n_passes: int) -> None:
        self.labels = np.full(n_rows, -1, dtype=np.int32)
        self.next, self.own = self.labels.copy(), np.zeros(n_rows)
        self.highest = np.zeros(0)
        self.n_passes, self.own_pass, self.settled = n_passes, 0, 0
        self.proposed: tuple[int, int] | None = None
        self.movers: list[IntArray] | None = None
        self.in_doubt: tuple[KeyArray, IntArray] | None = None

    def answer(self, request: Request) -> Reply:
        """Settle labels, then look at the next rows: one round of a pass."""
        self.reach(request.before)
        is_first = request.pass_number == 1
        if not is_first:
            self._update_own(request)
        self._settle(request.log, request.settle)
        settled = wished = proposals = in_doubt = None
        is_last = request.propose is None
        if request.settle and (is_last or not is_first):
            settled = self._moves(request.log, request.settle, with_sums=is_last)
        if request.propose is not None:
            proposals, in_doubt = self._propose(request, request.propose)
            end = request.propose[1] + 1
            with_sums = end == self._run.n_keys and not len(proposals.keys)
            wished = None if is_first else self._moves(request.log, end, with_sums)
        return Reply(settled, wished, proposals, in_doubt)

    def reach(self, labeling: Labeling) -> None:
        """Bring the labels to those after some passes."""
        n_passes, log = labeling.n_passes, labeling.log
        if self.n_passes == n_passes:
            return
        if labeling.decided is not None and self.n_passes == labeling.since and self.in_doubt:
            keys, rows = self.in_doubt
            at = np.searchsorted(keys, labeling.decided.keys)
            is_here = at < len(keys)
            is_here[is_here] = keys[at[is_here]] == labeling.decided.keys[is_here]
            self.labels[rows[at[is_here]]] = labeling.decided.labels[is_here]
        else:
            self._relabel(log, n_passes)
        self.n_passes = n_passes
        self.settled, self.proposed, self.movers, self.in_doubt = 0, None, None, None

    def _relabel(self, log: PassLog | None, n_passes: int) -> None:
        """Label every row by the log of the last pass."""
        if self.n_passes != n_passes - 1:
            self._forget(len(self.labels), n_passes - 1)
        assert log is not None
        assert log.renamed is not None
        self._settle(log, self._run.n_keys)
        if self.movers is not None and np.array_equal(log.renamed, np.arange(len(log.renamed))):
            for span, rows in zip(self._spans, self.movers, strict=True):
                self.labels[span][rows] = self.next[span][rows]  # Others keep theirs.
        else:
            renamed = np.asarray(np.append(log.renamed, -1).astype(np.int32))
            self.labels = renamed[self.next]
            self.next = np.full_like(self.labels, -1)

    def _arrays(self) -> list[Any]:
        """As the compiled module takes them."""
        movers: Sequence[IntArray | None] = self.movers or [None] * len(self._parts)
        return [
            (
                part.points,
                part.weights,
                part.first_row,
                keys,
                self.labels[span],
                self.next[span],
                self.own[span],
                rows,
            )
            for part, span, keys, rows in zip(
                self._parts, self._spans, self._keys, movers, strict=True
            )
        ]

    def _settle(self, log: PassLog, end: int) -> None:
        """Make the labels of all keys below `end` final."""
        if self.settled < end:
            begin, is_known = self.settled, False
            if self.proposed is not None:
                is_known = self.proposed[0] == begin and end <= self.proposed[1] + 1
            changes = log.changes.between(begin if is_known else 0, end)
            knows_movers = self.movers is not None and self.proposed == (0, end - 1)
            if not is_known:  # The rows' choices are not at hand: from the beginning of the pass.
                self._walk(log, end)
            elif len(changes.keys) or not knows_movers:
                self.movers = None
                self._settle_known(log.table_before(begin), changes, begin, end)
        self.settled, self.proposed = end, None

    def _settle_known(
        self, table: ClusterTable, changes: SlotChanges, begin: int, end: int
    ) -> None:
        compiled.settle_labels(
            self._arrays(),
            self._run.seed,
            table.arrays,
            changes.arrays,
            self._run.new_penalty,
            begin,
            end - 1,
            self.n_passes == 0,
        )

    def _walk(self, log: PassLog, end: int) -> None:
        self.movers = None
        compiled.walk_changes(
            self._arrays(),
            self._run.seed,
            log.table.arrays,
            log.changes.between(0, end).arrays,
            self._run.new_penalty,
            end - 1,
        )

    def _update_own(self, request: Request) -> None:
        """Take the own costs again where the center moved; needed before rows are compared."""
        before, highest = request.before, None
        if self.own_pass == request.pass_number:
            return
        if self.own_pass == before.since + 1 and before.log and before.log.renamed is not None:
            renamed = before.log.renamed[: len(self.highest)]
            highest = np.zeros(request.log.table.n_slots)
            highest[renamed[renamed >= 0]] = self.highest[renamed >= 0]
        self.highest = compiled.update_own(
            self._arrays(), request.log.table.centers, before.has_moved, highest
        )
        self.own_pass = request.pass_number

    def _propose(self, request: Request, keys: tuple[int, int]) -> tuple[Proposals, InDoubt | None]:
        first, last = keys
        keys_found, rows, n_found, movers, sent = self._choose(request, keys)
        self.proposed = (first, last)
        self.movers = movers if first == 0 and n_found == 0 else None
        is_complete = n_found == len(keys_found)
        proposals = Proposals(keys_found, rows, last if is_complete else int(keys_found[-1]))
        if sent is None:
            return proposals, None
        own_keys, points, weights, labels, places, slacks = sent
        order, reaches = np.argsort(own_keys), np.sqrt(self.highest)
        self.in_doubt = own_keys[order], places[order]
        is_weighted = self._parts[0].weights is not None
        weights = weights if is_weighted else None
        return proposals, InDoubt(own_keys, points, weights, labels, slacks, reaches)

    def _choose(self, request: Request, keys: tuple[int, int]) -> tuple[Any, ...]:
        """Return who proposes, with rows, how many do, who moves, and rows in doubt, if known."""
        (first, last), run = keys, self._run
        table = request.log.table_before(first)
        arguments = (self._arrays(), run.seed, table.arrays, run.new_penalty, first, last)
        if request.pass_number == 1:
            sgemm = blas.sgemm_for(max((part.points for part in self._parts), key=len))
            with blas.one_thread() if sgemm else nullcontext():
                return *compiled.propose_unlabeled(*arguments, request.limit, sgemm), None, None
        highest = np.concatenate([self.highest, np.zeros(table.n_slots - len(self.highest))])
        moves = _last_moves(request) if request.gather else None
        return compiled.propose_labeled(*arguments, request.limit, highest, request.gather, moves)

    def _moves(self, log: PassLog, end: int, with_sums: bool) -> Moves:
        n_joined, n_left, first_join, last_leave = self._count_moves(log.n_slots, end - 1)
        slots = np.flatnonzero(n_joined + n_left)
        return Moves(
            log.n_slots,
            slots,
            n_joined[slots],
            n_left[slots],
            first_join[slots],
            last_leave[slots],
            self._sum_moves(log.n_slots)[slots] if with_sums else None,
        )

    def _count_moves(self, n_slots: int, last: int) -> tuple[Any, ...]:
        return compiled.count_moves(self._arrays(), self._run.seed, n_slots, last)

    def _sum_moves(self, n_slots: int) -> FloatArray:
        return compiled.sum_moves(self._arrays(), n_slots, self._run.sums)


def hashed(part: Part, seed: int) -> KeyArray | None:
    """Keys of rows that are not consecutive; those of others are made where they are used."""
    if part.numbers is None:
        return None
    key = part.numbers ^ np.uint64(seed)  # The finisher of splitmix64, as `mix` in native.
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


def _last_moves(request: Request) -> FloatArray:
    """How far each center moved in the last pass, in which no slot changed."""
    assert request.before.log is not None
    moves = request.log.table.centers - request.before.log.table.centers
    lengths: FloatArray = np.sqrt((moves**2).sum(axis=1))
    return lengths
