"""The filter and the bounds of the GPU backend in NumPy: filter.cu and bounds.py, said slowly."""

import numpy as np
from gpu_twin import TwinRows

from dynmeans.algorithm.sums import squared_distances
from dynmeans.engine.gpu.host.bounds import Bounds
from dynmeans.engine.gpu.host.event_log import OPEN_NEW
from dynmeans.engine.gpu.host.rows import Compared

F = np.float32
DOUBT, MOST = -2, F(3e38)
_SLOT_BITS, _NAMING = np.uint32(0x7FF), F(5e-4)


def to_bf16(values):
    """Round float32 to bf16, ties to even."""
    bits = np.asarray(values, F).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return rounded.astype(np.uint32).view(F)


def _truncate(values, rng):
    """What a float addition on tensor cores may lose, and no more: a part in 2**22."""
    return (values * (1.0 - rng.uniform(0, 2.0**-22, np.shape(values)))).astype(F)


def products(y, b, start, rng):
    """start + y.b, added up in blocks of 16 features by sums that lose something each time."""
    found = np.broadcast_to(start, (len(y), len(b))).astype(F)
    for at in range(0, y.shape[1], 16):
        for j in range(at, min(at + 16, y.shape[1])):
            found = _truncate(found.astype(float) + np.multiply.outer(y[:, j], b[:, j]), rng)
    return found


class Filter:
    """Slots in bf16 about an origin, and the largest of their magnitudes."""

    def __init__(self, slots, new_penalty, rng):
        self.slots, self.new_penalty, self._rng = slots, new_penalty, rng
        self._origin = slots.centers.mean(axis=0)
        about = slots.centers - self._origin
        exact = -2.0 * slots.scales[:, None] * about
        self._b = to_bf16(exact)
        self._base = slots.offsets + slots.scales * (about**2).sum(axis=1)
        errors = exact - self._b
        sizes = [np.sqrt((exact**2).sum(axis=1)), np.sqrt((errors**2).sum(axis=1))]
        self._most = [F(size.max()) * F(1.00001) for size in (*sizes, self._base, slots.scales)]

    def look(self, points):
        """Return wishes, DOUBT among them, costs, limits, floors and bounds on other slots."""
        is_plain = bool((self.slots.scales == 1.0).all())
        y = (points - self._origin).astype(F)
        rounded = to_bf16(y)
        square = (y * y).sum(axis=1, dtype=F)
        lost = ((y - rounded) ** 2).sum(axis=1, dtype=F)
        start = self._base.astype(F)[None] + (
            0 if is_plain else np.outer(square, self.slots.scales)
        )
        costs = products(rounded, self._b, start.astype(F), self._rng)
        if self._rng.integers(2):  # wide rows
            first, second, slot = _two_lowest(costs)
        else:
            again = products(rounded, self._b, start.astype(F), self._rng)
            first, second, slot = _two_lowest_of_groups(costs, again)
        error = self._error(square, lost, points.shape[1])
        own = square.astype(float) if is_plain else 0.0
        low, high = first - _NAMING * abs(first), first + _NAMING * abs(first)
        after = second - _NAMING * abs(second)
        opens = low.astype(float) + own - error > self.new_penalty
        sure = (after - high > 2 * error) & (high.astype(float) + own + error < self.new_penalty)
        sure &= abs(first) > 1e-30
        wishes = np.where(opens, OPEN_NEW, np.where(sure, slot, DOUBT))
        others = np.where(wishes < 0, 0.0, np.minimum(after.astype(float) + own - error, 3e38))
        limits = high + F(2.02) * error + abs(first) * F(1e-5)
        floors = np.maximum(limits.astype(float) + own - 1.02 * error.astype(float), 0.0)
        return wishes, costs, limits, floors * (1 - 1e-6), np.sqrt(np.maximum(others, 0.0))

    def _error(self, square, lost, d):
        b, error_of_b, base, scale = self._most
        size = np.sqrt(square) * F(1.0001)
        off = np.sqrt(lost) * F(1.001) + size * F(1.3e-7)
        error = off * b + (size + off) * error_of_b
        error += (d + 16) * F(9.6e-7) * (size * b + base + scale * square)
        return (error * F(1.001) + (d + 16) * F(1e-33)).astype(F)


def _two_lowest(costs):
    names = np.arange(costs.shape[1], dtype=np.uint32)
    named = ((costs.view(np.uint32) & ~_SLOT_BITS) | names).view(F)
    padded = np.hstack([named, np.full((len(named), 1), MOST, F)])
    lowest = np.sort(padded, axis=1)
    return lowest[:, 0], lowest[:, 1], (lowest[:, 0].view(np.uint32) & _SLOT_BITS).astype(int)


