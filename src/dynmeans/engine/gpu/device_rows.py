"""The rows of a batch on a device, answering by kernels what the passes ask."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.bins import BatchBins, Magnitudes
from dynmeans.engine.gpu.device_orders import DeviceOrder
from dynmeans.engine.gpu.event_log import OPEN_NEW, Choosers
from dynmeans.engine.gpu.kernels import launch, load_module, upload
from dynmeans.engine.gpu.near import near_versions
from dynmeans.engine.gpu.rows import Listed
from dynmeans.engine.gpu.search import MOST_BINS, Search
from dynmeans.engine.gpu.slot_sums import SlotSums
from dynmeans.engine.gpu.slots import BoolArray, Slots, Versions
from dynmeans.engine.gpu.turns import TURN, TurnArray
from dynmeans.records.arrays import FloatArray, IntArray

_WINDOWS = (2**10, 2**13, 2**16)  # rows that end the stretches of a first pass
_SHARED_COUNTS = 6000  # counters that fit into shared memory twice


class DeviceRows:
    """Rows, weights, visiting order, labels and sums of one batch, on a device."""

    def __init__(self, points: Any, weights: Any) -> None:
        self.values, self.weights = points, weights
        self.n_points, self.n_features = points.shape
        self.row = "double" if points.dtype == np.float64 else "float"
        self._n = np.int64(self.n_points)
        self._module = load_module("rows", self.row)
        self._search = Search(points, self.row)
        self._sums = SlotSums(points, weights, self.row)
        self.labels = cp.empty(self.n_points, np.int32)
        self._wishes, self._list, self._codes = (cp.empty_like(self.labels) for _ in range(3))
        self._is_listed: Any = None

    def magnitudes(self) -> Magnitudes:
        """Return the largest coordinates and the range of the weights."""
        farthest = cp.zeros(self.n_features, np.uint64)
        heavy = cp.array([2**64 - 1, 0], dtype=np.uint64)
        arguments = (self.values, self._n, self.n_features, self.weights, farthest, heavy)
        launch(self._kernel("magnitudes"), self.values.size, (*arguments, cp.zeros(1, np.int32)))
        most = farthest.get().view(np.float64)
        if self.weights is None:
            return Magnitudes(most, 1.0, 1.0)
        lightest, heaviest = heavy.get().view(np.float64)
        return Magnitudes(most, float(lightest), float(heaviest))

    def start(self, order: DeviceOrder, bins: BatchBins) -> None:
        """Begin a run: this order, no labels, no sums."""
        self._order, self._bins = order, bins
        self._key = (order.keys, np.uint64(order.seed))
        self._turn = (*self._key, order.ties)
        self._sums.start(bins)
        self._search.set_bins(len(bins.costs))
        self._cost_shifts = cp.asarray(bins.costs)
        self.labels.fill(-1)

    def window_limits(self) -> list[int]:
        """Return the keys that end the stretches of a first pass, but for the last."""
        n = self.n_points
        return [self._order.n_keys * m // n for m in _WINDOWS if 2 * m < n]

    def select(self, low: int, high: int) -> Listed:
        """List the rows that take part and have a key from `low` to below `high`."""
        n_listed = cp.zeros(1, np.int32)
        limits = (np.uint64(low), np.uint64(high))
        arguments = (self._n, *self._key, self.weights, *limits, self._list, n_listed)
        launch(self._kernel("select_rows"), self.n_points, arguments)
        return self._listed(n_listed)

    def turns(self, listed: Listed) -> TurnArray:
        """Return the turns of some rows."""
        turns = np.zeros(len(listed), TURN)
        turns["row"] = rows = cp.asnumpy(listed)
        keys, seed, ties = self._turn
        turns["key"] = _mix(rows.astype(np.uint64) ^ seed) if keys is None else keys[listed].get()
        if ties is not None:
            turns["weight"] = ties[listed].get()
        return turns

    def points(self, numbers: IntArray) -> FloatArray:
        """Return some rows, as float64."""
        if len(numbers) == 0:
            return np.empty((0, self.n_features))
        found: FloatArray = self.values[cp.asarray(numbers)].get().astype(float)
        return found

    def choose(
        self, listed: Listed, base: Listed | None, versions: Versions, new_penalty: float
    ) -> Listed:
        """Return the cheapest version that each row sees at its turn, or OPEN_NEW."""
        there = upload(
            versions.slots.astype(np.int32),
            versions.centers,
            versions.offsets,
            versions.scales,
            versions.since,
            versions.until,
        )
        choices = cp.empty(len(listed), np.int32)
        rows = (self.values, self.n_features, listed, base, np.int64(len(listed)))
        counts = (versions.n_start, len(versions), new_penalty)
        arguments = (*rows, *self._turn, *there, *counts, choices, None)
        launch(self._search.exact.get_function("choose"), 8 * len(listed), arguments)
        return choices

    def proposing(self, listed: Listed, choices: Listed, is_dormant: BoolArray) -> Listed:
        """List those that chose to open or revive a cluster."""
        codes = cp.asarray(np.append(is_dormant, True))  # the last is OPEN_NEW
        return listed[codes[choices]]

    def at_birth(self, listed: Listed, choices: Listed, born: IntArray, n_start: int) -> Listed:
        """Return the choices, those of the rows that were `born` being the versions they opened."""
        at = cp.flatnonzero(choices == OPEN_NEW)
        order = np.argsort(born)
        rows, numbers = upload(born[order].astype(np.int32), (order + n_start).astype(np.int32))
        if len(born):
            choices[at] = numbers[cp.searchsorted(rows, listed[at])]
        return choices

    def take(self, listed: Listed, at: IntArray) -> Listed:
        """Return some entries of a list."""
        return listed[cp.asarray(at)]

    def in_memory(self, listed: Listed) -> IntArray:
        """Return a list as an array of NumPy."""
        found: IntArray = listed.get()
        return found

    def label_rest(self, slots: Slots, low: int, new_penalty: float) -> Listed:
        """Label the rows from key `low` on that find an active slot; list the others."""
        self._find(slots, new_penalty)
        is_dormant, n_listed = upload(slots.is_dormant.view(np.uint8), np.zeros(1, np.int32))
        found = (np.uint64(low), self._wishes, is_dormant, self.labels, self._list, n_listed)
        arguments = (self._n, *self._key, self.weights, *found)
        launch(self._kernel("label_rest"), self.n_points, arguments)
        return self._listed(n_listed)

    def set_labels(self, listed: Listed, choices: Listed, slots: IntArray) -> None:
        """Label the rows by the slots of the versions they chose."""
        n, numbers = len(listed), cp.asarray(slots.astype(np.int32))
        arguments = (listed, choices, n, numbers, self.labels, None, None, None, None)
        launch(self._kernel("relabel"), n, arguments)

    def labels_of(self, listed: Listed) -> Listed:
        """Return the labels of some rows."""
        return self.labels[listed]

    def changed(self, slots: Slots, low: int, new_penalty: float) -> Listed:
        """List rows of a label from key `low` on whose cheapest slot is another one."""
        self._find(slots, new_penalty)
        n_listed = cp.zeros(1, np.int32)
        arguments = (self._n, *self._key, np.uint64(low), self.labels, self._wishes)
        launch(self._kernel("list_changed"), self.n_points, (*arguments, self._list, n_listed))
        return self._listed(n_listed)

    def forget_listed(self) -> None:
        """Let every row count as not listed."""
        if self._is_listed is None:
            self._is_listed = cp.empty(self.n_points, np.uint8)
        self._is_listed.fill(0)

    def remember_listed(self, listed: Listed) -> None:
        """Let these rows count as listed."""
        self._is_listed[listed] = 1

    def followers(
        self, start: Slots, versions: Versions, extra: IntArray, new_penalty: float
    ) -> Listed:
        """List rows of a label, not listed yet, that may prefer a version to their own."""
        starts, near = near_versions(start, versions, extra, new_penalty)
        if len(near) == 0:
            return cp.empty(0, np.int32)
        *there, n_listed = upload(
            start.centers,
            starts,
            near,
            versions.centers,
            versions.offsets,
            versions.scales,
            versions.since,
            np.zeros(1, np.int32),
        )
        rows = (self.values, self._n, self.n_features, self.labels, self._is_listed)
        arguments = (*rows, *self._turn, *there, self._list, n_listed)
        launch(self._search.exact.get_function("followers"), 8 * self.n_points, arguments)
        return self._listed(n_listed)

    def join(self, first: Listed, second: Listed) -> Listed:
        """Put two lists together."""
        return cp.concatenate([first, second])

    def compare(self, slots: Slots, new_penalty: float) -> tuple[FloatArray, Listed, Listed]:
        """Return the sum of w |y - theta|^2 in bins, the rows that want to move, and where to."""
        n_bins = len(self._bins.costs)
        found = cp.zeros(n_bins + 1)  # the bins, and the number of rows that want to move
        within, n_moved = found[:n_bins], found[n_bins:].view(np.int32)
        bins = (self._cost_shifts, n_bins, within, self._list, self._codes, n_moved)
        rows = (self.values, self._n)
        grid = self._search.grid(slots, new_penalty) if n_bins <= MOST_BINS else None
        if grid is not None:
            labeled = (*rows, self.weights, self.labels)
            self._search.read_grid("grid_compare", labeled, grid, *bins)
        else:
            self._find(slots, new_penalty)
            found_by = (self.n_features, self.weights, self.labels, self._wishes)
            arguments = (*rows, *found_by, cp.asarray(slots.centers), *bins)
            kernel = self._search.exact.get_function("own_costs")
            launch(kernel, 2 * self.n_points, arguments)
        sums = found.get()
        n = int(sums[n_bins:].view(np.int32)[0])
        return sums[:n_bins], self._list[:n].copy(), self._codes[:n].copy()

    def count_moves(
        self, listed: Listed, choices: Listed, n_choices: int
    ) -> tuple[IntArray, IntArray]:
        """Count rows that leave each slot, and that choose each version; the last is OPEN_NEW."""
        n, n_counts = len(listed), 2 * n_choices + 1
        counts, is_shared = cp.zeros(n_counts, np.uint64), int(n_counts <= _SHARED_COUNTS)
        arguments = (listed, choices, n, self.labels, n_choices, is_shared, counts)
        kernel, shared = self._kernel("count_moves"), 4 * n_counts * is_shared
        launch(kernel, -(-n // 16), arguments, shared=shared)
        found = counts.get().astype(np.int64)
        return found[:n_choices], found[n_choices:]

    def choosers(
        self, listed: Listed, choices: Listed, versions: Versions, all_left: IntArray
    ) -> Choosers:
        """Return the rows that open or revive a cluster, leave or join one that all left."""
        has_left = np.zeros(versions.n_start, np.uint8)
        has_left[all_left] = 1
        dormant, has_left, n_listed = upload(
            versions.is_dormant.view(np.uint8), has_left, np.zeros(1, np.int32)
        )
        n, found = len(listed), cp.empty(len(listed), np.int32)
        flags = (dormant, has_left if len(all_left) else None, versions.n_start)
        arguments = (listed, choices, n, self.labels, *flags, found, n_listed)
        launch(self._kernel("find_choosers"), n, arguments)
        at = found[: int(n_listed[0])]
        rows = listed[at]
        labels, chosen = cp.stack([self.labels[rows], choices[at]]).get().astype(np.int64)
        return Choosers(self.turns(rows), labels, chosen)

    def relabel(
        self, listed: Listed, choices: Listed, slots: IntArray, n_slots: int
    ) -> tuple[IntArray, IntArray]:
        """Label the rows anew and move them between the sums; count who left and who joined."""
        n, numbers = len(listed), cp.asarray(slots.astype(np.int32))
        before, after = cp.empty((2, n), np.int32)
        counts = cp.zeros((2, n_slots), np.uint64)
        arguments = (listed, choices, n, numbers, self.labels, before, after, counts[0], counts[1])
        launch(self._kernel("relabel"), n, arguments)
        self._sums.move(listed, before, after, n_slots)
        left, joined = counts.get().astype(np.int64)
        return left, joined

    def sum_up(self, n_slots: int) -> IntArray:
        """Add all rows to the sums of their slots; return how many each has."""
        return self._sums.add_all(self.labels, n_slots, self._list)

    def keep_slots(self, is_kept: BoolArray) -> None:
        """Close the gaps that other slots leave, in the labels and the sums."""
        renamed = cp.asarray((np.cumsum(is_kept) - 1).astype(np.int32))
        launch(self._kernel("rename_labels"), self.n_points, (self._n, renamed, self.labels))
        self._sums.keep(is_kept)

    def totals(self) -> FloatArray:
        """Return the sums of each slot, rounded once."""
        return self._sums.totals()

    def _find(self, slots: Slots, new_penalty: float) -> None:
        frozen = Versions.frozen(slots)
        self._search.find(
            slots,
            new_penalty,
            self._wishes,
            lambda rows: self.choose(rows, None, frozen, new_penalty),
        )

    def _listed(self, n_listed: Any) -> Listed:
        return self._list[: int(n_listed[0])].copy()

    def _kernel(self, name: str) -> Any:
        return self._module.get_function(name)


def _mix(keys: Any) -> Any:
    with np.errstate(over="ignore"):
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return keys ^ (keys >> np.uint64(31))
