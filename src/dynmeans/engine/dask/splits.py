"""Splits of whole sets of a batch on a cluster (algorithm/splits.py), with the rows where they lie.

The first members of each set come here, 64 of each and up to 1,024 of one that may be two; what a
larger set comes to as a whole is summed by the workers, in a few rounds. Labels follow from the
splits, as they follow from the log of a pass.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.deep_search import MIN_RELATIVE_GAIN, PASSES_PER_ROUND
from dynmeans.algorithm.sets import NEW, Sets, SetsBatch
from dynmeans.algorithm.splits import (
    FEWEST,
    MIN_OF_PART,
    SAMPLES,
    TURNS,
    Halves,
    cheapest_way,
    fall_of,
    first_halves,
)
from dynmeans.algorithm.sums import sum_units
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered
from dynmeans.engine.dask.cluster import ClusterSums, DaskSolution, alternate
from dynmeans.engine.dask.messages import Division, Labeling, OrderRun, Split
from dynmeans.engine.dask.set_messages import (
    AskHalf,
    AskMembers,
    AskScatter,
    Half,
    Members,
    SetRequest,
)
from dynmeans.engine.dask.workers import Workers
from dynmeans.records.arrays import FloatArray, IntArray

_ALWAYS_HERE, _MAX_HERE = SAMPLES  # members of a set
_PLAIN = 9.0  # see Halves.is_plain


def search_splits(requests: PassRequests, found: DaskSolution, order: OrderRun) -> DaskSolution:
    """Continue from where Algorithm 2 stopped, in this order; as `run_deep_search` at depth 1."""
    is_last, has_converged = False, True
    while not (is_last and has_converged):
        moved = None if is_last else _move_sets(requests, found, order)
        if moved is not None:
            labeling, clusters = moved
            if not clusters.cost < found.cost * (1.0 - NO_FALL):
                return found
            before, trace = found.cost, [*found.cost_trace, clusters.cost]
            start = DaskSolution(labeling, clusters, trace)
            found = alternate(requests, start, len(trace) + PASSES_PER_ROUND)
            has_converged = not found.cost < found.cost_trace[-2] * (1.0 - NO_FALL)
            is_last = not found.cost < before * (1.0 - MIN_RELATIVE_GAIN)
        elif has_converged:
            return found
        else:
            found, has_converged = alternate(requests, found), True
    return found


def _move_sets(
    requests: PassRequests, found: DaskSolution, order: OrderRun
) -> tuple[Labeling, ClusterSums] | None:
    """Split every set that clearly contains two groups, and the parts again; None without one."""
    sets = _SetsOnWorkers(requests.workers, requests.remembered, found, order)
    if not sets.may_split():
        return None
    k, least = 0, NO_FALL * found.cost
    while k < len(sets):
        if not sets.split(k, least):
            k += 1
    return sets.find_labels() if sets.splits else None


@dataclass(frozen=True, slots=True)
class _Parted:
    """A set in two: the means that decide which rows are in which, and the sums of both."""

    parted_by: FloatArray
    n: FloatArray
    means: FloatArray
    second: Half


class _SetsOnWorkers(Sets):
    """The sets by their sums: their members are with the workers, by slot."""

    def __init__(
        self, workers: Workers, remembered: Remembered, found: DaskSolution, order: OrderRun
    ) -> None:
        self._workers, self._found, self._order = workers, found, order
        self._remembered, self._run = remembered, found.labeling.run
        self.batch = _batch_of(np.empty((0, remembered.state.n_features)), None, remembered, order)
        clusters, n_remembered = found.clusters, remembered.state.n_clusters
        active = np.flatnonzero(clusters.n_members)
        self.slots: list[int] = active.tolist()
        self._next_slot = len(clusters.n_members)
        self.owners = [k if k < n_remembered else NEW for k in self.slots]
        self.is_taken = np.isin(np.arange(n_remembered), active)
        self.n_members, self._bins = clusters.n_members[active], clusters.sums[active]
        self.n, self.sums = self._read(self.n_members, self._bins)
        self.splits: list[Split] = []
        self._known: Members | None = None

    def may_split(self) -> bool:
        """Whether a set may clearly contain two groups, by the first members of each."""
        clusters, remembered = self._found.clusters, self._remembered
        wanted = np.where(
            clusters.n_members < FEWEST, 0, np.minimum(clusters.n_members, _ALWAYS_HERE)
        )
        if not wanted.any():
            return False
        self._known = self._first_members(wanted)
        has_moved, missing, *_ = compiled.move_sets(
            self._known.points,
            self._known.weights if self._run.sums[4] else None,
            self._known.slots,
            (clusters.counts, clusters.n_members, clusters.sums),
            clusters.cost,
            self._run.sums,
            (remembered.state.centers, remembered.gamma, self.batch.offsets),
            1,
        )
        return bool(has_moved or len(missing))

    def split(self, k: int, least: float) -> bool:
        """Split set k if it clearly contains two groups and L_t falls by more than `least`."""
        halves = self._halves_of(k) if self.n_members[k] >= FEWEST else None
        if halves is None:
            return False
        way = cheapest_way(self, k, halves.n, halves.means)
        if not fall_of(halves.n, halves.means) + self.term(k) - way.terms > least:
            return False
        self.splits.append(Split(self.slots[k], self._next_slot, halves.parted_by))
        self.slots.append(self._next_slot)
        self._next_slot += 1
        self.owners.append(NEW)
        n_second, sums = halves.second.n_members, halves.second.sums
        self.n_members = np.append(self.n_members, n_second)
        self.n_members[k] -= n_second
        self._bins = np.vstack([self._bins, sums])
        self._bins[k] -= sums
        self.n, self.sums = self._read(self.n_members, self._bins)
        way.take(self, k, len(self) - 1)
        return True

    def find_labels(self) -> tuple[Labeling, ClusterSums]:
        """Return the labels that the splits come to: remembered clusters keep their slots."""
        next_slot = n_remembered = len(self.batch.gamma)
        n_slots = n_remembered + self.owners.count(NEW)
        renamed = np.full(self._next_slot, -1)
        n_members, sums = np.zeros(n_slots, dtype=np.int64), np.zeros((n_slots, len(self._bins[0])))
        for k, owner in enumerate(self.owners):
            slot = next_slot if owner == NEW else owner
            next_slot += owner == NEW
            renamed[self.slots[k]], n_members[slot], sums[slot] = (
                slot,
                self.n_members[k],
                self._bins[k],
            )
        before, run = self._found.labeling, self._order
        division = Division(before, tuple(self.splits), renamed)
        # No pass went before: all own costs are to be taken again.
        nothing = np.ones(n_slots, dtype=np.uint8)
        labeling = Labeling(run, before.n_passes + 1, None, -2, nothing, division=division)
        return labeling, ClusterSums.of(n_members, sums, self._remembered, run)

    def _halves_of(self, k: int) -> _Parted | None:
        """Return set k in two, where that is plain in samples of it and in the whole."""
        n_members, slot = int(self.n_members[k]), self.slots[k]
        points, weights = self._members(k, min(n_members, _ALWAYS_HERE))
        batch = _batch_of(points, weights, self._remembered, self._order)
        halves = first_halves(batch, batch.order, self.center(k))
        if not (halves.are_two and halves.is_plain()):
            return None
        if n_members > _ALWAYS_HERE:
            points, weights = self._members(k, min(n_members, _MAX_HERE))
            batch = _batch_of(points, weights, self._remembered, self._order)
            halves = Halves(batch, batch.order, halves.means[0], halves.means[1], TURNS)
            if not (halves.are_two and halves.is_plain()):
                return None
        if n_members > _MAX_HERE:
            return self._whole_in_two(k, halves.means)
        second = self._second(slot, None, halves.parted_by)
        return _Parted(halves.parted_by, halves.n, halves.means, second)

    def _whole_in_two(self, k: int, means: FloatArray) -> _Parted | None:
        """Lloyd's turns over all members of a large set, on the workers; None if not plain."""
        slot, n_members = self.slots[k], int(self.n_members[k])
        found: _Parted | None = None
        for _ in range(TURNS):
            second = self._second(slot, found.parted_by if found else None, means)
            if not second.n_changed:
                break
            if second.n_members in (0, n_members):
                return None
            members = np.array([n_members - second.n_members, second.n_members])
            n, sums = self._read(members, np.stack([self._bins[k] - second.sums, second.sums]))
            found = _Parted(means, n, sums / n[:, None], second)
            means = found.means
        if found is None or found.second.n_members < MIN_OF_PART:
            return None
        if n_members - found.second.n_members < MIN_OF_PART:
            return None
        scatter = self._ask(AskScatter(slot, found.parted_by, found.means))
        left = compiled.read_scatter(np.sum(scatter, axis=0), self._run.sums)
        return found if _PLAIN * left < fall_of(found.n, found.means) else None

    def _members(self, k: int, n: int) -> tuple[FloatArray, FloatArray]:
        """Return the first `n` members of set k, and their weights."""
        slot, is_divided = (
            self.slots[k],
            any(self.slots[k] in (s.slot, s.added) for s in self.splits),
        )
        if not is_divided and n <= _ALWAYS_HERE and self._known is not None:
            return self._known.of(slot)
        wanted = np.zeros(self._next_slot, dtype=np.int64)
        wanted[slot] = n
        return self._first_members(wanted).of(slot)

    def _first_members(self, wanted: IntArray) -> Members:
        return Members.merge(self._ask(AskMembers(self._order.seed, wanted)), wanted)

    def _second(self, slot: int, before: FloatArray | None, means: FloatArray) -> Half:
        return Half.merge(self._ask(AskHalf(slot, before, means)))

    def _ask(self, ask: AskMembers | AskHalf | AskScatter) -> list[Any]:
        request = SetRequest(self._found.labeling, tuple(self.splits), ask)
        return self._workers.ask(request)

    def _read(self, n_members: IntArray, bins: FloatArray) -> tuple[FloatArray, FloatArray]:
        n, sums = compiled.read_bins(n_members, bins, self._run.sums)
        return n, sums


def _batch_of(
    points: FloatArray, weights: FloatArray | None, remembered: Remembered, run: OrderRun
) -> SetsBatch:
    """Some rows in the order they are visited, whose sums have the units of the whole batch."""
    weights = np.ones(len(points)) if weights is None else weights
    state, penalties = remembered.state, remembered.penalties
    batch = SetsBatch(points, weights, state, penalties, np.arange(len(points)))
    farthest, lightest = run.sums[0], run.sums[1]
    batch.units = sum_units(farthest[None, :], np.array([lightest]), state, penalties)
    return batch
