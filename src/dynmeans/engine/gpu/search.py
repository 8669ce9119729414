"""The cheapest slot of every row, by whichever way is fastest for the shape; all are exact."""

import math
from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.slots import Slots
from dynmeans.engine.gpu.kernels import (
    count_of,
    launch,
    launch_blocks,
    load_module,
    multiprocessors,
    shared_bytes,
    upload,
)

_GRID = np.dtype(
    [("origin", "f8", 3), ("width", "f8"), ("inverse", "f8"), ("n_side", "i4"), ("unused", "i4")]
)
_GRID_SLOTS = 4  # Below, comparing all is as fast.
_COARSE_SLOTS = 400  # up to which a grid of fewer cells, which stays in the cache, is as good
_FILTER_SLOTS, _FILTER_FEATURES = 32, 4
SMALL_N_FEATURES = 16  # below, one thread holds a row
_REGISTER_FEATURES, _FILTER_REGISTER_FEATURES = 64, 128
_QUICK_TERMS = 2**28  # of distances
_HELD_THREADS = 512  # of a block that filters rows of up to 64 features
_NAMED_SLOTS = 2048  # that a filter can tell apart by the last bits of a cost
_SIDES = {
    1: (1024, 8192),
    2: (256, 1024),
    3: (32, 96),
}  # cells along each, of coarse and fine grids
_OWN_SHARED = 2**15  # bytes of shared memory that kernels of the grid have beside a table, and more
_LIST_SHARED = 2**14  # bytes that kernels of a filter have beside their slots, and more
_PAIRS = 8  # slots that remain for a row in doubt, on the average
_DOUBTFUL = 2**24  # rows in doubt at a time: their pairs must be counted in 32 bits


def choosing_threads(n_features: int) -> int:
    """Return how many threads look for the choice of one row."""
    return 8 if n_features < SMALL_N_FEATURES else 32


