"""The cheapest slot of every row, by whichever way is fastest for the shape; all are exact."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.kernels import (
    THREADS,
    launch,
    launch_blocks,
    load_module,
    multiprocessors,
    shared_bytes,
    upload,
)
from dynmeans.engine.gpu.slots import Slots

_GRID = np.dtype(
    [("origin", "f8", 3), ("width", "f8"), ("inverse", "f8"), ("n_side", "i4"), ("unused", "i4")]
)
_GRID_SLOTS = 4  # Below, comparing all is as fast.
_FILTER_SLOTS, _FILTER_FEATURES = 32, 16
_REGISTER_FEATURES, _FILTER_REGISTER_FEATURES = 64, 128
_SHARED_TABLE = 2**16  # bytes of a table of slots that two blocks have room for
_PAIRS = 8  # slots that remain for a row in doubt, on the average
MOST_BINS = 8  # that kernels keep in registers


def load_exact(n_features: int, row: str) -> Any:
    """Load the kernels of exact costs."""
    held = -(-n_features // 8) if n_features <= _REGISTER_FEATURES else 0
    few = n_features if n_features < _FILTER_FEATURES else 0
    return load_module("exact", row, R=held, FEW=few)


class Search:
    """Looks up the cheapest of some slots for the rows of one batch."""

    def __init__(self, points: Any, row: str) -> None:
        self._points, self._n, self._d = points, len(points), points.shape[1]
        self._row = row
        self.exact = load_exact(self._d, row)
        if self._d <= 3:
            self.set_bins(1)
            side = {1: (1024, 8192), 2: (256, 1024), 3: (32, 96)}[self._d]
            self._n_side = side[self._n > 2**20]
            self._cells = cp.empty(self._n_side**self._d, np.uint32)
            self._lists = cp.empty(max(2**20, 4 * len(self._cells)), np.int32)
        elif self._d >= _FILTER_FEATURES:
            kept = -(-self._d // 32) * 2 if self._d <= _FILTER_REGISTER_FEATURES else 0
            self._filter_module, self._kept = load_module("filter", row, KC=kept), kept

    def set_bins(self, n_bins: int) -> None:
        """Choose the kernels that add up costs in so many bins."""
        if self._d <= 3:
            constants = {"D": self._d, "N_BINS": min(n_bins, MOST_BINS)}
            self._grid_module = load_module("grid", self._row, **constants)

    def grid(self, slots: Slots, new_penalty: float) -> tuple[Any, ...] | None:
        """Build the grid of these slots: what its kernels take, or None where it is of no use."""
        if self._d > 3 or len(slots) < _GRID_SLOTS:
            return None
        grid = _place_grid(slots, new_penalty, self._n_side)
        if grid is None:
            return None
        table = np.column_stack([slots.centers, slots.offsets, slots.scales])
        there, centers, n_listed = upload(np.array([grid]), table, np.zeros(1, np.uint32))
        arguments = (centers, len(slots), new_penalty, there, self._cells, self._lists)
        launch_blocks(
            self._grid_module.get_function("build_grid"),
            len(self._cells) // 256,
            (*arguments, n_listed, np.uint32(len(self._lists))),
        )
        is_shared = int(table.nbytes <= _SHARED_TABLE)
        return (there, self._cells, self._lists, centers, len(slots), new_penalty, is_shared)

    def read_grid(
        self, name: str, first: tuple[Any, ...], grid: tuple[Any, ...], *rest: Any
    ) -> None:
        """Run a kernel that reads the grid; it is given `first`, the grid and the rest."""
        n_slots, is_shared = grid[4], grid[6]
        block = 512 if name == "grid_cheapest" else THREADS
        launch_blocks(
            self._grid_module.get_function(name),
            min(-(-self._n // block), 4 * multiprocessors()),
            (*first, *grid, *rest),
            block=block,
            shared=n_slots * (self._d + 2) * 8 * is_shared,
        )

    def find(self, slots: Slots, new_penalty: float, wishes: Any, choose: Any) -> None:
        """Write the cheapest slot of every row to `wishes`, -1 where a new one is cheaper.

        `choose` compares listed rows with all slots, exactly.
        """
        if len(slots) == 0:
            wishes.fill(-1)
            return
        grid = self.grid(slots, new_penalty)
        if grid is not None:
            self.read_grid("grid_cheapest", (self._points, np.int64(self._n)), grid, wishes)
        elif not self._filter(slots, new_penalty, wishes, choose):
            self._compare_all(slots, new_penalty, wishes)

    def _compare_all(self, slots: Slots, new_penalty: float, wishes: Any) -> None:
        there = upload(slots.centers, slots.offsets, slots.scales)
        n_tile = max(1, min(len(slots), 96 * 1024 // (8 * self._d)))
        shape = (self._points, np.int64(self._n), self._d)
        launch_blocks(
            self.exact.get_function("cheapest"),
            min(-(-self._n // (256 if self._d < _FILTER_FEATURES else 64)), 8 * multiprocessors()),
            (*shape, *there, len(slots), n_tile, new_penalty, wishes),
            shared=min(n_tile * self._d * 8, shared_bytes()),
        )

    def _filter(self, slots: Slots, new_penalty: float, wishes: Any, choose: Any) -> bool:
        d, n_slots = self._d, -(-len(slots) // 16) * 16
        if d < _FILTER_FEATURES or len(slots) < _FILTER_SLOTS:
            return False
        stride = (self._kept * 16 if self._kept else -(-d // 16) * 16) + 8
        n_tile = min(n_slots, (shared_bytes() - 1024) // (2 * stride + 8) // 16 * 16)
        n_tile = n_tile if self._kept else min(n_tile, 208)
        if n_tile == 0:
            return False
        origin = slots.centers.mean(axis=0)
        there = upload(slots.centers, slots.offsets, slots.scales, origin, np.zeros(4, np.float32))
        centers, offsets, scales, origin, bounds = there
        rounded = cp.empty((n_slots, stride), np.uint16)
        base_scale = cp.empty((n_slots, 2), np.float32)
        launch_blocks(
            self._filter_module.get_function("prepare_slots"),
            n_slots,
            (centers, offsets, scales, origin, len(slots), d, stride, rounded, base_scale, bounds),
            block=32,
        )
        block = 512 if 0 < self._kept <= 4 else 256
        table = (d, origin, rounded, base_scale, n_slots, n_tile, stride, bounds)

        def run(name: str, n: int, *rest: Any) -> None:
            n_blocks = min(multiprocessors(), -(-n // (block if self._kept else block // 2)))
            kernel, shared = self._filter_module.get_function(name), n_tile * (2 * stride + 8)
            arguments = (self._points, np.int64(n), *table, *rest)
            launch_blocks(kernel, n_blocks, arguments, block=block, shared=shared)

        listed, limits = cp.empty(self._n, np.int32), cp.empty(self._n, np.float32)
        n_listed = cp.zeros(1, np.int32)
        run("filter", self._n, new_penalty, wishes, listed, limits, n_listed)
        n_doubtful = int(n_listed[0])
        if n_doubtful == 0:
            return True
        most, n_pairs = _PAIRS * n_doubtful + 2**16, cp.zeros(1, np.int32)
        pairs = cp.empty((most, 2), np.int32)
        run("filter_again", n_doubtful, listed, limits, len(slots), pairs, n_pairs, most)
        if int(n_pairs[0]) > most:
            wishes[listed[:n_doubtful]] = choose(listed[:n_doubtful])
        else:
            costs = (centers, offsets, scales)
            self._settle(listed, n_doubtful, pairs, n_pairs, costs, new_penalty, wishes)
        return True

    def _settle(
        self,
        listed: Any,
        n_listed: int,
        pairs: Any,
        n_pairs: Any,
        table: tuple[Any, ...],
        new_penalty: float,
        wishes: Any,
    ) -> None:
        """Compare rows in doubt with the slots that remain for them, exactly."""
        n, kernel = int(n_pairs[0]), self.exact.get_function
        costs, lowest = cp.empty(n, np.uint64), cp.full(n_listed, 2**64 - 1, np.uint64)
        slots = cp.full(n_listed, 2**31 - 1, np.int32)
        arguments = (self._points, self._d, listed, pairs, n_pairs, *table, costs, lowest)
        launch(kernel("cost_pairs"), 8 * n, arguments)
        launch(kernel("choose_pairs"), n, (pairs, n_pairs, costs, lowest, slots))
        launch(
            kernel("take_pairs"), n_listed, (listed, n_listed, lowest, slots, new_penalty, wishes)
        )


def _place_grid(slots: Slots, new_penalty: float, n_side: int) -> Any:
    """Cover every place within reach of a center; None where cells would be lost in rounding."""
    reach = np.sqrt(new_penalty / slots.scales.min()) * 1.001
    low, high = slots.centers.min(axis=0) - reach, slots.centers.max(axis=0) + reach
    width = float((high - low).max()) / n_side * (1.0 + 1e-9)
    spacing = np.spacing(np.abs(np.concatenate([low, high])).max())
    if not (1e-140 < width < 1e140 and width * 1e-6 > 16.0 * spacing):
        return None
    grid = np.zeros((), dtype=_GRID)
    grid["origin"][: len(low)] = low
    grid["width"], grid["inverse"], grid["n_side"] = width, 1.0 / width, n_side
    return grid
