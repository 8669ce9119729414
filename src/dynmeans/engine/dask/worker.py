"""What a worker does with its pieces of the batch; all it needs comes with every request."""

import pickle
from contextlib import nullcontext

import numpy as np
from distributed import get_worker

from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import (
    Moves,
    PieceInfo,
    Proposals,
    Reply,
    Request,
    SlotBins,
)
from dynmeans.engine.dask.pass_log import FlagArray, KeyArray
from dynmeans.engine.dask.worker_memory import Hand
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray


def answer(
    message: bytes,
    infos: list[PieceInfo],
    points: list[BatchArray],
    weights: list[FloatArray | None],
    positions: list[KeyArray | None],
) -> Reply:
    """Settle labels, then look at the next rows: one round of a pass."""
    request: Request = pickle.loads(message)
    hand = Hand(request, infos, points, weights, positions)
    is_first = request.n_pass == 1
    own_bins, highest = np.empty(0), np.empty(0)
    if not is_first:
        own_bins, highest = _update_own(hand, request)
    _settle(hand, request)
    settled = wished = proposals = None
    if request.settle and not is_first:
        settled = _moves(hand, request, request.settle)
    if request.propose is not None:
        proposals = _propose(hand, request, highest)
        wished = None if is_first else _moves(hand, request, request.propose[1] + 1)
    return Reply(_address(), own_bins, settled, wished, proposals)


def sum_up(
    message: bytes,
    infos: list[PieceInfo],
    points: list[BatchArray],
    weights: list[FloatArray | None],
    positions: list[KeyArray | None],
    columns: IntArray,
) -> SlotBins:
    """End the pass; n and n * m of the slots with a column, in bins."""
    request: Request = pickle.loads(message)
    hand = Hand(request, infos, points, weights, positions)
    _settle(hand, request)
    moves = _moves(hand, request, request.settle)
    hand.end_pass()
    n_columns = int(columns.max(initial=-1)) + 1
    bins = compiled.sum_slots(hand.arrays(), columns, n_columns, request.sums)
    return SlotBins(_address(), moves, bins)


def _update_own(hand: Hand, request: Request) -> tuple[FloatArray, FloatArray]:
    """Take the own costs anew where the center moved; needed before rows are compared."""
    known, highest = hand.own_facts(), None
    if known is not None and known.n_pass == request.n_pass:
        return known.own_bins, known.highest
    if known is not None and request.settled is not None and request.settled.renamed is not None:
        renamed = request.settled.renamed[: len(known.highest)]
        highest = np.zeros(request.log.board.n_slots)
        highest[renamed[renamed >= 0]] = known.highest[renamed >= 0]
    # Rows whose own costs are of this pass are not compared again.
    is_fresh = all(state.own_pass == request.n_pass for state in hand.states)
    moved = np.zeros_like(request.has_moved) if is_fresh else request.has_moved
    found = compiled.update_own(
        hand.arrays(), request.log.board.centers, moved, highest, request.sums
    )
    hand.note_own(*found)
    return found


def _settle(hand: Hand, request: Request) -> None:
    """Make the labels of all keys below `settle` final."""
    end, log = request.settle, request.log
    for begin, numbers in hand.unsettled(end).items():
        events = log.events.between(begin or 0, end)
        if begin is None:  # The rows' choices are not at hand: from the beginning of the pass.
            hand.drop_movers(numbers)
            compiled.walk_events(
                hand.arrays(numbers),
                request.seed,
                log.board.arrays,
                events.arrays,
                request.new_penalty,
                end - 1,
            )
        elif len(events.keys) or not hand.know_all_movers(numbers, end):
            hand.drop_movers(numbers)
            compiled.settle_labels(
                hand.arrays(numbers),
                request.seed,
                log.board_before(begin).arrays,
                events.arrays,
                request.new_penalty,
                begin,
                end - 1,
                request.n_pass == 1,
            )
    for state in hand.states:
        state.settled, state.proposed = end, None


def _propose(hand: Hand, request: Request, highest: FloatArray) -> Proposals:
    assert request.propose is not None
    first, last = request.propose
    board, pieces = request.log.board_before(first), hand.arrays()
    movers: list[IntArray] | None = None
    if request.n_pass == 1:
        with blas.one_thread() if (sgemm := hand.sgemm()) else nullcontext():
            keys, rows, n_found = compiled.propose_unlabelled(
                pieces,
                request.seed,
                board.arrays,
                request.new_penalty,
                first,
                last,
                request.limit,
                sgemm,
            )
    else:
        keys, rows, n_found, found = compiled.propose_labelled(
            pieces,
            request.seed,
            board.arrays,
            request.new_penalty,
            first,
            last,
            request.limit,
            _changed_since(request, first),
            np.concatenate([highest, np.zeros(board.n_slots - len(highest))]),
        )
        if first == 0 and n_found == 0:
            movers = found
    for number, state in enumerate(hand.states):
        state.proposed = (first, last)
        state.movers = None if movers is None else movers[number]
    return Proposals(keys, rows, last if n_found == len(keys) else int(keys[-1]))


def _changed_since(request: Request, first: int) -> FlagArray:
    """Slots that moved since the last pass, or that something happened to in this one."""
    events = request.log.events.between(0, first)
    n_slots = max(len(request.has_moved), int(events.slots.max(initial=-1)) + 1)
    changed = np.ones(n_slots, dtype=np.uint8)
    changed[: len(request.has_moved)] = request.has_moved
    changed[events.slots] = 1
    return changed


def _moves(hand: Hand, request: Request, end: int) -> Moves:
    n_slots = request.log.n_slots
    return Moves.packed(*compiled.count_moves(hand.arrays(), request.seed, n_slots, end - 1))


def _address() -> str:
    """Where this runs; nowhere if it was called without a cluster."""
    try:
        return str(get_worker().address)
    except ValueError:
        return ""
