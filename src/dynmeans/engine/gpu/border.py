"""Passes over the rows at the border of the slots, one after the other on the device."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.host.border import BorderPass
from dynmeans.engine.gpu.host.slots import Memory, Slots
from dynmeans.engine.gpu.kernels import count_of, download, launch, launch_blocks, upload
from dynmeans.engine.gpu.labeled_rows import LabeledRows
from dynmeans.engine.gpu.search import FEW_FEATURES, load_exact
from dynmeans.records.arrays import FloatArray, IntArray

_MOST_SLOTS = 4096  # each may have each other one for a neighbor
_MOST_COLUMNS = 2048  # whose totals fit into the shared memory of a block
_CHOICES = 14  # slots that are kept for a row beside the first
_MOVERS = 2**14  # in a pass, that have a thread for each of their columns


class DeviceBorder:
    """Held rows with what they may choose, the centers that move, and the sums of all rows."""

    bounds: Any = None  # of all rows, where bounds are kept

    def __init__(
        self,
        rows: LabeledRows,
        slots: Slots,
        n_members: IntArray,
        memory: Memory,
        new_penalty: float,
        margins: FloatArray,
    ) -> None:
        self._rows, self._sums, self._new_penalty = rows, rows.sums, new_penalty
        self._d, self._n_slots, self._n = rows.n_features, len(slots), 0
        widest = float(margins.max(initial=0.0))
        shifts = (margins + widest) * (1.0 + 1e-9)
        reaches = np.maximum(np.sqrt(new_penalty) * (1.0 - 1e-9) - margins, 0.0) ** 2
        self._centers, offsets, scales, dormant = upload(
            slots.centers, slots.offsets, slots.scales, slots.is_dormant.view(np.uint8)
        )
        self._slots = (self._centers, offsets, scales)
        self._table = (*self._slots, dormant)
        self.margins, self._n_members, *by = upload(
            margins, n_members.astype(np.int32), shifts, reaches
        )
        self.falls = tuple(by)  # of bounds while centers stay within their margins; up to where
        self._memory = (*upload(memory.centers, memory.gamma, memory.revivals), len(memory))
        self._module = load_exact(self._d, rows.row, "border")
        self._width = 1 if self._d < FEW_FEATURES else 8

    @staticmethod
    def suits(n_slots: int, n_features: int, new_penalty: float) -> bool:
        """Say whether distances are far from the ends of the numbers, and tables from large."""
        is_plain = 1e-260 < new_penalty < 1e260
        return is_plain and n_slots <= _MOST_SLOTS and n_features + 3 <= _MOST_COLUMNS

    def hold(self, listed: Any, most: int) -> bool:
        """Hold those of the listed rows that are at the border; False if they are too many."""
        rows, k, d = self._rows, self._n_slots, self._d
        near, counts = cp.empty((k, k, 2), np.int32), cp.zeros(k + 1, np.int32)
        beside = (self.margins, k, d, self._new_penalty, near, counts)
        kernel = self._kernel("near_slots")
        launch_blocks(kernel, k, (*self._table, *beside), block=128)
        room = max(1, min(most, len(listed)))
        self._numbers, self._labels = cp.empty((2, room), np.int32)
        self._values = cp.empty((room, d), rows.values.dtype)
        self._weights = None if rows.weights is None else cp.empty(room)
        self._choices = (cp.empty((room, 4), np.int32), cp.empty((room, _CHOICES), np.int32))
        among = (rows.values, d, rows.weights, rows.labels, listed, np.int64(len(listed)))
        beside = (self.margins, near, counts, k, self._new_penalty, room)
        held = (self._numbers, self._values, self._weights, self._labels)
        arguments = (*among, *self._slots, *beside, *held, *self._choices, counts[k:])
        launch(self._kernel("gather_border"), self._width * len(listed), arguments)
        self._n = count_of(counts[k:])
        if self._n <= room:
            self._prepare()
        return self._n <= room

    def __len__(self) -> int:
        """Return how many rows are held."""
        return self._n

    def _prepare(self) -> None:
        """Make what kernels of a pass are given; the last two are the pass's status and number."""
        k, d, sums = self._n_slots, self._d, self._sums
        moved, counts = cp.empty((self._n, 4), np.int32), cp.zeros((2, k), np.int32)
        self._counts, self._terms, self._is_first = counts, cp.empty(2 * k), True
        held = (self._values, np.int64(self._n), d, self._labels, *self._choices)
        slots = (*self._table, k, self._new_penalty)
        self._wishes = (*held, *slots, moved, *counts)
        rows = (self._values, d, self._weights, moved, self._n_members, counts[0], k, self._labels)
        self._moves = (*rows, sums.shifts, sums.n_bins, sums.n_columns, sums.sums)
        shape = (sums.sums, k, sums.n_bins, sums.n_columns, d)
        near = (self._new_penalty, self._centers.copy(), self.margins)
        after = (self._n_members, *counts, self._centers, self._terms)
        self._params = (*shape, *self._memory, *near, *after)

    def run(self, n_passes: int) -> list[BorderPass]:
        """Make so many passes; the list ends before one that cannot be made."""
        k, n = self._n_slots, self._n
        changing = (self._labels, self._n_members, self._sums.sums, self._centers)
        self._before = [(array, array.copy()) for array in changing]
        status, records = cp.zeros((n_passes, 4), np.int32), cp.empty((n_passes, 2 * k))
        wishes, move = self._kernel("border_wishes"), self._kernel("border_move")
        params, columns = self._kernel("border_params"), self._sums.n_columns
        for number in range(n_passes):
            launch(wishes, self._width * n, (*self._wishes, status, number))
            launch(move, min(n, _MOVERS) * (columns - 1), (*self._moves, status, number))
            arguments = (*self._params, status, records, int(self._is_first), number)
            launch_blocks(params, k, arguments, block=32, shared=16 * columns)
            self._is_first = False
        made, terms = download(status, records)
        n_made = int(np.append(made[:, 0], 0).argmin())
        return [
            BorderPass(int(made[at, 2]), bool(made[at, 1]), terms[at, :k], terms[at, k:])
            for at in range(n_made)
        ]

    def rewind(self, n_passes: int) -> None:
        """Go back to where so many passes of the last run had been made."""
        for array, before in self._before:
            array[...] = before
        self._counts.fill(0)
        self._is_first = True
        if n_passes:
            self.run(n_passes)

    def close(self) -> IntArray:
        """Give the rows their labels; return how many each slot has."""
        labels = (self._numbers, self._labels, self._n, self._rows.labels, self.bounds)
        launch(self._kernel("border_labels"), self._n, labels)
        members: IntArray = download(self._n_members)[0].astype(np.int64)
        return members

    def _kernel(self, name: str) -> Any:
        return self._module.get_function(name)
