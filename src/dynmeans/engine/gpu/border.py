"""Passes over the rows at the border of the slots, one after the other on the device."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.host.border import BorderPass
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.slots import RememberedSlots, Slots
from dynmeans.engine.gpu.kernels import (
    THREADS,
    as_arguments,
    count_of,
    download,
    launch,
    launch_blocks,
    multiprocessors,
    upload,
)
from dynmeans.engine.gpu.labeled_rows import LabeledRows
from dynmeans.engine.gpu.search import SMALL_N_FEATURES, Search, load_exact
from dynmeans.records.arrays import FloatArray, IntArray

_MAX_SLOTS = 4096  # each may have each other one for a neighbor
_MAX_COLUMNS = 2048  # whose totals fit into the shared memory of a block
_CHOICES = 16  # slots that are kept for a row
_NEAR_WIDTH = 8  # threads that look for them
_MOVERS = 2**14  # in a pass, that have a thread for each of their columns


class DeviceBorder:
    """Held rows with what they may choose, the centers that move, and the sums of all rows."""

    def __init__(
        self,
        rows: LabeledRows,
        slots: Slots,
        n_members: IntArray,
        memory: RememberedSlots,
        new_penalty: float,
        margins: FloatArray,
    ) -> None:
        self._rows, self._sums, self._new_penalty = rows, rows.sums, new_penalty
        self._d, self._n_slots, self._n = rows.n_features, len(slots), 0
        self._at, self._bounds, self._widest = slots, None, float(margins.max())
        self._near: tuple[Any, ...] = (None, None, None)  # slots near each, and how far they drift
        shifts = (margins + self._widest) * (1.0 + 1e-9)
        reaches = np.maximum(np.sqrt(new_penalty) * (1.0 - 1e-9) - margins, 0.0) ** 2
        self._centers, offsets, scales, dormant = upload(
            slots.centers, slots.offsets, slots.scales, slots.is_inactive.view(np.uint8)
        )
        self._slots = (self._centers, offsets, scales)
        self._table = (*self._slots, dormant)
        self.margins, self._n_members, *by = upload(
            margins, n_members.astype(np.int32), shifts, reaches
        )
        self.falls = tuple(by)  # of bounds while centers stay within their margins; up to where
        self._memory = (*upload(memory.centers, memory.gamma, memory.revivals), len(memory))
        self._module = load_exact(self._d, rows.row, "border")
        self._width = 1 if self._d < SMALL_N_FEATURES else 8

    @staticmethod
    def suits(n_slots: int, n_features: int, new_penalty: float) -> bool:
        """Return whether distances are far from the ends of the numbers, and tables from large."""
        is_plain = 1e-260 < new_penalty < 1e260
        return is_plain and n_slots <= _MAX_SLOTS and n_features + 3 <= _MAX_COLUMNS

    def hold_near(self, listed: Any, most: int, bounds: Any) -> bool:
        """Hold those of the listed rows, or of all, that are at the border; False if too many."""
        k, found, self._bounds = self._n_slots, self._room(self._size(listed)), bounds
        near, n_near = cp.empty((k, k, 2), np.int32), cp.zeros(k, np.int32)
        within = (self.margins, k, self._d, self._new_penalty, near, n_near)
        launch_blocks(self._kernel("near_slots"), k, (*self._table, *within), block=128)
        self._near = (near, n_near, cp.zeros((k, 3)))
        table = (*self._slots, self.margins)
        if listed is None:
            self._look("all_choices", 1, listed, *table, k, *found)
        else:
            self._look("near_choices", _NEAR_WIDTH, listed, *table, near, n_near, k, *found)
        return self._hold(listed, most, found, (None, 0.0, None, None))

    def hold_in_doubt(self, listed: Any, most: int, search: Search, bounds: Bounds) -> bool:
        """The same by the filter; listed rows that are not at the border get new bounds."""
        n, found = len(listed), self._room(len(listed))
        self._bounds, lengths = bounds.values, cp.empty(n, np.float32)
        beside = (self._centers, self.margins, self._widest)
        self._look("own_roots", self._width, listed, *beside, found[0], lengths)
        pairs = search.pairs_within(self._at, listed, lengths)
        if pairs is None:
            return False
        lowest = cp.full(n, 2**64 - 1, np.uint64)
        rows = (self._rows.values, self._d, self._rows.labels, listed, pairs, np.int64(len(pairs)))
        arguments = (*rows, *self._slots, self.margins, *found, lowest)
        launch(self._kernel("pair_choices"), 8 * len(pairs), arguments)
        by = (bounds.values, bounds.drift, lengths, lowest)
        return self._hold(listed, most, found, by)

    def _room(self, n: int) -> tuple[Any, ...]:
        """For distances to own centers, and for how many slots may be preferred, and which."""
        return cp.empty(n), cp.zeros(n, np.int32), cp.empty((n, _CHOICES), np.int32)

    def _size(self, listed: Any) -> int:
        return self._rows.n_points if listed is None else len(listed)

    def _look(self, name: str, width: int, listed: Any, *arguments: Any) -> None:
        n = self._size(listed)
        rows = (self._rows.values, self._d, self._rows.labels, listed, np.int64(n))
        launch(self._kernel(name), width * n, (*rows, *arguments))

    def _hold(self, listed: Any, most: int, found: tuple[Any, ...], by: tuple[Any, ...]) -> bool:
        rows, d, n = self._rows, self._d, self._size(listed)
        # Kernels read four labels together.
        room, n_held = -(-max(1, min(most, n)) // 4) * 4, cp.zeros(1, np.int32)
        self._numbers, self._labels = cp.empty((2, room), np.int32)
        self._values = cp.empty((room, d), rows.values.dtype)
        self._weights = None if rows.weights is None else cp.empty(room)
        self._choices = cp.empty((room, 4), np.int32), cp.empty((room, _CHOICES - 2), np.int32)
        among = (rows.values, d, rows.weights, rows.labels, listed, np.int64(n))
        held = (self._numbers, self._values, self._weights, self._labels, *self._choices, n_held)
        arguments = (*among, *found, self.margins, self._new_penalty, *by, room, *held)
        launch(self._kernel("hold_rows"), self._width * n, arguments)
        self._n = count_of(n_held)
        if self._n <= room:
            self._prepare()
        return self._n <= room

    def __len__(self) -> int:
        """Return how many rows are held."""
        return self._n

    def _prepare(self) -> None:
        """Make what the kernels of all passes are given."""
        k, d, sums = self._n_slots, self._d, self._sums
        moved, counts = cp.empty((self._n, 4), np.int32), cp.zeros((2, k), np.int32)
        self._counts, self._terms, self._is_first = counts, cp.empty(2 * k), True
        drifts = self._near[2]
        self._due = None if drifts is None else cp.full(len(self._labels), -1.0, np.float32)
        held = (self._values, np.int64(self._n), d, self._labels, *self._choices, self._due, drifts)
        slots = (*self._table, k, self._new_penalty)
        self._wishes = as_arguments((*held, *slots, moved, *counts))
        rows = (self._values, d, self._weights, moved, self._n_members, counts[0], drifts, k)
        bins = (sums.shifts, sums.n_bins, sums.n_columns, sums.sums)
        self._moves = as_arguments((*rows, self._labels, *bins))
        shape = (sums.sums, k, sums.n_bins, sums.n_columns, d)
        near = (self._new_penalty, self._centers.copy(), self.margins, *self._near)
        after = (self._n_members, *counts, self._centers, self._terms)
        self._params = as_arguments((*shape, *self._memory, *near, *after))

    def run(self, n_passes: int) -> list[BorderPass]:
        """Make this many passes; the list ends before one that cannot be made."""
        k, n = self._n_slots, self._n
        changing = (self._labels, self._n_members, self._sums.sums, self._centers)
        self._before = [(array, array.copy()) for array in changing]
        status, records = cp.zeros((n_passes, 4), np.int32), cp.empty((n_passes, 2 * k))
        columns = self._sums.n_columns
        of_rows = min(max(1, -(-self._width * n // THREADS)), 8 * multiprocessors())
        of_moves = -(-min(n, _MOVERS) * (columns - 1) // THREADS) or 1
        plan = (
            (self._kernel("border_wishes"), (of_rows,), (THREADS,), self._wishes, 4 * k),
            (self._kernel("border_move"), (of_moves,), (THREADS,), self._moves, 0),
            (self._kernel("border_params"), (k,), (32,), self._params, 16 * columns),
        )
        for number in map(np.int32, range(n_passes)):
            is_first = np.int32(self._is_first)
            for kernel, blocks, threads, given, shared in plan:
                arguments = (*given, status, records, is_first, number)
                kernel(blocks, threads, arguments, shared_mem=shared)
            self._is_first = False
        made, terms = download(status, records)
        n_made = int(np.append(made[:, 0], 0).argmin())
        return [
            BorderPass(int(made[at, 2]), bool(made[at, 1]), terms[at, :k], terms[at, k:])
            for at in range(n_made)
        ]

    def rewind(self, n_passes: int) -> None:
        """Go back to where this many passes of the last run had been made."""
        for array, before in self._before:
            array[...] = before
        self._counts.fill(0)
        if self._due is not None:
            self._due.fill(-1.0)
        self._is_first = True
        if n_passes:
            self.run(n_passes)

    def close(self) -> IntArray:
        """Give the rows their labels; return how many each slot has."""
        labels = (self._numbers, self._labels, self._n, self._rows.labels, self._bounds)
        launch(self._kernel("border_labels"), self._n, labels)
        members: IntArray = download(self._n_members)[0].astype(np.int64)
        return members

    def _kernel(self, name: str) -> Any:
        return self._module.get_function(name)
