"""A piece in one run: the labels of its rows so far, and its answers to requests.

What is remembered from one request to the next saves work and decides nothing: whatever is
missing, or belongs to another moment of the run, is computed again from the request.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import (
    BorderRows,
    Division,
    Labeling,
    Moves,
    OrderRun,
    Proposals,
    Reply,
    Request,
    Split,
    TurnRequest,
    TurnRows,
)
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog, SlotChanges
from dynmeans.engine.dask.piece_sets import answer_about_sets
from dynmeans.engine.dask.set_messages import SetRequest
from dynmeans.engine.dask.turns import Words, to_turn, to_words
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

if TYPE_CHECKING:
    from dynmeans.engine.dask.piece import Piece

Labels = npt.NDArray[np.int32]


class RowBlock(NamedTuple):
    """Rows in one array: from `first_row` of the batch on, or those of the given `numbers`."""

    first_row: int
    points: BatchArray
    weights: FloatArray | None
    numbers: Words | None = None


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
        `next` is final for turns before this one.
    proposed : tuple of int, optional
        First and last turn of rows for which `next` is their choice as of that first turn.
    movers : list of IntArray, optional
        The rows whose `next` is not their label, by part, where that is known of all rows.
    in_doubt : tuple of Words and IntArray, optional
        The rows that were sent in this pass, by their numbers: the client may decide about them.
    divided : tuple of int and Labels, optional
        How many splits were made of the labels, and the sets after them.
    followed : Labels, optional
        On the sphere: the labels of the first pass, which the client made.
    """

    def __init__(self, piece: "Piece", run: OrderRun, positions: Words | None) -> None:
        self._piece, self._parts, self._run = piece, piece.parts, run
        edges = np.cumsum([0, *(len(part.points) for part in self._parts)]).tolist()
        self._spans = [slice(*span) for span in pairwise(edges)]
        self._positions = positions
        self.followed: Labels | None = None
        self._forget(edges[-1], n_passes=0)

    def _forget(self, n_rows: int, n_passes: int) -> None:
        self.labels = np.full(n_rows, -1, dtype=np.int32)
        self.next, self.own = self.labels.copy(), np.zeros(n_rows)
        self.highest = np.zeros(0)
        self.n_passes, self.own_pass, self.settled = n_passes, 0, 0
        self.proposed: tuple[int, int] | None = None
        self.movers: list[IntArray] | None = None
        self.in_doubt: tuple[Words, IntArray] | None = None
        self.divided: tuple[int, Labels] | None = None

    def answer(self, request: Request | SetRequest | TurnRequest) -> Any:
        """Answer a request of any kind."""
        if isinstance(request, TurnRequest):
            return self._rows_in_turn(request)
        self.reach(request.before)
        if isinstance(request, SetRequest):
            return answer_about_sets(self, request)
        return self._make_round(request)

    def _make_round(self, request: Request) -> Reply:
        """Settle labels, then look at the next rows: one round of a pass."""
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
            with_sums = end == self._run.end and not len(proposals.turns)
            wished = None if is_first else self._moves(request.log, end, with_sums)
        return Reply(settled, wished, proposals, in_doubt)

    def _rows_in_turn(self, request: TurnRequest) -> TurnRows:
        first, last = request.turns
        n_features = self._parts[0].points.shape[1]
        turns, rows, n_found, places, weights = compiled.rows_in_turn(
            self.arrays(),
            self._run.seed,
            to_words(first),
            to_words(last),
            request.limit,
            n_features,
        )
        end = last if n_found == len(turns) else to_turn(turns[-1])
        return TurnRows(turns, rows, weights, places, end)

    def reach(self, labeling: Labeling) -> None:
        """Bring the labels to those after some passes."""
        n_passes, log = labeling.n_passes, labeling.log
        if self.n_passes == n_passes:
            return
        if labeling.decided is not None and self.n_passes == labeling.since and self.in_doubt:
            numbers, places = self.in_doubt
            at = np.searchsorted(numbers, labeling.decided.rows)
            is_here = at < len(numbers)
            is_here[is_here] = numbers[at[is_here]] == labeling.decided.rows[is_here]
            self.labels[places[at[is_here]]] = labeling.decided.labels[is_here]
        elif labeling.division is not None:
            self._divide(labeling.division)
        else:
            self._relabel(log, n_passes)
        self.n_passes = n_passes
        self.settled, self.proposed, self.movers, self.in_doubt = 0, None, None, None
        self.divided = None

    def _relabel(self, log: PassLog | None, n_passes: int) -> None:
        """Label every row by the log of the last pass."""
        if self.n_passes != n_passes - 1:
            self._forget(len(self.labels), n_passes - 1)
        assert log is not None
        assert log.renamed is not None
        self._settle(log, self._run.end)
        if self.movers is not None and np.array_equal(log.renamed, np.arange(len(log.renamed))):
            for span, rows in zip(self._spans, self.movers, strict=True):
                self.labels[span][rows] = self.next[span][rows]  # Others keep theirs.
        else:
            renamed = np.asarray(np.append(log.renamed, -1).astype(np.int32))
            self.labels = renamed[self.next]
            self.next = np.full_like(self.labels, -1)

    def _divide(self, division: Division) -> None:
        """Label every row by splits of the sets of another labeling, maybe of another run."""
        of = division.of
        source = self if of.run.name == self._run.name else self._piece.run_of(of.run)
        source.reach(of)
        renamed = np.asarray(np.append(division.renamed, -1).astype(np.int32))
        self.labels = renamed[source.sets_after(division.splits)]
        self.next, self.own_pass = np.full_like(self.labels, -1), 0

    def sets_after(self, splits: tuple[Split, ...]) -> Labels:
        """Return the set of each row after some splits of the labels."""
        n_done, sets = self.divided or (0, self.labels.copy())
        arrays = self.arrays(sets)
        for split in splits[n_done:]:
            compiled.divide_set(arrays, split.slot, split.means, split.added)
        self.divided = len(splits), sets
        return sets

    def arrays(self, labels: Labels | None = None) -> list[Any]:
        """As the compiled module takes them; with other labels, if given."""
        labels = self.labels if labels is None else labels
        movers: Sequence[IntArray | None] = self.movers or [None] * len(self._parts)
        hashed_by = self._run.hashed_by
        return [
            (
                part.points,
                part.weights,
                part.first_row,
                part.numbers,
                codes,
                hashed_by is not None,
                labels[span],
                self.next[span],
                self.own[span],
                rows,
            )
            for part, span, codes, rows in zip(
                self._parts, self._spans, self._codes(), movers, strict=True
            )
        ]

    def _codes(self) -> list[Words]:
        """What the keys of the rows are made from, by part: hashes, or the places themselves."""
        if self._run.hashed_by is not None:
            return self._piece.hashes(self._run.hashed_by)
        assert self._positions is not None, "an order that was given has places"
        return [self._positions[span] for span in self._spans]

    def _settle(self, log: PassLog, end: int) -> None:
        """Make the labels of all turns before `end` final."""
        if self.followed is not None and self.n_passes == 0:
            self.next, self.movers = self.followed.copy(), None
        elif self.settled < end:
            begin, is_known = self.settled, False
            if self.proposed is not None:
                is_known = self.proposed[0] == begin and end <= self.proposed[1] + 1
            changes = log.changes.changes_between(begin if is_known else 0, end)
            knows_movers = self.movers is not None and self.proposed == (0, end - 1)
            if not is_known:  # The rows' choices are not at hand: from the beginning of the pass.
                self._walk(log, end)
            elif len(changes.slots) or not knows_movers:
                self.movers = None
                self._settle_known(log.table_before(begin), changes, begin, end)
        self.settled, self.proposed = end, None

    def _settle_known(
        self, table: ClusterTable, changes: SlotChanges, begin: int, end: int
    ) -> None:
        compiled.settle_labels(
            self.arrays(),
            self._run.seed,
            table.arrays,
            changes.arrays,
            self._run.new_penalty,
            to_words(begin),
            to_words(end - 1),
            self.n_passes == 0,
        )

    def _walk(self, log: PassLog, end: int) -> None:
        self.movers = None
        compiled.walk_changes(
            self.arrays(),
            self._run.seed,
            log.table.arrays,
            log.changes.changes_between(0, end).arrays,
            self._run.new_penalty,
            to_words(end - 1),
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
            self.arrays(), request.log.table.centers, before.has_moved, highest
        )
        self.own_pass = request.pass_number

    def _propose(
        self, request: Request, turns: tuple[int, int]
    ) -> tuple[Proposals, BorderRows | None]:
        first, last = turns
        found, rows, n_found, movers, sent = self._choose(request, turns)
        self.proposed = (first, last)
        self.movers = movers if first == 0 and n_found == 0 else None
        is_complete = n_found == len(found)
        proposals = Proposals(found, rows, last if is_complete else to_turn(found[-1]))
        if sent is None:
            return proposals, None
        numbers, points, weights, labels, places, slacks = sent
        order, reaches = np.argsort(numbers), np.sqrt(self.highest)
        self.in_doubt = numbers[order], places[order]
        is_weighted = self._parts[0].weights is not None
        weights = weights if is_weighted else None
        return proposals, BorderRows(numbers, points, weights, labels, slacks, reaches)

    def _choose(self, request: Request, turns: tuple[int, int]) -> tuple[Any, ...]:
        """Return who proposes, with rows, how many do, who moves, and rows in doubt, if known."""
        run, table = self._run, request.log.table_before(turns[0])
        bounds = to_words(turns[0]), to_words(turns[1])
        arguments = (self.arrays(), run.seed, table.arrays, run.new_penalty, *bounds)
        if request.pass_number == 1:
            sgemm = blas.sgemm_for(max((part.points for part in self._parts), key=len))
            with blas.one_thread() if sgemm else nullcontext():
                return *compiled.propose_unlabeled(*arguments, request.limit, sgemm), None, None
        highest = np.concatenate([self.highest, np.zeros(table.n_slots - len(self.highest))])
        moves = request.last_moves() if request.gather else None
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
        return compiled.count_moves(self.arrays(), self._run.seed, n_slots, to_words(last))

    def _sum_moves(self, n_slots: int) -> FloatArray:
        return compiled.sum_moves(self.arrays(), n_slots, self._run.sums)
