"""The rows of a batch on a device, against slots: the queries of passes, answered by kernels."""

from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.border import DeviceBorder
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.elkan_bound import near_versions
from dynmeans.engine.gpu.host.event_log import Choosers
from dynmeans.engine.gpu.host.rows import Compared, Listed
from dynmeans.engine.gpu.host.slots import BoolArray, RememberedSlots, Slots, Versions
from dynmeans.engine.gpu.host.turns import TURN
from dynmeans.engine.gpu.kernels import (
    count_of,
    download,
    launch,
    launch_blocks,
    shared_bytes,
    upload,
)
from dynmeans.engine.gpu.labeled_rows import LabeledRows
from dynmeans.engine.gpu.search import SMALL_N_FEATURES, choosing_threads
from dynmeans.records.arrays import FloatArray, IntArray

_SMALL_N_TERMS = 2**27  # of distances that are computed faster than a search is prepared
_SHARED_COUNTS = 6000  # counters that fit into shared memory twice
_MAX_LISTED = 3  # one row in so many may be in doubt before a border is held
_MAX_HELD, _FEW_HELD = 8, 2**18  # at a border: one row in so many, or so many of few
_SMALL_N_CHOOSERS = 1024  # that are told of with their number
_CHOOSER = np.dtype(
    [
        ("key", "u8"),
        ("tie", "u8"),
        *((name, "i4") for name in ("row", "place", "label", "choice")),
    ]
)
_TOGETHER = 4  # rows beside which others are compared together


