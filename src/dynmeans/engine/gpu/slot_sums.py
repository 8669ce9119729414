"""Sums by slot on a device, in bins: all rows once, then the rows that moved (decision 0006)."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.host.bins import BatchBins
from dynmeans.engine.gpu.host.slots import BoolArray
from dynmeans.engine.gpu.kernels import (
    download,
    launch,
    launch_blocks,
    load_module,
    multiprocessors,
)
from dynmeans.records.arrays import FloatArray, IntArray

_MAX_BINS, _MAX_COLUMNS = 8, 32  # that kernels keep in registers, that a warp takes together
_SHARED_SLOTS = 12_000  # whose counters fit into shared memory
_TILE = 2**15  # rows that a block deals out at a time


class SlotSums:
    """The sums of w, where points have weights, of w y and of w |y|^2, for each slot."""

    def __init__(self, blocks: Blocks, weights: Any, row: str) -> None:
        self._blocks, self._weights, self._row = blocks, weights, row
        self._d = blocks.points.shape[1]

    def start(self, bins: BatchBins) -> None:
        """Forget all sums."""
        self.shifts = cp.asarray(bins.columns)
        self.n_bins, self.n_columns = bins.columns.shape
        width = min(_MAX_COLUMNS, 1 << (self.n_columns - 3).bit_length())
        constants = {"N_BINS": min(self.n_bins, _MAX_BINS), "WIDTH": width}
        self._sharing = 1 if width < 8 else 8  # threads that take the square of one row
        self._module = load_module("sums", self._row, **constants)
        self.sums = cp.zeros((0, self.n_bins, self.n_columns))

    def add_all(self, labels: Any, n_slots: int, room: Any) -> IntArray:
        """Add all rows that have a label; return how many each slot has."""
        self.sums = cp.zeros((n_slots, self.n_bins, self.n_columns))
        n_members = np.zeros(n_slots, np.int64)
        for points, begin, end in self._blocks if n_slots else ():
            n_members += self._add_block(points, begin, labels[begin:end], n_slots, room)
        return n_members

    def _add_block(self, points: Any, begin: int, labels: Any, n_slots: int, room: Any) -> IntArray:
        """Deal the rows of a block out to their slots, and add them there."""
        counts, size = cp.zeros(n_slots, np.uint64), len(labels)
        n, is_shared = np.int64(size), int(n_slots <= _SHARED_SLOTS)
        shared = 4 * n_slots * is_shared
        kernel = self._module.get_function
        blocks = max(1, min(4 * multiprocessors(), size // 2048))
        arguments: tuple[Any, ...] = (labels, n, n_slots, is_shared, counts)
        launch_blocks(kernel("count_labels"), blocks, arguments, block=512, shared=shared)
        if self.n_bins > _MAX_BINS:
            self._move((points, self._d, self._weights), None, (begin, size), None, labels)
            n_members: IntArray = download(counts)[0].astype(np.int64)
            return n_members
        ends = cp.cumsum(counts, dtype=np.uint64) - counts
        launch_blocks(
            kernel("sort_rows_by_slot"),
            max(1, min(2 * multiprocessors(), size // _TILE)),
            (labels, n, begin, n_slots, is_shared, np.int64(_TILE), ends, room),
            block=512,
            shared=shared,
        )
        found: IntArray = download(counts)[0].astype(np.int64)
        n_dealt = int(found.sum())
        dealt = (ends, n_slots, room, np.int64(n_dealt))
        bins = (self.shifts, self.n_columns, self.sums)
        arguments = (points, self._d, self._weights, *dealt, *bins)
        if self._sharing > 1:
            launch(kernel("sum_sorted"), -(-n_dealt // 256) * 32, arguments)
        launch(kernel("add_squares"), -(-n_dealt // 32) * self._sharing, arguments)
        return found

    def move(self, listed: Any, before: Any, after: Any, n_slots: int) -> None:
        """Take rows out of the sums of one slot and add them to those of another."""
        if n_slots > len(self.sums):
            more = cp.zeros((n_slots - len(self.sums), *self.sums.shape[1:]))
            self.sums = cp.concatenate([self.sums, more])
        rows = (self._blocks.points, self._d, self._weights)
        self._move(rows, listed, (0, len(listed)), before, after)

    def _move(
        self, rows: tuple[Any, ...], listed: Any, span: tuple[int, int], before: Any, after: Any
    ) -> None:
        (begin, n), bins = span, (self.shifts, self.n_bins, self.n_columns, self.sums)
        arguments = (*rows, listed, np.int64(begin), np.int64(n), before, after, *bins)
        launch(self._module.get_function("move_rows"), n * (self.n_columns - 1), arguments)

    def keep(self, is_kept: BoolArray) -> None:
        """Drop the sums of the other slots."""
        self.sums = self.sums[cp.asarray(np.flatnonzero(is_kept))]

    def bins(self) -> FloatArray:
        """Return the sums by slot, in bins."""
        found: FloatArray = self.sums.reshape(len(self.sums), -1).get()
        return found

    def totals(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums, rounded once, and what that lost."""
        totals = cp.empty((2, len(self.sums), self.n_columns))
        arguments = (self.sums, len(self.sums), self.n_bins, self.n_columns, totals)
        launch(self._module.get_function("total_bins"), totals[0].size, arguments)
        found: FloatArray = download(totals)[0]
        return found[0], found[1]
