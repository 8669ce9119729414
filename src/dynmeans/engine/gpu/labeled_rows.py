"""The rows of a batch on a device: their values, visiting order, labels and sums."""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.device_orders import DeviceOrder
from dynmeans.engine.gpu.host.bins import BatchBins, Magnitudes
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.event_log import OPEN_NEW
from dynmeans.engine.gpu.host.rows import Listed
from dynmeans.engine.gpu.host.slots import BoolArray
from dynmeans.engine.gpu.host.turns import TURN, TurnArray
from dynmeans.engine.gpu.kernels import (
    count_of,
    download,
    launch,
    launch_blocks,
    load_module,
    row_type,
    upload,
)
from dynmeans.engine.gpu.search import Search
from dynmeans.engine.gpu.slot_sums import SlotSums
from dynmeans.records.arrays import FloatArray, IntArray

# Rows that end the stretches of a first pass, for up to so many features.
_WINDOWS = {3: (7_900, 2**20), 128: (2**12, 2**17), np.inf: (2**11,)}
_SMALL_N_ROWS = 2**13  # that are put in order faster by counting than by sorting


class LabeledRows:
    """What `DeviceRows` knows of its rows without comparing them with slots."""

    def __init__(self, blocks: Blocks, weights: Any, batch: Any = None) -> None:
        points = blocks.points
        self._blocks, self.values, self.weights, self._batch = blocks, points, weights, batch
        self.n_points, self.n_features = points.shape
        self.has_weights = weights is not None
        self.row = row_type(points)
        self._n = np.int64(self.n_points)
        self._module = load_module("rows", self.row)
        self._search = Search(blocks, self.row)
        self.sums = SlotSums(blocks, weights, self.row)
        self.labels = cp.empty(self.n_points, np.int32)
        self._wishes, self._list, self._codes = (cp.empty_like(self.labels) for _ in range(3))
        self._is_listed: Any = None
        self._bounds = Bounds(partial(cp.empty, self.n_points, np.float32))
        self._early: tuple[int, Any] | None = None

    def magnitudes(self) -> Magnitudes:
        """Return the largest coordinates and the range of the weights."""
        return find_magnitudes(self._blocks, self.weights)

    def start(self, order: DeviceOrder, bins: BatchBins) -> None:
        """Begin a run: this order, no labels, no sums."""
        self._order, self._bins = order, bins
        self._turn = (order.keys, order.ties)
        self.sums.start(bins)
        self._bounds.forget()
        self._early = None
        self.labels.fill(-1)

    def in_visiting_order(self) -> tuple[Any, IntArray]:
        """Return the batch in memory, and the numbers of all rows by their turns."""
        order: IntArray = self.in_order(cp.arange(self.n_points, dtype=np.int32)).get()
        return self._batch.to_numpy("a first pass on the sphere"), order

    def give_labels(self, labels: IntArray) -> None:
        """Take the labels of all rows from memory."""
        self.labels[:] = cp.asarray(labels)

    def window_limits(self) -> list[int]:
        """Return the keys that end the stretches of a first pass, except the last."""
        n = self.n_points
        windows = next(rows for most, rows in _WINDOWS.items() if self.n_features <= most)
        return [self._order.n_keys * m // n for m in windows if 4 * m < n]

    def select(self, low: int, high: int) -> Listed:
        """List the rows that take part and have a key from `low` to below `high`."""
        if self._early is None:
            last = max(self.window_limits())
            self._early = (last, self._select(None, self.n_points, 0, last))
        last, early = self._early
        return early if (low, high) == (0, last) else self._select(early, len(early), low, high)

    def _select(self, among: Listed | None, n: int, low: int, high: int) -> Listed:
        n_listed = cp.zeros(1, np.int32)
        limits = (np.uint64(low), np.uint64(high))
        arguments = (
            among,
            np.int64(n),
            self._order.keys,
            self.weights,
            *limits,
            self._list,
            n_listed,
        )
        launch(self._kernel("select_rows"), n, arguments)
        return self._list_rows(n_listed)

    def turns(self, listed: Listed | IntArray) -> TurnArray:
        """Return the turns of some rows."""
        turns = np.zeros(len(listed), TURN)
        turns["row"] = cp.asnumpy(listed)
        keys, ties = self._turn
        turns["key"] = keys[cp.asarray(listed)].get()
        if ties is not None:
            turns["tie"] = ties[cp.asarray(listed)].get()
        return turns

    def in_order(self, listed: Listed) -> Listed:
        """Return the rows in the order of their turns."""
        n = len(listed)
        if n < 2:
            return listed
        if n > _SMALL_N_ROWS:
            keys, ties = self._turn
            columns = [listed.astype(np.uint64), *([] if ties is None else [ties[listed]])]
            return listed[cp.lexsort(cp.stack([*columns, keys[listed]]))]
        ordered = cp.empty(n, np.int32)
        kernel = self._search.births.get_function("put_in_order")
        launch_blocks(kernel, -(-n // 32), (listed, n, *self._turn, ordered))
        return ordered

    def points(self, numbers: IntArray) -> FloatArray:
        """Return some rows, as float64."""
        if len(numbers) == 0:
            return np.empty((0, self.n_features))
        (listed,) = upload(numbers.astype(np.int32))
        there, n = cp.empty((len(numbers), self.n_features)), np.int64(len(numbers))
        arguments = (self.values, self.n_features, listed, n, there)
        launch(self._kernel("gather_rows"), there.size, arguments)
        found: FloatArray = download(there)[0]
        return found

    def nowhere(self, n: int) -> Listed:
        """Return OPEN_NEW for this many rows."""
        return cp.full(n, OPEN_NEW, np.int32)

    def take(self, listed: Listed, at: IntArray) -> Listed:
        """Return some entries of a list."""
        return listed[cp.asarray(at)]

    def to_numpy(self, listed: Listed) -> IntArray:
        """Return a list as an array of NumPy."""
        found: IntArray = listed.get()
        return found

    def join(self, first: Listed, second: Listed) -> Listed:
        """Put two lists together."""
        return cp.concatenate([first, second])

    def label_born(self, born: IntArray, n_start: int) -> None:
        """Label the rows that opened clusters, in the order of these."""
        n, numbers = len(born), n_start + np.arange(len(born), dtype=np.int32)
        rows, slots = upload(born.astype(np.int32), numbers)
        launch(self._kernel("relabel"), n, (rows, slots, n, None, self.labels, None, None))

    def set_labels(self, listed: Listed, choices: Listed, slots: IntArray) -> None:
        """Label the rows by the slots of the versions they chose, except those that open one."""
        n, numbers = len(listed), cp.asarray(slots.astype(np.int32))
        launch(self._kernel("relabel"), n, (listed, choices, n, numbers, self.labels, None, None))

    def labels_of(self, listed: Listed) -> Listed:
        """Return the labels of some rows."""
        return self.labels[listed]

    def relabel(
        self, listed: Listed, choices: Listed, slots: IntArray | None, n_slots: int
    ) -> None:
        """Label the rows by the slots of their choices, and move them between the sums."""
        n, numbers = len(listed), None if slots is None else cp.asarray(slots.astype(np.int32))
        before, after = cp.empty((2, n), np.int32)
        arguments = (listed, choices, n, numbers, self.labels, before, after)
        launch(self._kernel("relabel"), n, arguments)
        self.sums.move(listed, before, after, n_slots)

    def sum_up(self, n_slots: int) -> IntArray:
        """Add all rows to the sums of their slots; return how many each has."""
        return self.sums.add_all(self.labels, n_slots, self._list)

    def first_members(
        self, is_asked: BoolArray, share: FloatArray, wanted: IntArray
    ) -> tuple[Listed, IntArray]:
        """List the first members of some slots; of a slot that had too few, none."""
        most = np.minimum(share * float(self._order.n_keys), float(2**64 - 2**12)).astype(np.uint64)
        limits, asked, n_listed = upload(
            np.where(share < 1.0, most, np.uint64(2**64 - 1)),
            is_asked.view(np.uint8),
            np.zeros(1, np.int32),
        )
        arguments = (self._n, self._order.keys, self.labels, asked, limits, self._list, n_listed)
        launch(self._kernel("select_early"), self.n_points, arguments)
        listed = self.in_order(self._list_rows(n_listed))
        if len(listed) == 0:
            return listed, np.zeros(len(wanted), np.int64)
        labels, places = self.labels[listed].astype(np.int64), cp.arange(len(listed))
        counts = cp.bincount(labels, minlength=len(wanted))
        n_found: IntArray = counts.get()
        by_slot = cp.lexsort(cp.stack([places, labels]))
        of_slot = labels[by_slot]
        place = places - (cp.cumsum(counts) - counts)[of_slot]
        most = cp.asarray(np.where(n_found >= wanted, wanted, 0))
        return listed[by_slot[place < most[of_slot]]], n_found

    def weights_of(self, numbers: IntArray) -> FloatArray | None:
        """Return what some rows weigh; None where every row weighs 1."""
        if self.weights is None:
            return None
        found: FloatArray = self.weights[cp.asarray(numbers)].get()
        return found

    def slot_bins(self) -> FloatArray:
        """Return the sums of each slot, in bins."""
        return self.sums.bins()

    def rename(self, slots: IntArray, numbers: IntArray, labels: IntArray) -> None:
        """Give all rows of each slot another one, and then some rows labels of their own."""
        renamed = cp.asarray(slots.astype(np.int32))
        launch(self._kernel("rename_labels"), self.n_points, (self._n, renamed, self.labels))
        rows, chosen = (cp.asarray(array.astype(np.int32)) for array in (numbers, labels))
        n = len(numbers)
        launch(self._kernel("relabel"), n, (rows, chosen, n, None, self.labels, None, None))
        self._bounds.forget()

    def keep_slots(self, is_kept: BoolArray) -> None:
        """Close the gaps that other slots leave, in the labels and the sums."""
        renamed = cp.asarray((np.cumsum(is_kept) - 1).astype(np.int32))
        launch(self._kernel("rename_labels"), self.n_points, (self._n, renamed, self.labels))
        self.sums.keep(is_kept)

    def totals(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums of each slot, rounded once, and what that lost."""
        return self.sums.totals()

    def _stretches(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Yield what kernels take for each block of rows, and how many rows it has."""
        for points, begin, end in self._blocks:
            yield (points, np.int64(begin), np.int64(end)), end - begin

    def _list_rows(self, n_listed: Any) -> Listed:
        return self._list[: count_of(n_listed)].copy()

    def _kernel(self, name: str) -> Any:
        return self._module.get_function(name)


def find_magnitudes(blocks: Blocks, weights: Any) -> Magnitudes:
    """Return the largest coordinates and the range of the weights of rows that take part."""
    points, d = blocks.points, blocks.points.shape[1]
    kernel = load_module("rows", row_type(points)).get_function("magnitudes")
    farthest, heavy = cp.zeros(d, np.uint64), cp.array([2**64 - 1, 0], dtype=np.uint64)
    for rows, begin, end in blocks:
        stretch = (rows, np.int64(begin), np.int64(end))
        launch(kernel, (end - begin) * d, (*stretch, d, weights, farthest, heavy))
    most = farthest.get().view(np.float64)
    if weights is None:
        return Magnitudes(most, 1.0, 1.0)
    lightest, heaviest = heavy.get().view(np.float64).tolist()
    return Magnitudes(most, lightest if heaviest > 0.0 else math.inf, heaviest)
