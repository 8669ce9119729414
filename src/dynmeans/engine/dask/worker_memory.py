"""What a worker remembers of its pieces from one request to the next.

Remembering saves work and decides nothing: whatever is missing, or belongs to another moment of
the run, is computed again from the request.
"""

import threading
from collections import defaultdict
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.messages import PieceInfo, Request
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

LAST_KEY = 2**64 - 1
_MOST_STEPS = 4  # Steps of other clients that may be under way on the same worker.

SlotArray = npt.NDArray[np.int32]


@dataclass(slots=True)
class PieceState:
    """One piece in one run.

    Attributes
    ----------
    labels, next, own : arrays with one value for each row
        Slots after the last pass, slots in the one under way, costs of the own cluster.
    n_passes : int
        Passes that are over.
    own_pass : int
        The pass under way when `own` was brought up to date; 0 for never.
    settled : int
        `next` is final for keys below this one.
    proposed : tuple of int, optional
        First and last key of rows for which `next` is their choice as of that first key.
    movers : IntArray, optional
        The rows whose `next` is not their label, where that is known of all rows.
    """

    labels: SlotArray
    next: SlotArray
    own: FloatArray
    n_passes: int = 0
    own_pass: int = 0
    settled: int = 0
    proposed: tuple[int, int] | None = None
    movers: IntArray | None = None

    @classmethod
    def new(cls, n_rows: int) -> "PieceState":
        """Nothing is labelled."""
        nothing = np.full(n_rows, -1, dtype=np.int32)
        return cls(nothing, nothing.copy(), np.zeros(n_rows))

    def end_pass(self, renamed: IntArray) -> None:
        """Take over the labels of the pass that is over."""
        if self.movers is not None and np.array_equal(renamed, np.arange(len(renamed))):
            self.labels[self.movers] = self.next[self.movers]  # `next` of the others is their label
        else:
            self.labels = np.append(renamed, -1).astype(np.int32)[self.next]
            self.next = np.full_like(self.labels, -1)
        self.n_passes += 1
        self.settled, self.proposed, self.movers = 0, None, None


@dataclass(frozen=True, slots=True)
class OwnFacts:
    """What the own costs of some pieces came to in one pass: in bins, and the highest by slot."""

    pieces: tuple[int, ...]
    n_pass: int
    own_bins: FloatArray
    highest: FloatArray


