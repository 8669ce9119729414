"""The deeper search for rows on a device: what is moved is decided here, from sums of the sets.

The moves are those of compiled code. They need the sums of all sets, which are here anyway, and of
each set the first members in the visiting order; of a set that may be two, all of them.
"""

import math
from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.deep_search import MIN_RELATIVE_GAIN, PASSES_PER_ROUND
from dynmeans.algorithm.splits import SAMPLES
from dynmeans.engine.compiled import compiled
from dynmeans.engine.gpu.host.bins import BatchBins, Magnitudes
from dynmeans.engine.gpu.host.cluster import Found, alternate
from dynmeans.engine.gpu.host.passes import Passes
from dynmeans.engine.gpu.host.rows import Listed, Rows
from dynmeans.engine.gpu.host.slots import BoolArray, RememberedSlots
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

_SAMPLE = SAMPLES[0]
_SPARE = 96  # more that are asked for: keys lie evenly, but not quite


def run_deep_search_on_device(
    rows: Rows, bins: BatchBins, state: ClusterState, penalties: Penalties, found: Found, depth: int
) -> Found:
    """Continue from the labels of the rows, which are those of `found`, in their present order."""
    memory = RememberedSlots.of(state, penalties)
    passes = Passes(rows, memory, penalties.new_penalty)
    magnitudes = rows.magnitudes()

    def continue_from(start: Found, n_members: IntArray, most: float = math.inf) -> Found:
        return alternate(passes, n_members, bins, state, penalties, start, most, keeps_labels=True)

    is_last, has_converged = False, True
    while not (is_last and has_converged):
        n_members, trace = rows.sum_up(len(found.counts)), found.cost_trace
        if not n_members.any():
            return found
        moves = _Moves(rows, n_members, found, magnitudes, memory, state, penalties, depth)
        moved = None if is_last else moves.make()
        if moved is not None:
            before = rows.labels.copy()
            rows.rename(moved.slots_after, moved.listed, moved.labels)
            n_members = rows.sum_up(len(moved.n_members))
            after = continue_from(found, n_members, len(trace) + 1 + PASSES_PER_ROUND)
            if not after.cost_trace[len(trace)] < trace[-1] * (1.0 - NO_FALL):
                rows.labels = before
                return found
            found = after
            has_converged = not found.cost_trace[-1] < found.cost_trace[-2] * (1.0 - NO_FALL)
            is_last = not found.cost_trace[-1] < trace[-1] * (1.0 - MIN_RELATIVE_GAIN)
        elif has_converged:
            return found
        else:
            found = continue_from(Found(found.counts, found.centers, trace[:-1]), n_members)
            has_converged = True
    return found


@dataclass(frozen=True, slots=True)
class _Moved:
    """Labels of some rows by name, where all other rows of each slot went, members of each slot."""

    listed: IntArray
    labels: IntArray
    slots_after: IntArray
    n_members: IntArray


@dataclass(frozen=True, slots=True)
class _Moves:
    """One round of moves: identities, splits, merges, single points; or splits (depth 1)."""

    rows: Rows
    n_members: IntArray
    found: Found
    magnitudes: Magnitudes
    memory: RememberedSlots
    state: ClusterState
    penalties: Penalties
    depth: int

    def make(self) -> _Moved | None:
        """Return what the moves come to; None if there was none."""
        is_whole, rows = self.n_members <= _SAMPLE + _SPARE, self.rows
        while True:
            listed = self._members(is_whole)
            numbers = rows.to_numpy(listed).astype(np.int64)
            has_moved, missing, after, slots_after, n_members = compiled.move_sets(
                rows.points(numbers),
                rows.weights_of(numbers),
                rows.to_numpy(rows.labels_of(listed)).astype(np.int64),
                (self.found.counts, self.n_members, rows.slot_bins()),
                self.found.cost_trace[-1],
                self._sums(),
                (self.state.centers, self.memory.gamma, self._offsets()),
                self.depth,
            )
            if len(missing):
                is_whole[missing] = True
                continue
            return _Moved(numbers, after, slots_after, n_members) if has_moved else None

    def _sums(self) -> tuple[FloatArray, float, float, int, bool, float]:
        remembered = np.abs(self.state.centers).max(axis=0, initial=0.0)
        most = self.magnitudes
        farthest = np.maximum(most.farthest, remembered)
        facts = (self.rows.n_points, self.rows.has_weights, self.penalties.new_penalty)
        return farthest, most.lightest, most.heaviest, *facts

    def _offsets(self) -> FloatArray:
        offsets: FloatArray = self.penalties.revival_penalty * self.state.ages
        return offsets

    def _members(self, is_whole: BoolArray) -> Listed:
        """Return the first members of every set, or all, in the visiting order."""
        wanted = np.where(is_whole, self.n_members, np.minimum(self.n_members, _SAMPLE))
        is_asked, found = self.n_members > 0, self.rows.nowhere(0)
        share = np.where(is_whole, 1.0, (_SAMPLE + _SPARE) / np.maximum(self.n_members, 1))
        while is_asked.any():
            listed, n_found = self.rows.first_members(is_asked, np.minimum(share, 1.0), wanted)
            found = self.rows.join(found, listed)
            is_asked, share = is_asked & (n_found < wanted), 16.0 * share
        return self.rows.in_order(found)