def _two_lowest_of_groups(costs, again):
    """As `_two_lowest`, of groups of four; then `again` has the costs of the lowest group."""
    rows, (n, k) = np.arange(len(costs))[:, None], costs.shape
    padding = np.full((n, -k % 16), MOST, F)
    costs, again = np.hstack([costs, padding]), np.hstack([again, padding])
    starts = np.arange(costs.shape[1]).reshape(-1, 2, 4, 2)[:, 0, :, 0].ravel()
    groups = starts[:, None] + [0, 1, 8, 9]
    named, second, group = _two_lowest(costs[:, groups].min(axis=2))
    group = np.minimum(group, len(groups) - 1)  # what overflows has no name
    four = again[rows, groups[group]]
    order = np.argsort(four, axis=1)
    first, next_one = np.take_along_axis(four, order[:, :2], axis=1).T
    slot = groups[group][rows[:, 0], order[:, 0]]
    return np.where(abs(named) > 1e-30, first, named), np.minimum(second, next_one), slot


class FilteredRows(TwinRows):
    """Rows that are compared as kernels do: by the filter, and after it only where bounds fail."""

    def __init__(self, points, weights=None, windows=(4, 16)):
        super().__init__(points, weights, windows)
        self._bounds = Bounds(lambda: np.empty(self.n_points, F))
        self._rng = np.random.default_rng(0)

    def start(self, order, bins):
        super().start(order, bins)
        self._bounds.forget()

    def begin_events(self, listed):
        super().begin_events(listed)
        self._bounds.forget()

    def rename(self, slots, numbers, labels):
        super().rename(slots, numbers, labels)
        self._bounds.forget()

    def cheapest(self, listed, slots, new_penalty):
        return self._find(listed, slots, new_penalty)

    def label_rest(self, slots, low, new_penalty):
        everybody = np.arange(self.n_points)
        wishes = self.cheapest(everybody, slots, new_penalty)
        rest = self.takes_part & (self.keys >= low)
        is_event = (wishes == OPEN_NEW) | np.append(slots.is_inactive, False)[wishes]
        self.labels[rest & ~is_event] = wishes[rest & ~is_event]
        self._bounds.values[self.labels != wishes] = 0.0
        if len(slots) and not (rest & is_event).any():
            self._bounds.renew(slots)
        return np.flatnonzero(rest & is_event)

    def _find(self, listed, slots, new_penalty):
        """The cheapest slots of rows; bounds on all others are kept."""
        if len(slots) == 0:
            return self.nowhere(len(listed))
        points, drift = self.points(listed), self._bounds.drift
        with np.errstate(all="ignore"):
            found = Filter(slots, new_penalty, self._rng).look(points)
            wishes, costs, limits, floors, roots = found
            bounds = np.where(roots > 0, (roots + drift) * (1 - 1e-6), 0.0)
            for r in np.flatnonzero(wishes == DOUBT):
                kept = np.flatnonzero(~(costs[r] > limits[r]))
                exact = slots.offsets[kept] + slots.scales[kept] * squared_distances(
                    points[r], slots.centers[kept]
                )
                best = int(exact.argmin())
                opens = exact[best] > new_penalty
                wishes[r] = OPEN_NEW if opens else kept[best]
                other = min(np.delete(exact, best).min(initial=3e38), floors[r])
                bounds[r] = 0.0 if opens else (np.sqrt(other) + drift) * (1 - 1e-6)
            self._bounds.values[listed] = bounds.astype(F)
        return wishes

    def compare(self, slots, new_penalty):
        listed = np.flatnonzero(self.labels >= 0)
        if self._bounds.follow(slots):
            listed = listed[self._is_doubtful(listed, slots, new_penalty)]
            choices = self._find(listed, slots, new_penalty)
        else:
            choices = self._find(listed, slots, new_penalty)
            self._bounds.renew(slots)
        moves = choices != self.labels[listed]
        listed, choices = listed[moves], choices[moves]
        counts = self.count_moves(listed, choices, len(slots))
        return lambda: Compared(listed, choices, *counts)

    def open_border(self, slots, n_members, memory, new_penalty, margins):
        if not self._bounds.follow(slots):
            return None
        border = super().open_border(slots, n_members, memory, new_penalty, margins)
        border.bounds = self._bounds.values
        return border

    def _is_doubtful(self, listed, slots, new_penalty):
        own = squared_distances(self.points(listed), slots.centers[self.labels[listed]])
        bound = self._bounds.values[listed].astype(float) - self._bounds.drift
        return ~((bound > 0) & (own <= new_penalty) & (own < bound * bound * (1 - 1e-9)))
