"""The rows of a batch on a device, answering by kernels what the passes ask."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.bins import BatchBins, Magnitudes
from dynmeans.engine.gpu.bounds import Bounds
from dynmeans.engine.gpu.device_orders import DeviceOrder
from dynmeans.engine.gpu.event_log import OPEN_NEW, Choosers
from dynmeans.engine.gpu.kernels import launch, launch_blocks, load_module, upload
from dynmeans.engine.gpu.near import near_versions
from dynmeans.engine.gpu.rows import Compared, Listed
from dynmeans.engine.gpu.search import FEW_FEATURES, MOST_BINS, Search
from dynmeans.engine.gpu.slot_sums import SlotSums
from dynmeans.engine.gpu.slots import BoolArray, Slots, Versions
from dynmeans.engine.gpu.turns import TURN, TurnArray
from dynmeans.records.arrays import FloatArray, IntArray

_WINDOWS = (2**12, 2**16, 2**22)  # rows that end the stretches of a first pass
_FEW_TERMS = 2**27  # of distances that are computed faster than a search is prepared
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
        self._bounds = Bounds(self.n_points)

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
        self._bounds.forget()
        self.labels.fill(-1)

    def window_limits(self) -> list[int]:
        """Return the keys that end the stretches of a first pass, but for the last."""
        n = self.n_points
        return [self._order.n_keys * m // n for m in _WINDOWS if 4 * m < n]

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

    def cheapest(self, listed: Listed, slots: Slots, new_penalty: float) -> Listed:
        """Return the cheapest of these slots for each listed row, or OPEN_NEW."""
        if len(listed) * len(slots) * self.n_features <= _FEW_TERMS:
            return self.choose(listed, None, Versions.frozen(slots), new_penalty)
        choices = cp.empty(len(listed), np.int32)
        self._find(slots, new_penalty, choices, listed)
        return choices

    def open_in_order(self, listed: Listed, new_penalty: float) -> IntArray:
        """Visit the listed rows in that order, one by one; return the places of those that open."""
        n = len(listed)
        if n == 0:
            return np.empty(0, np.int64)
        n_words, is_few = -(-n // 32), self.n_features < FEW_FEATURES
        bits, found = cp.zeros((n, n_words), np.uint32), cp.empty(n + 1, np.int32)
        kernel = self._search.exact.get_function
        launch_blocks(
            kernel("near_pairs"),
            (-(-n_words // 8) if is_few else n_words, -(-n // 128)),
            (self.values, self.n_features, listed, n, n_words, new_penalty, bits),
            shared=0 if is_few else 8 * self.n_features,
        )
        arguments = (bits, n, n_words, found[1:], found[:1])
        launch_blocks(kernel("open_in_order"), 1, arguments, block=32)
        places = found.get()
        opened: IntArray = places[1 : 1 + places[0]].astype(np.int64)
        return opened

    def nowhere(self, n: int) -> Listed:
        """Return OPEN_NEW for so many rows."""
        return cp.full(n, OPEN_NEW, np.int32)

    def proposing(self, listed: Listed, choices: Listed, is_dormant: BoolArray) -> Listed:
        """List those that chose to open or revive a cluster, in no order."""
        dormant, n_listed = upload(is_dormant.view(np.uint8), np.zeros(1, np.int32))
        n, found = len(listed), cp.empty(len(listed), np.int32)
        arguments = (listed, choices, n, self.labels, dormant, None, 0, found, n_listed)
        launch(self._kernel("find_choosers"), n, arguments)
        return listed[found[: int(n_listed[0])]]

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
        is_dormant, n_listed = upload(slots.is_dormant.view(np.uint8), np.zeros(1, np.int32))
        rest = (self.weights, np.uint64(low))
        grid = self._search.grid(slots, new_penalty)
        if grid is not None:
            first = (self.values, self._n, *self._key, *rest)
            found = (is_dormant, self.labels, self._list, n_listed)
            self._search.read_grid("grid_label", first, grid, *found)
            return self._listed(n_listed)
        is_bounded = self._find(slots, new_penalty, self._wishes, bounds=self._bounds)
        bounds = self._bounds.values if is_bounded else None
        arguments = (self._n, *self._key, *rest, self._wishes, is_dormant, self.labels, self._list)
        launch(self._kernel("label_rest"), self.n_points, (*arguments, n_listed, bounds))
        listed = self._listed(n_listed)
        if is_bounded and len(listed) == 0:
            self._bounds.renew(slots)
        return listed

    def label_born(self, born: IntArray, n_start: int) -> None:
        """Label the rows that opened clusters, in the order of these."""
        if len(born):
            at, numbers = upload(born, (n_start + np.arange(len(born))).astype(np.int32))
            self.labels[at] = numbers

    def set_labels(self, listed: Listed, choices: Listed, slots: IntArray) -> None:
        """Label the rows by the slots of the versions they chose, but for those that open one."""
        n, numbers = len(listed), cp.asarray(slots.astype(np.int32))
        launch(self._kernel("relabel"), n, (listed, choices, n, numbers, self.labels, None, None))

    def labels_of(self, listed: Listed) -> Listed:
        """Return the labels of some rows."""
        return self.labels[listed]

    def drawn(self, opened: Slots, start: Slots, low: int, new_penalty: float) -> Listed:
        """List rows of a label from key `low` on that may prefer one of `opened` to their own."""
        n_listed, least = cp.zeros(1, np.int32), np.uint64(low)
        grid = self._search.grid(opened, new_penalty)
        if grid is not None:
            own = (self.labels, cp.asarray(start.centers))
            first = (self.values, self._n, *self._key, least, *own)
            self._search.read_grid("grid_drawn", first, grid, self._list, n_listed)
        else:
            self._find(opened, new_penalty, self._wishes)
            arguments = (self._n, *self._key, least, self.labels, self._wishes)
            launch(self._kernel("list_wishes"), self.n_points, (*arguments, self._list, n_listed))
        return self._listed(n_listed)

    def begin_events(self, listed: Listed) -> None:
        """Let these rows count as listed and no others; events are about to be settled."""
        if self._is_listed is None:
            self._is_listed = cp.empty(self.n_points, np.uint8)
        self._is_listed.fill(0)
        self._is_listed[listed] = 1
        self._bounds.forget()

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
        arguments = (*rows, *self._turn, *there, self._wishes, n_listed)
        width = 1 if self.n_features < FEW_FEATURES else 8
        launch(self._search.exact.get_function("followers"), width * self.n_points, arguments)
        return self._wishes[: int(n_listed[0])].copy()

    def join(self, first: Listed, second: Listed) -> Listed:
        """Put two lists together."""
        return cp.concatenate([first, second])

    def compare(self, slots: Slots, new_penalty: float) -> Compared:
        """Look at every row beside these slots; the lists are good until the next look."""
        n_bins, n_slots = len(self._bins.costs), len(slots)
        found = cp.zeros(n_bins + 2 * n_slots + 2)  # bins; rows that want to move; their counts
        within, n_moved = found[:n_bins], found[n_bins : n_bins + 1].view(np.int32)
        counts = found[n_bins + 1 :].view(np.uint64)
        moved = (self._list, self._codes, n_moved)
        grid = self._search.grid(slots, new_penalty) if n_bins <= MOST_BINS else None
        if grid is not None:
            labeled = (self.values, self._n, self.weights, self.labels)
            rest = (self._cost_shifts, within, *moved)
            self._search.read_grid("grid_compare", labeled, grid, *rest)
        elif self._bounds.follow(slots):
            self._compare_doubtful(slots, new_penalty, within, moved)
        else:
            is_bounded = self._find(slots, new_penalty, self._wishes, bounds=self._bounds)
            if is_bounded:
                self._bounds.renew(slots)
            self._own_costs(slots, new_penalty, (self._wishes, None, 0.0), within, moved)
        self._count(self._list, self._codes, (0, n_moved), n_slots, counts)
        sums = found.get()
        n = int(sums[n_bins : n_bins + 1].view(np.int32)[0])
        tally = sums[n_bins + 1 :].view(np.int64)
        lists = (self._list[:n], self._codes[:n])
        return Compared(sums[:n_bins], *lists, tally[:n_slots], tally[n_slots:])

    def _compare_doubtful(
        self, slots: Slots, new_penalty: float, within: Any, moved: tuple[Any, ...]
    ) -> None:
        """Compare only the rows that their bounds do not settle."""
        n_listed, bounds = cp.zeros(1, np.int32), self._bounds
        by = (None, bounds.values, bounds.drift)
        self._own_costs(slots, new_penalty, by, within, (self._wishes, None, n_listed))
        doubtful = self._wishes[: int(n_listed[0])]
        if len(doubtful) == 0:
            return
        wishes = cp.empty(len(doubtful), np.int32)
        if not self._find(slots, new_penalty, wishes, doubtful, bounds):
            bounds.values[doubtful] = 0.0
        arguments = (doubtful, len(doubtful), self.labels, wishes, *moved)
        launch(self._kernel("list_moves"), len(doubtful), arguments)

    def _own_costs(
        self,
        slots: Slots,
        new_penalty: float,
        found_by: tuple[Any, ...],
        within: Any,
        listed: tuple[Any, ...],
    ) -> None:
        rows = (self.values, self._n, self.n_features, self.weights, self.labels, *found_by)
        bins = (self._cost_shifts, len(self._bins.costs), within)
        arguments = (*rows, new_penalty, self._search.table(slots)[0], *bins, *listed)
        launch(self._search.exact.get_function("own_costs"), 2 * self.n_points, arguments)

    def count_moves(
        self, listed: Listed, choices: Listed, n_choices: int
    ) -> tuple[IntArray, IntArray]:
        """Count rows that leave each slot, and that join each version; the last is OPEN_NEW."""
        counts = cp.zeros(2 * n_choices + 1, np.uint64)
        self._count(listed, choices, (len(listed), None), n_choices, counts)
        found = counts.get().astype(np.int64)
        return found[:n_choices], found[n_choices:]

    def _count(
        self, listed: Listed, choices: Listed, n: tuple[int, Any], n_choices: int, counts: Any
    ) -> None:
        n_counts, most = 2 * n_choices + 1, n[0] if n[1] is None else self.n_points
        is_shared = int(n_counts <= _SHARED_COUNTS)
        arguments = (listed, choices, *n, self.labels, n_choices, is_shared, counts)
        shared = 4 * n_counts * is_shared
        launch(self._kernel("count_moves"), min(-(-most // 16), 2**17), arguments, shared=shared)

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
        self, listed: Listed, choices: Listed, slots: IntArray | None, n_slots: int
    ) -> None:
        """Label the rows by the slots of their choices, and move them between the sums."""
        n, numbers = len(listed), None if slots is None else cp.asarray(slots.astype(np.int32))
        before, after = cp.empty((2, n), np.int32)
        arguments = (listed, choices, n, numbers, self.labels, before, after)
        launch(self._kernel("relabel"), n, arguments)
        self._sums.move(listed, before, after, n_slots)

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

    def _find(
        self,
        slots: Slots,
        new_penalty: float,
        wishes: Any,
        listed: Listed | None = None,
        bounds: Bounds | None = None,
    ) -> bool:
        """Write the cheapest slots of the listed rows, or of all; say whether `bounds` are too."""
        frozen = Versions.frozen(slots)
        return self._search.find(
            slots,
            new_penalty,
            wishes,
            lambda rows: self.choose(rows, None, frozen, new_penalty),
            listed,
            bounds,
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
