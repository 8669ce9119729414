"""The kernels in NumPy: every stage of the GPU backend, said slowly."""

import math

import numpy as np

from dynmeans.algorithm.double_double import weighted_squares
from dynmeans.algorithm.sums import squared_distances
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.gpu.host.bins import Magnitudes
from dynmeans.engine.gpu.host.border import BorderPass
from dynmeans.engine.gpu.host.elkan_bound import near_versions
from dynmeans.engine.gpu.host.event_log import OPEN_NEW, Choosers
from dynmeans.engine.gpu.host.rows import Compared
from dynmeans.engine.gpu.host.slots import Versions
from dynmeans.engine.gpu.host.turns import TURN, in_order, is_before


class TwinRows:
    """Rows in memory that answer as `DeviceRows` does."""

    def __init__(self, points, weights=None, windows=(4, 16)):
        self.values = np.asarray(points)
        self.weights = weights
        self.n_points, self.n_features = self.values.shape
        self.windows = windows
        self.takes_part = np.ones(self.n_points, bool) if weights is None else weights > 0

    def magnitudes(self):
        rows = np.abs(self.values[self.takes_part].astype(float))
        if self.weights is None:
            return Magnitudes(rows.max(axis=0, initial=0.0), 1.0, 1.0)
        heavy = self.weights[self.takes_part]
        return Magnitudes(
            rows.max(axis=0, initial=0.0), heavy.min(initial=np.inf), heavy.max(initial=0.0)
        )

    def start(self, order, bins):
        """`order` is a permutation; a row's key is its position."""
        self.keys = np.empty(self.n_points, np.uint64)
        self.keys[order] = np.arange(self.n_points)
        self.labels = np.full(self.n_points, -1)
        self.bins = bins

    def in_visiting_order(self):
        return Batch(np.ascontiguousarray(self.values), self.weights), np.argsort(self.keys)

    def give_labels(self, labels):
        self.labels = labels.astype(np.int64)

    def window_limits(self):
        return [n for n in self.windows if n < self.n_points]

    def select(self, low, high):
        return np.flatnonzero(self.takes_part & (self.keys >= low) & (self.keys < high))

    def turns(self, listed):
        turns = np.zeros(len(listed), TURN)
        turns["key"], turns["row"] = self.keys[listed], listed
        return turns

    def in_order(self, listed):
        return listed[in_order(self.turns(listed))]

    def points(self, numbers):
        return self.values[numbers].astype(float)

    def choose(self, listed, base, versions, new_penalty):
        choices = np.full(len(listed), OPEN_NEW)
        turns = self.turns(listed)
        for r, y in enumerate(self.points(listed)):
            turn = np.full(len(versions), turns[r])
            sees = is_before(versions.since, turn) & ~is_before(versions.until, turn)
            known = base is not None and (base[r] == OPEN_NEW or sees[base[r]])
            if known:
                sees[: versions.n_start] = False
                if base[r] != OPEN_NEW:
                    sees[base[r]] = True
            at = np.flatnonzero(sees)
            costs = versions.offsets[at] + versions.scales[at] * squared_distances(
                y, versions.centers[at]
            )
            order = np.lexsort((versions.slots[at], costs))
            if len(at) and costs[order[0]] <= new_penalty:
                choices[r] = at[order[0]]
        return choices

    def cheapest(self, listed, slots, new_penalty):
        return self.choose(listed, None, Versions.freeze(slots), new_penalty)

    def open_in_order(self, listed, new_penalty):
        rows, opened = self.points(listed), []
        for p, y in enumerate(rows):
            if not (squared_distances(y, rows[opened]) <= new_penalty).any():
                opened.append(p)
        return listed[np.array(opened, dtype=np.int64)]

    def nowhere(self, n):
        return np.full(n, OPEN_NEW)

    def propose_moves(self, listed, choices, is_inactive):
        return listed[(choices == OPEN_NEW) | np.append(is_inactive, False)[choices]][::-1]

    def put(self, choices, places, numbers):
        choices[places] = numbers

    def take(self, listed, at):
        return listed[at]

    def to_numpy(self, listed):
        return listed

    def label_rest(self, slots, low, new_penalty):
        listed = np.flatnonzero(self.takes_part & (self.keys >= low))
        choices = self.choose(listed, None, Versions.freeze(slots), new_penalty)
        is_event = (choices == OPEN_NEW) | np.append(slots.is_inactive, False)[choices]
        self.labels[listed[~is_event]] = choices[~is_event]
        return listed[is_event]

    def set_labels(self, listed, choices, slots):
        joins = choices != OPEN_NEW
        self.labels[listed[joins]] = slots[choices[joins]]

    def label_born(self, born, n_start):
        self.labels[born] = n_start + np.arange(len(born))

    def labels_of(self, listed):
        return self.labels[listed]

    def begin_events(self, listed):
        self.is_listed = np.zeros(self.n_points, bool)
        self.is_listed[listed] = True

    def attracted_rows(self, versions, start, low, new_penalty):
        opened, slots, since = versions.added_slots()
        listed = np.flatnonzero((self.labels >= 0) & (self.keys >= low))
        choices = self.cheapest(listed, opened, new_penalty)
        found = choices != OPEN_NEW
        listed, choices = listed[found], choices[found]
        points, own_slots = self.points(listed), self.labels[listed]
        own = squared_distances(points, start.centers[own_slots])
        cost = squared_distances(points, opened.centers[choices])
        prefers = (cost < own) | ((cost == own) & (slots[choices] < own_slots))
        listed, choices = listed[prefers], choices[prefers]
        is_there = is_before(since[choices], self.turns(listed))
        self.labels[listed[is_there]] = slots[choices[is_there]]
        return listed[~is_there]

    def followers(self, start, versions, extra, new_penalty):
        starts, near = near_versions(start, versions, extra, new_penalty)
        found = []
        for i in np.flatnonzero((self.labels >= 0) & ~self.is_listed):
            a, y = self.labels[i], self.points(np.array([i]))[0]
            own = squared_distances(y, start.centers[a])
            for v in near[starts[a] : starts[a + 1]]:
                cost = versions.offsets[v] + versions.scales[v] * squared_distances(
                    y, versions.centers[v]
                )
                turn = self.turns(np.array([i]))
                if cost <= own and is_before(versions.since[v : v + 1], turn)[0]:
                    found.append(i)
                    break
        listed = np.array(found, dtype=np.int64)
        self.is_listed[listed] = True
        return listed

    def join(self, first, second):
        return np.concatenate([first, second])

    def compare(self, slots, new_penalty):
        listed = np.flatnonzero(self.labels >= 0)
        choices = self.choose(listed, None, Versions.freeze(slots), new_penalty)
        moves = choices != self.labels[listed]
        listed, choices = listed[moves], choices[moves]
        counts = self.count_moves(listed, choices, len(slots))
        return lambda: Compared(listed, choices, *counts)

    def open_border(self, slots, n_members, memory, new_penalty, margins):
        return TwinBorder(self, slots, n_members, memory, new_penalty, margins)

    def count_moves(self, listed, choices, n_choices):
        labels = self.labels[listed]
        moves = choices != labels
        left = np.bincount(labels[moves], minlength=n_choices)
        codes = np.where(choices == OPEN_NEW, n_choices, choices)
        return left, np.bincount(codes[moves], minlength=n_choices + 1)

    def choosers(self, listed, choices, versions, all_left):
        labels = self.labels[listed]
        keep = (choices == OPEN_NEW) | np.append(versions.is_inactive, False)[choices]
        keep |= np.isin(labels, all_left) | np.isin(choices, all_left)
        return Choosers(self.turns(listed[keep]), labels[keep], choices[keep], np.flatnonzero(keep))

    def relabel(self, listed, choices, slots, n_slots):
        before, after = self.labels[listed], choices if slots is None else slots[choices]
        moves = before != after
        n_bins, n_columns = self.bins.columns.shape
        grown = np.zeros((n_slots, n_bins, n_columns))
        grown[: len(self.sums)] = self.sums
        self.sums = grown
        for i, a, b in zip(listed[moves], before[moves], after[moves], strict=True):
            term = _in_bins(self._terms(np.array([i])), self.bins.columns)
            self.sums[a] -= term
            self.sums[b] += term
        self.labels[listed] = after

    def sum_up(self, n_slots):
        self.sums = np.zeros((n_slots, *self.bins.columns.shape))
        for k in range(n_slots):
            listed = np.flatnonzero(self.labels == k)
            self.sums[k] = _in_bins(self._terms(listed), self.bins.columns)
        return np.bincount(self.labels[self.labels >= 0], minlength=n_slots)

    @property
    def has_weights(self):
        return self.weights is not None

    def first_members(self, is_asked, share, wanted):
        limits = np.where(share < 1.0, share * self.n_points, np.inf)
        is_in = (self.labels >= 0) & np.append(is_asked, False)[self.labels]
        listed = np.flatnonzero(is_in & (self.keys <= np.append(limits, 0)[self.labels]))
        listed = self.in_order(listed)
        n_found = np.bincount(self.labels[listed], minlength=len(wanted))
        lists = [listed[self.labels[listed] == k] for k in np.flatnonzero(n_found >= wanted)]
        return np.concatenate(
            [rows[: wanted[self.labels[rows[0]]]] for rows in lists if len(rows)] or [listed[:0]]
        ), n_found

    def weights_of(self, numbers):
        return None if self.weights is None else self.weights[numbers]

    def slot_bins(self):
        return self.sums.reshape(len(self.sums), -1)

    def rename(self, slots, numbers, labels):
        self.labels = np.append(slots, -1)[self.labels]
        self.labels[numbers] = labels

    def keep_slots(self, is_kept):
        slots = np.append(np.cumsum(is_kept) - 1, -1)
        self.labels, self.sums = slots[self.labels], self.sums[is_kept]

    def totals(self):
        totals = np.empty((len(self.sums), self.sums.shape[2]))
        rests = np.empty_like(totals)
        for k, c in np.ndindex(totals.shape):
            totals[k, c] = math.fsum(self.sums[k, :, c])
            rests[k, c] = math.fsum([-totals[k, c], *self.sums[k, :, c]])
        return totals, rests

    def _terms(self, listed):
        rows = self.points(listed)
        w = np.ones(len(listed)) if self.weights is None else self.weights[listed]
        terms = np.column_stack([w, w[:, None] * rows, *weighted_squares(rows, w)])
        return terms[:, 1:] if self.weights is None else terms