def load_exact(n_features: int, row: str, family: str = "exact") -> Any:
    """Load the kernels of exact costs, of births, or of pairs."""
    held = -(-n_features // 8) if n_features <= _REGISTER_FEATURES else 0
    few = n_features if n_features < SMALL_N_FEATURES else 0
    return load_module(family, row, R=held, FEW=few)


class Search:
    """Looks up the cheapest of some slots for the rows of one batch."""

    def __init__(self, blocks: Blocks, row: str) -> None:
        self._blocks, self._points = blocks, blocks.points
        self._n, self._d = self._points.shape
        self._row = row
        self._tables: list[tuple[Slots, list[Any]]] = []
        self.exact = load_exact(self._d, row)
        if self._d <= 3:
            self._block = 1024 if self._d < 3 else 512
            self._grid_module = load_module("grid", row, D=self._d)
            few, many = _SIDES[self._d]
            self._sides = (few, many if self._n > 2**20 else few)
            self._cells = cp.empty(max(self._sides) ** self._d, np.uint32)
            self._lists = cp.empty(max(2**20, 4 * len(self._cells)), np.int32)
        else:
            self._kept = -(-self._d // 32) * 2 if self._d <= _FILTER_REGISTER_FEATURES else 0

    @property
    def births(self) -> Any:
        """The kernels of births, compiled on first access."""
        return load_exact(self._d, self._row, "births")

    def table(self, slots: Slots) -> list[Any]:
        """Return centers, offsets and scales on the device; those of the last two are kept."""
        for known, table in self._tables:
            if known is slots:
                return table
        table = upload(slots.centers, slots.offsets, slots.scales)
        self._tables = [(slots, table), *self._tables[:1]]
        return table

    def grid(self, slots: Slots, new_penalty: float, margins: Any = None) -> tuple[Any, ...] | None:
        """Build the grid of these slots: what its kernels take, or None where it is of no use.

        With `margins`, on the device, for as long as every center stays within its own.
        """
        if self._d > 3 or len(slots) < _GRID_SLOTS:
            return None
        n_side = self._sides[len(slots) > _COARSE_SLOTS]
        grid = _place_grid(slots, new_penalty, n_side)
        if grid is None:
            return None
        table = np.empty((len(slots), self._d + 2))
        table[:, :-2], table[:, -2], table[:, -1] = slots.centers, slots.offsets, slots.scales
        there, centers, n_listed = upload(np.array([grid]), table, np.zeros(1, np.uint32))
        arguments = (centers, len(slots), new_penalty, there, margins, self._cells, self._lists)
        launch_blocks(
            self._grid_module.get_function("build_grid"),
            n_side**self._d // 256,
            (*arguments, n_listed, np.uint32(len(self._lists))),
        )
        is_near = int(table.nbytes <= shared_bytes() - _OWN_SHARED)
        return (there, self._cells, self._lists, centers, len(slots), new_penalty, is_near)

    def read_grid(
        self, name: str, first: tuple[Any, ...], grid: tuple[Any, ...], *rest: Any
    ) -> None:
        """Run a kernel of the grid over all rows: it takes them, `first`, the grid and the rest."""
        for stretch in self._stretches(None, self._n):
            self._read_grid(name, stretch, (*first, *grid, *rest), grid)

    def _read_grid(
        self, name: str, rows: tuple[Any, ...], arguments: tuple[Any, ...], grid: tuple[Any, ...]
    ) -> None:
        n_slots, is_near = grid[4], grid[6]
        block = self._block
        launch_blocks(
            self._grid_module.get_function(name),
            min(-(-int(rows[2] - rows[1]) // block), multiprocessors()),
            (*rows, *arguments),
            block=block,
            shared=n_slots * (self._d + 2) * 8 * is_near,
        )

    def _stretches(self, rows: Any, n: int) -> Iterator[tuple[Any, ...]]:
        """Yield where the listed rows lie, or all, one block after the other, and their numbers."""
        if rows is not None:
            yield self._points, np.int64(0), np.int64(n)
            return
        for points, begin, end in self._blocks:
            yield points, np.int64(begin), np.int64(end)

    def find(
        self,
        slots: Slots,
        new_penalty: float,
        wishes: Any,
        choose: Any,
        rows: Any = None,
        bounds: Bounds | None = None,
    ) -> bool:
        """Write the cheapest slot of all rows, or of those listed, to `wishes`; -1 for a new one.

        `choose` compares listed rows with all slots, exactly. Returns whether `bounds` of these
        rows were written.
        """
        n = self._n if rows is None else len(rows)
        if len(slots) == 0:
            wishes.fill(-1)
            return False
        grid = self.grid(slots, new_penalty)
        if grid is not None:
            for stretch in self._stretches(rows, n):
                self._read_grid("grid_cheapest", stretch, (rows, *grid, wishes), grid)
            return False
        is_wide = self._d >= _FILTER_FEATURES and len(slots) >= _FILTER_SLOTS
        if is_wide and not self.is_quick(len(slots)):
            return self._filter(slots, new_penalty, wishes, choose, rows, bounds)
        self._compare_all(slots, new_penalty, wishes, choose, rows)
        return False

    def is_quick(self, n_slots: int) -> bool:
        """Return whether computing all distances is faster than preparing a filter."""
        n_terms = int(self._n * n_slots * self._d)
        return _FILTER_FEATURES <= self._d < SMALL_N_FEATURES and n_terms <= _QUICK_TERMS

    def _compare_all(
        self, slots: Slots, new_penalty: float, wishes: Any, choose: Any, rows: Any
    ) -> None:
        there, n = self.table(slots), len(wishes)
        if 8 * self._d > shared_bytes():
            wishes[:] = choose(cp.arange(n, dtype=np.int32) if rows is None else rows)
            return
        n_tile = max(1, min(len(slots), 96 * 1024 // (8 * self._d)))
        for stretch in self._stretches(rows, n):
            launch_blocks(
                self.exact.get_function("cheapest"),
                min(-(-n // (256 if self._d < SMALL_N_FEATURES else 64)), 8 * multiprocessors()),
                (*stretch, rows, self._d, *there, len(slots), n_tile, new_penalty, wishes),
                shared=n_tile * self._d * 8,
            )

    def _filter(
        self,
        slots: Slots,
        new_penalty: float,
        wishes: Any,
        choose: Any,
        rows: Any,
        bounds: Bounds | None,
    ) -> bool:
        run, n = self._prepare_filter(slots, rows), len(wishes)
        if run is None:
            self._compare_all(slots, new_penalty, wishes, choose, rows)
            return False
        counts, listed = cp.zeros(2, np.int32), cp.empty(n, np.int32)
        limits, floors = cp.empty((2, n), np.float32)
        bound = (None, 0.0) if bounds is None else (bounds.values, bounds.drift)
        found_by = (new_penalty, *bound, wishes, listed, limits, floors, counts[:1])
        for stretch in self._stretches(rows, n):
            run("filter", stretch, *found_by)
        n_doubtful, n_pairs = count_of(counts), counts[1:]
        for start in range(0, n_doubtful, _DOUBTFUL):
            part = slice(start, min(start + _DOUBTFUL, n_doubtful))
            doubtful, n_here = listed[part], part.stop - start
            if start:
                n_pairs.fill(0)
            by = (doubtful, limits[part], None)
            pairs, n_kept = self._list_pairs(run, n_here, by, len(slots), n_pairs)
            if pairs is None:
                wishes[doubtful] = choose(doubtful if rows is None else rows[doubtful])
                continue
            found, asked = (pairs, n_pairs, n_kept), (rows, doubtful, n_here)
            costs = self._pair_costs(asked, found, tuple(self.table(slots)))
            arguments = (*asked, *costs, floors[part], new_penalty, *bound, wishes)
            launch(self._pairs("take_pairs"), n_here, arguments)
        return bounds is not None

    def pairs_within(self, slots: Slots, rows: Any, lengths: Any) -> Any:
        """List pairs of a place in `rows` and a slot the root of whose cost may be within a length.

        None where a filter is of no use, or where they are too many.
        """
        run, n = self._prepare_filter(slots, rows), len(rows)
        if run is None or n > _DOUBTFUL:
            return None
        by, n_pairs = (None, None, lengths), cp.zeros(1, np.int32)
        pairs, n_kept = self._list_pairs(run, n, by, len(slots), n_pairs)
        return None if pairs is None else pairs[:n_kept]

    def _prepare_filter(self, slots: Slots, rows: Any) -> Any:
        """Round the slots for tensor cores; return what runs a filter, None if they do not fit."""
        d, n_slots = self._d, -(-len(slots) // 16) * 16
        stride = (self._kept * 16 if self._kept else -(-d // 16) * 16) + 8
        n_tile = min(
            n_slots, _NAMED_SLOTS, (shared_bytes() - _LIST_SHARED) // (2 * stride + 8) // 16 * 16
        )
        n_tile = n_tile if self._kept else min(n_tile, 208)
        if n_tile == 0:
            return None
        is_plain = int((slots.scales == 1.0).all())
        module = load_module("filter", self._row, KC=self._kept, PLAIN=is_plain)
        origin, largest = upload(slots.centers.mean(axis=0), np.zeros(4, np.float32))
        rounded = cp.empty((n_slots, stride), np.uint16)
        base_scale = cp.empty((n_slots, 2), np.float32)
        exact = (*self.table(slots), origin, len(slots), d, stride)
        launch_blocks(
            module.get_function("prepare_slots"),
            n_slots,
            (*exact, rounded, base_scale, largest),
            block=32,
        )
        block = _HELD_THREADS if 0 < self._kept <= 4 else 256
        table = (d, origin, rounded, base_scale, n_slots, n_tile, stride, largest)

        def run(name: str, stretch: tuple[Any, ...], *rest: Any) -> None:
            n_here = int(stretch[2] - stretch[1])
            n_blocks = min(multiprocessors(), -(-n_here // (block if self._kept else block // 2)))
            kernel, shared = module.get_function(name), n_tile * (2 * stride + 8)
            arguments = (*stretch, rows, *table, *rest)
            launch_blocks(kernel, n_blocks, arguments, block=block, shared=shared)

        return run

    def _list_pairs(
        self, run: Any, n: int, by: tuple[Any, ...], n_slots: int, n_pairs: Any
    ) -> tuple[Any, int]:
        """List pairs of a place in a list of n rows and a slot up to its limit; None if too many.

        `by` are the list, the limits, and lengths instead of these.
        """
        most = _PAIRS * n + 2**16
        pairs, few = cp.empty((most, 2), np.int32), (self._points, np.int64(0), np.int64(n))
        run("filter_again", few, *by, n_slots, pairs, n_pairs, most)
        n_kept = count_of(n_pairs)
        return (pairs, n_kept) if n_kept <= most else (None, n_kept)

    def _pairs(self, name: str) -> Any:
        return load_exact(self._d, self._row, "pairs").get_function(name)

    def _pair_costs(
        self, doubtful: tuple[Any, ...], found: tuple[Any, ...], table: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Compare rows in doubt with the slots that remain: lowest and second cost, and slot."""
        (rows, listed, n_listed), (pairs, n_pairs, n) = doubtful, found
        kernel, costs = self._pairs, cp.empty(n, np.uint64)
        lowest, second = cp.full((2, n_listed), 2**64 - 1, np.uint64)
        slots = cp.full(n_listed, 2**31 - 1, np.int32)
        arguments = (self._points, rows, self._d, listed, pairs, n_pairs, *table, costs, lowest)
        launch(kernel("cost_pairs"), 8 * n, arguments)
        launch(kernel("choose_pairs"), n, (pairs, n_pairs, costs, lowest, slots))
        launch(kernel("second_pairs"), n, (pairs, n_pairs, costs, slots, second))
        return lowest, second, slots


def _place_grid(slots: Slots, new_penalty: float, n_side: int) -> Any:
    """Cover every place within reach of a center; None where cells would be lost in rounding."""
    reach = math.sqrt(new_penalty / slots.scales.min()) * 1.001
    columns = np.ascontiguousarray(slots.centers.T)
    low, high = columns.min(axis=1) - reach, columns.max(axis=1) + reach
    width = float((high - low).max()) / n_side * (1.0 + 1e-9)
    spacing = np.spacing(max(abs(low.min()), abs(high.max())))
    if not (1e-140 < width < 1e140 and width * 1e-6 > 16.0 * spacing):
        return None
    grid = np.zeros((), dtype=_GRID)
    grid["origin"][: len(low)] = low
    grid["width"], grid["inverse"], grid["n_side"] = width, 1.0 / width, n_side
    return grid