class DeviceRows(LabeledRows):
    """Rows, weights, visiting order, labels and sums of one batch, on a device."""

    def choose(
        self, listed: Listed, base: Listed | None, versions: Versions, new_penalty: float
    ) -> Listed:
        """Return the cheapest version that each row sees at its turn, or OPEN_NEW."""
        n_start, choices = versions.n_start, cp.empty(len(listed), np.int32)
        slots, centers, *there = upload(
            versions.slots.astype(np.int32),
            versions.centers[n_start:],
            versions.offsets,
            versions.scales,
            versions.since,
            versions.until,
        )
        start = self._search.table(versions.start)[0]
        rows = (self.values, self.n_features, listed, base, np.int64(len(listed)))
        counts = (n_start, len(versions), new_penalty)
        arguments = (*rows, *self._turn, slots, start, centers, *there, *counts, choices, None)
        threads = choosing_threads(self.n_features) * len(listed)
        launch(self._search.exact.get_function("choose"), threads, arguments)
        return choices

    def cheapest(self, listed: Listed, slots: Slots, new_penalty: float) -> Listed:
        """Return the cheapest of these slots for each listed row, or OPEN_NEW."""
        if len(slots) == 0:
            return self.nowhere(len(listed))
        if len(listed) * len(slots) * self.n_features <= _SMALL_N_TERMS:
            return self.choose(listed, None, Versions.freeze(slots), new_penalty)
        choices = cp.empty(len(listed), np.int32)
        self._find(slots, new_penalty, choices, listed)
        return choices

    def open_in_order(self, listed: Listed, new_penalty: float) -> IntArray:
        """Visit the listed rows in that order, one by one; return those that open a cluster."""
        n = len(listed)
        if n == 0:
            return np.empty(0, np.int64)
        n_words, is_few = -(-n // 32), self.n_features < SMALL_N_FEATURES
        bits, found = cp.zeros((n, n_words), np.uint32), cp.empty(n + 1, np.int32)
        kernel = self._search.births.get_function
        shared = 0 if is_few else 8 * self.n_features * _TOGETHER
        is_shared = int(shared <= shared_bytes())
        launch_blocks(
            kernel("near_pairs"),
            (-(-n_words // 8) if is_few else n_words, -(-n // 128)),
            (self.values, self.n_features, listed, n, n_words, new_penalty, is_shared, bits),
            shared=shared * is_shared,
        )
        arguments = (bits, listed, n, n_words, found[1:], found[:1])
        launch_blocks(kernel("open_in_order"), 1, arguments, block=32)
        (rows,) = download(found)
        opened: IntArray = rows[1 : 1 + rows[0]].astype(np.int64)
        return opened

    def propose_moves(self, listed: Listed, choices: Listed, is_inactive: BoolArray) -> Listed:
        """List those that chose to open or revive a cluster, in no order."""
        dormant, n_listed = upload(is_inactive.view(np.uint8), np.zeros(1, np.int32))
        n, found = len(listed), cp.empty(len(listed), np.int32)
        launch(self._kernel("find_proposers"), n, (choices, n, dormant, found, n_listed))
        return listed[found[: count_of(n_listed)]]

    def label_rest(self, slots: Slots, low: int, new_penalty: float) -> Listed:
        """Label the rows from key `low` on that find an active slot; list the others."""
        is_inactive, n_listed = upload(slots.is_inactive.view(np.uint8), np.zeros(1, np.int32))
        rest = (self.weights, np.uint64(low))
        grid = self._search.grid(slots, new_penalty)
        if grid is not None:
            found = (is_inactive, self.labels, self._list, n_listed)
            self._search.read_grid("grid_label", (self._order.keys, *rest), grid, *found)
            return self._list_rows(n_listed)
        is_bounded = self._find(slots, new_penalty, self._wishes, bounds=self._bounds)
        bounds = self._bounds.values if is_bounded else None
        arguments = (
            self._n,
            self._order.keys,
            *rest,
            self._wishes,
            is_inactive,
            self.labels,
            self._list,
        )
        launch(self._kernel("label_rest"), self.n_points, (*arguments, n_listed, bounds))
        listed = self._list_rows(n_listed)
        if is_bounded and len(listed) == 0:
            self._bounds.renew(slots)
        return listed

    def attracted_rows(
        self, versions: Versions, start: Slots, low: int, new_penalty: float
    ) -> Listed:
        """Label rows from key `low` on that prefer the cheapest version that events added.

        Those for which it was not there at their turn may prefer another one: they are listed.
        """
        opened, slots, since = versions.added_slots()
        numbers, turns, n_listed = upload(slots.astype(np.int32), since, np.zeros(1, np.int32))
        own = self._search.table(start)[0]
        order = (*self._turn, np.uint64(low), own, numbers, turns)
        found = (self.labels, self._list, n_listed)
        grid = self._search.grid(opened, new_penalty)
        if grid is not None:
            self._search.read_grid("grid_attracted", order, grid, *found)
            return self._list_rows(n_listed)
        self._find(opened, new_penalty, self._wishes)
        rows = (self.values, self._n, self.n_features, *order, self._wishes)
        arguments = (*rows, *self._search.table(opened), *found)
        width = 1 if self.n_features < SMALL_N_FEATURES else 8
        launch(self._search.exact.get_function("label_attracted"), width * self.n_points, arguments)
        return self._list_rows(n_listed)

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
        labeled = (self.n_features, self.labels, self._is_listed)
        arguments = (*labeled, *self._turn, *there, self._wishes, n_listed)
        width = 1 if self.n_features < SMALL_N_FEATURES else 8
        kernel = self._search.exact.get_function("followers")
        for rows, n in self._stretches():
            launch(kernel, width * n, (*rows, *arguments))
        return self._wishes[: count_of(n_listed)].copy()

    def compare(self, slots: Slots, new_penalty: float) -> Callable[[], Compared]:
        """Begin to look at every row against these slots; return what waits for the answer."""
        n_slots = len(slots)
        found = cp.zeros(2 * n_slots + 2)  # how many rows want to move, and from where and where to
        n_moved, counts = found[:1].view(np.int32), found[1:].view(np.uint64)
        moved = (self._list, self._codes, n_moved)
        grid = self._search.grid(slots, new_penalty)
        if grid is not None:
            self._search.read_grid("grid_compare", (self.labels,), grid, *moved)
        elif self._bounds.follow(slots):
            self._compare_doubtful(slots, new_penalty, moved)
        else:
            if self._find(slots, new_penalty, self._wishes, bounds=self._bounds):
                self._bounds.renew(slots)
            rows = (None, self._n, self.labels, self._wishes)
            launch(self._kernel("list_moves"), self.n_points, (*rows, *moved))
        self._count(self._list, self._codes, (0, n_moved), n_slots, counts)
        return lambda: self._compare_slots(found, n_slots)

    def open_border(
        self,
        slots: Slots,
        n_members: IntArray,
        memory: RememberedSlots,
        new_penalty: float,
        margins: FloatArray,
    ) -> DeviceBorder | None:
        """Hold the rows that may change their slot while every center stays within its margin."""
        if not DeviceBorder.suits(len(slots), self.n_features, new_penalty):
            return None
        border = DeviceBorder(self, slots, n_members, memory, new_penalty, margins)
        most, n_listed = max(self.n_points // _MAX_HELD, _FEW_HELD), cp.zeros(1, np.int32)
        grid = self._search.grid(slots, new_penalty, border.margins)
        if grid is not None:
            beside, found = (self.labels, border.margins), (self._list, n_listed)
            self._search.read_grid("grid_border", beside, grid, *found)
            listed = self._list[: count_of(n_listed)]
            return border if border.hold_near(listed, most, None) else None
        if self._search.is_quick(len(slots)):
            self._bounds.forget()
            return border if border.hold_near(None, most, None) else None
        if not self._bounds.follow(slots):
            return None
        self._own_costs(slots, 0.0, border.falls, (self._list, n_listed))
        n = count_of(n_listed)
        if not 0 < n <= max(self.n_points // _MAX_LISTED, _FEW_HELD):
            return None
        listed = self._list[:n]
        if self.n_features < SMALL_N_FEATURES:
            is_held = border.hold_near(listed, most, self._bounds.values)
        else:
            is_held = border.hold_in_doubt(listed, most, self._search, self._bounds)
        return border if is_held else None

    def _compare_slots(self, found: Any, n_slots: int) -> Compared:
        (counts,) = download(found)
        n, tally = int(counts[:1].view(np.int32)[0]), counts[1:].view(np.int64)
        return Compared(self._list[:n], self._codes[:n], tally[:n_slots], tally[n_slots:])

    def _compare_doubtful(self, slots: Slots, new_penalty: float, moved: tuple[Any, ...]) -> None:
        """Compare only the rows that their bounds do not settle."""
        n_listed, bounds = cp.zeros(1, np.int32), self._bounds
        self._own_costs(slots, new_penalty, (None, None), (self._wishes, n_listed))
        doubtful = self._wishes[: count_of(n_listed)]
        if len(doubtful) == 0:
            return
        wishes = cp.empty(len(doubtful), np.int32)
        if not self._find(slots, new_penalty, wishes, doubtful, bounds):
            bounds.values[doubtful] = 0.0
        arguments = (doubtful, np.int64(len(doubtful)), self.labels, wishes, *moved)
        launch(self._kernel("list_moves"), len(doubtful), arguments)

    def _own_costs(
        self,
        slots: Slots,
        new_penalty: float,
        falls: tuple[Any, ...],
        listed: tuple[Any, ...],
    ) -> None:
        """List the rows that their bounds do not settle."""
        by = (self.n_features, self.labels, self._bounds.values, self._bounds.drift, *falls)
        arguments = (*by, new_penalty, self._search.table(slots)[0], *listed)
        kernel = self._search.exact.get_function("own_costs")
        for rows, n in self._stretches():
            launch(kernel, 2 * n, (*rows, *arguments))

    def count_moves(
        self, listed: Listed, choices: Listed, n_choices: int
    ) -> tuple[IntArray, IntArray]:
        """Count rows that leave each slot, and that join each version; the last is OPEN_NEW."""
        counts = cp.zeros(2 * n_choices + 1, np.uint64)
        self._count(listed, choices, (len(listed), None), n_choices, counts)
        found = download(counts)[0].astype(np.int64)
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
            versions.is_inactive.view(np.uint8), has_left, np.zeros(1, np.int32)
        )
        n, most = len(listed), len(listed)
        found = cp.empty(most * _CHOOSER.itemsize, np.uint8)
        flags = (dormant, has_left if len(all_left) else None, versions.n_start)
        by = (listed, choices, n, *self._turn, self.labels, *flags)
        launch(self._kernel("tell_choosers"), n, (*by, found, most, n_listed))
        n_found, told = download(n_listed, found[: _SMALL_N_CHOOSERS * _CHOOSER.itemsize])
        if n_found[0] > _SMALL_N_CHOOSERS:
            (told,) = download(found[: n_found[0] * _CHOOSER.itemsize])
        one = told.view(_CHOOSER)[: n_found[0]]
        turns = np.zeros(len(one), TURN)
        for name in ("key", "tie", "row"):
            turns[name] = one[name]
        return Choosers(
            turns, *(one[name].astype(np.int64) for name in ("label", "choice", "place"))
        )

    def put(self, choices: Listed, places: IntArray, numbers: IntArray) -> None:
        """Let the choices in some places be these."""
        at, chosen = upload(places.astype(np.int32), numbers.astype(np.int32))
        choices[at] = chosen

    def _find(
        self,
        slots: Slots,
        new_penalty: float,
        wishes: Any,
        listed: Listed | None = None,
        bounds: Bounds | None = None,
    ) -> bool:
        """Write the cheapest slots of listed or all rows; return whether `bounds` are too."""
        frozen = Versions.freeze(slots)
        return self._search.find(
            slots,
            new_penalty,
            wishes,
            lambda rows: self.choose(rows, None, frozen, new_penalty),
            listed,
            bounds,
        )
