"""What a worker remembers of its pieces from one request to the next.

Remembering saves work and decides nothing: whatever is missing, or belongs to another moment of
the run, is computed again from the request.
"""

import threading
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.algorithm.sums import BLOCK
from dynmeans.backends import blas
from dynmeans.backends.compiled import compiled
from dynmeans.backends.distributed.messages import PieceInfo, Request
from dynmeans.backends.distributed.pass_log import KeyArray
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
    """

    labels: SlotArray
    next: SlotArray
    own: FloatArray
    n_passes: int = 0
    own_pass: int = 0
    settled: int = 0
    proposed: tuple[int, int] | None = None

    @classmethod
    def new(cls, n_rows: int) -> "PieceState":
        """Nothing is labelled."""
        nothing = np.full(n_rows, -1, dtype=np.int32)
        return cls(nothing, nothing.copy(), np.zeros(n_rows))


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
            )
            for p in (range(len(self.states)) if numbers is None else numbers)
        ]

    def blocks(self) -> IntArray:
        """Numbers of the blocks of rows that the pieces hold, whole ones all."""
        spans = [
            np.arange(-(-i.first_row // BLOCK), -(-(i.first_row + i.n_rows) // BLOCK))
            for i in self._infos
        ]
        return np.concatenate(spans).astype(np.int64)

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

    def end_pass(self) -> None:
        """Take over the labels of the pass that is over."""
        assert self._request.log.renamed is not None
        for state in self.states:
            _end_pass(state, self._request.log.renamed)

    def _catch_up(self, number: int) -> None:
        """Compute the labels after the pass before from that pass alone."""
        request, settled = self._request, self._request.settled
        state = self.states[number]
        fresh = PieceState.new(len(state.labels))
        for name in ("labels", "next", "own", "n_passes", "own_pass", "settled", "proposed"):
            setattr(state, name, getattr(fresh, name))
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
        _end_pass(state, settled.renamed)
        state.n_passes = request.n_pass - 1


def _cut(array: Any, info: PieceInfo) -> Any:
    return None if array is None else array[info.rows[0] : info.rows[1]]


def _end_pass(state: PieceState, renamed: IntArray) -> None:
    state.labels = np.append(renamed, -1).astype(np.int32)[state.next]
    state.next = np.full_like(state.labels, -1)
    state.n_passes += 1
    state.settled, state.proposed = 0, None


_lock = threading.Lock()
_runs: dict[str, dict[int, PieceState]] = {}


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
                del _runs[run]


def forget_step(step: str) -> None:
    """Drop all runs of a step."""
    with _lock:
        for run in [run for run in _runs if step_of(run) == step]:
            del _runs[run]


def step_of(run: str) -> str:
    """A run is named after its step."""
    return run.rpartition("/")[0]
