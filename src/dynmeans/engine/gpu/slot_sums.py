"""Sums by slot on a device, in bins: all rows once, then the rows that moved (decision 0006)."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.bins import BatchBins
from dynmeans.engine.gpu.kernels import launch, launch_blocks, load_module, multiprocessors
from dynmeans.engine.gpu.slots import BoolArray
from dynmeans.records.arrays import FloatArray, IntArray

_MOST_BINS, _MOST_COLUMNS = 8, 32  # that kernels keep in registers, that a warp takes together
_SHARED_SLOTS = 12_000  # whose counters fit into shared memory
_TILE = 2**15  # rows that a block deals out at a time


class SlotSums:
    """The sums of w, where points have weights, and of w y, for each slot."""

    def __init__(self, points: Any, weights: Any, row: str) -> None:
        self._rows = (points, points.shape[1], weights)
        self._n_points, self._row = len(points), row

    def start(self, bins: BatchBins) -> None:
        """Forget all sums."""
        self._shifts = cp.asarray(bins.columns)
        self._n_bins, self._n_columns = bins.columns.shape
        width = min(_MOST_COLUMNS, 1 << (self._n_columns - 1).bit_length())
        constants = {"N_BINS": min(self._n_bins, _MOST_BINS), "WIDTH": width}
        self._module = load_module("sums", self._row, **constants)
        self._sums = cp.zeros((0, self._n_bins, self._n_columns))

    def add_all(self, labels: Any, n_slots: int, room: Any) -> IntArray:
        """Add all rows that have a label; return how many each slot has."""
        self._sums = cp.zeros((n_slots, self._n_bins, self._n_columns))
        counts = cp.zeros(n_slots, np.uint64)
        n, is_shared = np.int64(self._n_points), int(n_slots <= _SHARED_SLOTS)
        shared = 4 * n_slots * is_shared
        kernel = self._module.get_function("count_labels")
        blocks = max(1, min(4 * multiprocessors(), self._n_points // 2048))
        launch_blocks(
            kernel, blocks, (labels, n, n_slots, is_shared, counts), block=512, shared=shared
        )
        if n_slots == 0:
            return np.empty(0, np.int64)
        if self._n_bins > _MOST_BINS:
            self._move(None, self._n_points, None, labels)
            n_members: IntArray = counts.get().astype(np.int64)
            return n_members
        following = cp.cumsum(counts, dtype=np.uint64) - counts
        launch_blocks(
            self._module.get_function("deal_rows"),
            max(1, min(2 * multiprocessors(), self._n_points // _TILE)),
            (labels, n, n_slots, is_shared, np.int64(_TILE), following, room),
            block=512,
            shared=shared,
        )
        found: IntArray = counts.get().astype(np.int64)
        n_dealt = int(found.sum())
        dealt = (following, n_slots, room, np.int64(n_dealt))
        arguments = (*self._rows, *dealt, self._shifts, self._n_columns, self._sums)
        launch(self._module.get_function("add_dealt"), -(-n_dealt // 256) * 32, arguments)
        return found

    def move(self, listed: Any, before: Any, after: Any, n_slots: int) -> None:
        """Take rows out of the sums of one slot and add them to those of another."""
        if n_slots > len(self._sums):
            more = cp.zeros((n_slots - len(self._sums), *self._sums.shape[1:]))
            self._sums = cp.concatenate([self._sums, more])
        self._move(listed, len(listed), before, after)

    def _move(self, listed: Any, n: int, before: Any, after: Any) -> None:
        bins = (self._shifts, self._n_bins, self._n_columns, self._sums)
        arguments = (*self._rows, listed, np.int64(n), before, after, *bins)
        launch(self._module.get_function("move_rows"), n * self._n_columns, arguments)

    def keep(self, is_kept: BoolArray) -> None:
        """Drop the sums of the other slots."""
        self._sums = self._sums[cp.asarray(np.flatnonzero(is_kept))]

    def totals(self) -> FloatArray:
        """Return the sums, rounded once."""
        totals = cp.empty((len(self._sums), self._n_columns))
        arguments = (self._sums, len(self._sums), self._n_bins, self._n_columns, totals)
        launch(self._module.get_function("total_bins"), totals.size, arguments)
        found: FloatArray = totals.get()
        return found