class Hand:
    """The pieces of one request, in the order of their rows, at the moment it speaks of."""

    def __init__(
        self,
        request: Request,
        infos: list[PieceInfo],
        points: list[BatchArray],
        weights: list[FloatArray | None],
        positions: list[KeyArray | None],
    ) -> None:
        self._request, self._infos = request, infos
        self._points = [_cut(x, i) for x, i in zip(points, infos, strict=True)]
        self._weights = [_cut(x, i) for x, i in zip(weights, infos, strict=True)]
        self._positions = [_cut(x, i) for x, i in zip(positions, infos, strict=True)]
        _forget_other_runs(request)
        self.states = [_recall(request.run, info) for info in infos]
        for number, state in enumerate(self.states):
            if state.n_passes != request.n_pass - 1:
                self._catch_up(number)

    def arrays(self, numbers: list[int] | None = None) -> list[Any]:
        """As the compiled module takes them."""
        return [
            (
                self._points[p],
                self._weights[p],
                self._infos[p].first_row,
                self._positions[p],
                self.states[p].labels,
                self.states[p].next,
                self.states[p].own,
                self.states[p].own_pass in (self._request.n_pass - 1, self._request.n_pass)
                and self.states[p].own_pass > 0,
                self.states[p].movers,
            )
            for p in (range(len(self.states)) if numbers is None else numbers)
        ]

    def sgemm(self) -> Any:
        """SciPy's sgemm where the batch is large enough for it, else None."""
        largest = max(self._points, key=len)
        return blas.sgemm_for(largest)

    def unsettled(self, end: int) -> dict[int | None, list[int]]:
        """Pieces with labels to settle, by the key from which their choices are at hand."""
        found: dict[int | None, list[int]] = defaultdict(list)
        for number, state in enumerate(self.states):
            if state.settled >= end:
                continue
            at_hand = state.proposed is not None and (
                state.proposed[0] == state.settled and end <= state.proposed[1] + 1
            )
            found[state.settled if at_hand else None].append(number)
        return found

    def know_all_movers(self, numbers: list[int], end: int) -> bool:
        """Say whether these pieces know who moves, and `end` is where they looked to."""
        states = [self.states[number] for number in numbers]
        return all(state.movers is not None and state.proposed == (0, end - 1) for state in states)

    def drop_movers(self, numbers: list[int]) -> None:
        """Labels of these pieces are about to change."""
        for number in numbers:
            self.states[number].movers = None

    def end_pass(self) -> None:
        """Take over the labels of the pass that is over."""
        assert self._request.log.renamed is not None
        for state in self.states:
            state.end_pass(self._request.log.renamed)

    def own_facts(self) -> OwnFacts | None:
        """What is known of the own costs, of this pass or of the one before."""
        with _lock:
            facts = _own_facts.get(self._request.run, {}).get(self._infos[0].number)
        n_pass, pieces = self._request.n_pass, tuple(info.number for info in self._infos)
        if facts is None or facts.pieces != pieces or facts.n_pass not in (n_pass - 1, n_pass):
            return None
        is_theirs = all(state.own_pass == facts.n_pass for state in self.states)
        return facts if is_theirs else None

    def note_own(self, own_bins: FloatArray, highest: FloatArray) -> None:
        """Remember them for the next request."""
        pieces, n_pass = tuple(info.number for info in self._infos), self._request.n_pass
        for state in self.states:
            state.own_pass = n_pass
        with _lock:
            found = _own_facts.setdefault(self._request.run, {})
            found[pieces[0]] = OwnFacts(pieces, n_pass, own_bins, highest)

    def _catch_up(self, number: int) -> None:
        """Compute the labels after the pass before from that pass alone."""
        request, settled = self._request, self._request.settled
        state = self.states[number]
        fresh = PieceState.new(len(state.labels))
        for field in fields(PieceState):
            setattr(state, field.name, getattr(fresh, field.name))
        if settled is None:
            return
        assert settled.renamed is not None
        compiled.walk_events(
            self.arrays([number]),
            request.seed,
            settled.board.arrays,
            settled.events.arrays,
            request.new_penalty,
            LAST_KEY,
        )
        state.end_pass(settled.renamed)
        state.n_passes = request.n_pass - 1


def _cut(array: Any, info: PieceInfo) -> Any:
    return None if array is None else array[info.rows[0] : info.rows[1]]


_lock = threading.Lock()
_runs: dict[str, dict[int, PieceState]] = {}
_own_facts: dict[str, dict[int, OwnFacts]] = {}  # by run, and by the first of the pieces


def _recall(run: str, info: PieceInfo) -> PieceState:
    with _lock:
        states = _runs.setdefault(run, {})
        if info.number not in states:
            states[info.number] = PieceState.new(info.n_rows)
        return states[info.number]


def _forget_other_runs(request: Request) -> None:
    """Drop the runs of this step that are no longer needed, and steps long past."""
    step = step_of(request.run)
    with _lock:
        steps = list(dict.fromkeys(map(step_of, _runs)))
        for run in list(_runs):
            is_old = step_of(run) in steps[:-_MOST_STEPS]
            is_done = step_of(run) == step and run not in (request.run, *request.kept_runs)
            if is_old or is_done:
                _forget(run)


def forget_step(step: str) -> None:
    """Drop all runs of a step."""
    with _lock:
        for run in [run for run in _runs if step_of(run) == step]:
            _forget(run)


def _forget(run: str) -> None:
    del _runs[run]
    _own_facts.pop(run, None)


def step_of(run: str) -> str:
    """A run is named after its step."""
    return run.rpartition("/")[0]