class TwinBorder:
    """Held rows that answer as `DeviceBorder` does."""

    bounds = None
    _is_over = False

    def __init__(self, rows, slots, n_members, memory, new_penalty, margins):
        self.rows, self.slots, self.memory = rows, slots, memory
        self.new_penalty, self.margins = new_penalty, margins
        self.n_members, self.centers = n_members.copy(), slots.centers.copy()
        self._labels = rows.labels.copy()
        held = []
        for i in np.flatnonzero(rows.labels >= 0):
            k, costs = rows.labels[i], self._costs(i)
            roots = np.sqrt(costs)
            rivals = roots - margins <= roots[k] + margins[k]
            rivals[k] = False
            if rivals.any() or not roots[k] + margins[k] < np.sqrt(new_penalty) * (1 - 1e-9):
                held.append((i, np.append(np.flatnonzero(rivals), k)))
        self._held = held
        gaps = np.sqrt(squared_distances(self.centers[:, None], self.centers))
        reaches = (gaps - margins - margins[:, None]) / 2.0
        self._is_near = (reaches <= np.sqrt(new_penalty)) & ~np.eye(len(gaps), dtype=bool)
        self._drifts, self._due = np.zeros(len(gaps)), {}

    def __len__(self):
        return len(self._held)

    def _take_date(self, i, costs, wish):
        """A row is not due before its center and those near it have come so much nearer."""
        label, was_held_with = self.rows.labels[i], self._labels[i]
        assert wish == label or not self._drifts[label] < self._due.get(i, -1.0), "it was due"
        lowest, *others = np.sort(costs)
        gap = np.sqrt(min([*others, self.new_penalty])) - np.sqrt(lowest)
        is_known = wish == label == was_held_with
        self._due[i] = self._drifts[label] + gap * (1.0 - 1e-9) if is_known else -1.0

    def _costs(self, i):
        distances = squared_distances(self.rows.points(np.array([i])), self.centers)
        return self.slots.offsets + self.slots.scales * distances

    def run(self, n_passes):
        assert not self._is_over, "a row that is not held may want to move"
        rows, made = self.rows, []
        self._before = rows.labels.copy(), rows.sums.copy(), self.n_members, self.centers.copy()
        while len(made) < n_passes and not (made and (made[-1].is_last or not made[-1].n_moved)):
            one = self._make_pass()
            if one is None:
                break
            made.append(one)
        return made

    def _make_pass(self):
        rows, moves = self.rows, []
        for i, choices in self._held:
            costs = self._costs(i)[choices]
            best = np.lexsort((choices, costs))[0]
            wish = OPEN_NEW if costs[best] > self.new_penalty else choices[best]
            if not self._drifts[rows.labels[i]] < self._due.get(i, -1.0) or wish != rows.labels[i]:
                self._take_date(i, costs, wish)
            if wish == OPEN_NEW or self.slots.is_inactive[wish]:
                return None
            if wish != rows.labels[i]:
                moves.append((i, wish))
        listed, wishes = np.array(moves, dtype=np.int64).reshape(-1, 2).T
        left, joined = rows.count_moves(listed, wishes, len(self.slots))
        if ((left > 0) & (left == self.n_members)).any():
            return None
        rows.relabel(listed, wishes, None, len(self.slots))
        self.n_members = self.n_members - left + joined[:-1]
        return self._params(len(moves))

    def _params(self, n_moved):
        totals, rests = self.rows.totals()
        has_weights, n = self.rows.has_weights, self.n_members.astype(float)
        n = totals[:, 0] if has_weights else n
        terms, within = np.full(len(n), self.new_penalty), np.zeros(len(n))
        is_last, before = False, self.centers.copy()
        for k in np.flatnonzero(self.n_members):
            gamma = self.memory.gamma[k] if k < len(self.memory) else 0.0
            old = self.memory.centers[k] if k < len(self.memory) else np.zeros(len(totals[k]))
            sums = totals[k, int(has_weights) : -2]
            self.centers[k] = (old[: len(sums)] * gamma + sums) / (gamma + n[k])
            at = slice(k, k + 1)
            arrays = (totals[at], rests[at], n[at].copy(), self.centers[at])
            within[k] = compiled.within_of_totals(*arrays)
            if k < len(self.memory):
                displaced = gamma * squared_distances(self.centers[k], old)
                terms[k] = self.memory.revivals[k] + displaced
            moved = np.linalg.norm(self.centers[k] - self.slots.centers[k])
            is_last |= bool(moved > self.margins[k])
        steps = np.linalg.norm(self.centers - before, axis=1)
        self._drifts += steps + (steps * self._is_near).max(axis=1)
        self._is_over = is_last
        return BorderPass(n_moved, is_last, terms, within)

    def rewind(self, n_passes):
        self.rows.labels[:], self.rows.sums, self.n_members, self.centers = self._before
        self._is_over = False
        self._due.clear()
        self.run(n_passes)

    def close(self):
        if self.bounds is not None:
            self.bounds[self.rows.labels != self._labels] = 0.0
        return self.n_members


def _in_bins(terms, shifts):
    """Add each column of `terms` in its bins; one after the other is as good as any order."""
    sums, rest = np.zeros(shifts.shape), terms.copy()
    for b, shift in enumerate(shifts):
        h = (rest + shift) - shift
        for row in h:
            sums[b] += row
        rest = rest - h
    return sums
