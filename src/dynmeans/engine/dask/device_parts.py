"""Parts of a batch that lie on a GPU: what compiled code does with parts in memory, done there.

The functions are those of `native/bindings/dask.cpp`, and so are their answers, bit for bit. Arrays
with a value for each row stay on the device; so do the rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.gpu.host.rows import Rows
from dynmeans.engine.gpu.host.slots import Slots, Versions
from dynmeans.engine.gpu.host.turns import FIRST, NEVER, TURN
from dynmeans.records.arrays import FloatArray, IntArray

_PROPOSER = -2  # wants an inactive or a new cluster: not for a worker to decide


@dataclass(frozen=True, slots=True)
class DevicePart:
    """Rows on a device; there, their keys and whether each takes part."""

    rows: Rows
    keys: Any
    takes_part: Any


class DeviceParts:
    """The parts of a piece; `arrays` is CuPy, or what stands for it."""

    def __init__(self, parts: list[DevicePart], arrays: Any) -> None:
        self._parts, self._np = parts, arrays

    def propose_unlabeled(
        self, arrays: list[Any], table: Any, new_penalty: float, keys: tuple[int, int], limit: int
    ) -> tuple[KeyArray, FloatArray, int]:
        """Let rows without labels in a range of keys choose; return those that propose."""
        found = self._choose_in(arrays, table, new_penalty, keys, must_have_label=False)
        return self._proposals(found, limit)

    def propose_labeled(
        self, arrays: list[Any], table: Any, new_penalty: float, keys: tuple[int, int], limit: int
    ) -> tuple[KeyArray, FloatArray, int, list[Any]]:
        """Let rows with labels choose; list those that want another active cluster, too."""
        found = self._choose_in(arrays, table, new_penalty, keys, must_have_label=True)
        movers = [self._movers(labels, after) for labels, after in arrays]
        return (*self._proposals(found, limit), movers)

    def settle_labels(
        self,
        arrays: list[Any],
        table: Any,
        changes: Any,
        new_penalty: float,
        keys: tuple[int, int],
    ) -> None:
        """Make the choices of a range of keys final, given what changed within it."""
        versions = _versions(table, changes)
        for part, (_, after) in zip(self._parts, arrays, strict=True):
            listed = self._listed(part, keys)
            base = after[listed]
            for some, known in ((base >= 0, True), (base == _PROPOSER, False)):
                rows = listed[some]
                start = base[some] if known else None
                choices = part.rows.choose(rows, start, versions, new_penalty)
                after[rows] = self._slots(part, rows, choices, versions, changes)

    def walk_changes(
        self, arrays: list[Any], table: Any, changes: Any, new_penalty: float, last: int
    ) -> None:
        """Label every row with a key of at most `last`, from the beginning of the pass."""
        versions = _versions(table, changes)
        for part, (_, after) in zip(self._parts, arrays, strict=True):
            rows = self._listed(part, (0, last))
            choices = part.rows.choose(rows, None, versions, new_penalty)
            after[rows] = self._slots(part, rows, choices, versions, changes)

    def count_moves(self, arrays: list[Any], n_slots: int, last: int) -> tuple[Any, ...]:
        """Count who joined and left each slot, with the first key and the last one."""
        xp, most = self._np, np.uint64(2**64 - 1)
        joined, left = xp.zeros((2, n_slots), dtype=np.int64)
        first, latest = xp.full(n_slots, most), xp.zeros(n_slots, dtype=np.uint64)
        for part, (labels, after) in zip(self._parts, arrays, strict=True):
            rows = self._movers(labels, after)
            rows = rows[part.keys[rows] <= np.uint64(last)]
            keys, to, own = part.keys[rows], after[rows], labels[rows]
            joined += xp.bincount(to, minlength=n_slots)
            xp.minimum.at(first, to, keys)
            had = own >= 0
            left += xp.bincount(own[had], minlength=n_slots)
            xp.maximum.at(latest, own[had], keys[had])
        return tuple(map(self._here, (joined, left, first, latest)))

    def sum_moves(self, arrays: list[Any], n_slots: int) -> FloatArray:
        """Return the sums of rows that joined each slot, less those that left it, in bins."""
        found = []
        for part, (labels, after) in zip(self._parts, arrays, strict=True):
            rows = self._movers(labels, after)
            found.append(part.rows.moved_sums(rows, labels[rows], after[rows], n_slots))
        total: FloatArray = np.sum(found, axis=0)
        return total

    def _choose_in(
        self,
        arrays: list[Any],
        table: Any,
        new_penalty: float,
        keys: tuple[int, int],
        *,
        must_have_label: bool,
    ) -> list[Any]:
        """Write the choices of rows in a range of keys; return, by part, who proposes."""
        centers, offsets, scales, is_active = table
        is_open = np.isfinite(offsets)
        active = is_active[is_open] > 0
        slots = Slots(centers[is_open], offsets[is_open], scales[is_open], ~active)
        numbers = np.where(active, np.flatnonzero(is_open), _PROPOSER)
        there = self._np.asarray(np.append(numbers, _PROPOSER).astype(np.int32))
        found = []
        for part, (labels, after) in zip(self._parts, arrays, strict=True):
            listed = self._listed(part, keys)
            if must_have_label:
                listed = listed[labels[listed] >= 0]
            choices = there[part.rows.cheapest(listed, slots, new_penalty)]
            after[listed] = choices
            found.append(listed[choices == _PROPOSER])
        return found

    def _proposals(self, found: list[Any], limit: int) -> tuple[KeyArray, FloatArray, int]:
        """Return the lowest keys of those who propose, in order, with their rows."""
        keys: list[KeyArray] = []
        rows: list[FloatArray] = []
        for part, listed in zip(self._parts, found, strict=True):
            own = self._here(part.keys[listed])
            kept = np.argsort(own)[:limit]
            keys.append(own[kept])
            rows.append(part.rows.points(self._here(listed)[kept].astype(np.int64)))
        all_keys = np.concatenate(keys)
        order = np.argsort(all_keys)[:limit]
        return all_keys[order], np.concatenate(rows)[order], sum(map(len, found))

    def _listed(self, part: DevicePart, keys: tuple[int, int]) -> Any:
        first, last = np.uint64(keys[0]), np.uint64(keys[1])
        is_in = part.takes_part & (part.keys >= first) & (part.keys <= last)
        return self._np.flatnonzero(is_in).astype(np.int32)

    def _movers(self, labels: Any, after: Any) -> Any:
        return self._np.flatnonzero((after != labels) & (after >= 0)).astype(np.int32)

    def _slots(
        self, part: DevicePart, rows: Any, choices: Any, versions: Versions, changes: Any
    ) -> Any:
        """Return the slots of chosen versions; the changes name who opened or revived one."""
        numbers = np.where(versions.is_dormant, _PROPOSER, versions.slots)
        slots = self._np.asarray(np.append(numbers, _PROPOSER).astype(np.int32))[choices]
        at = self._np.flatnonzero(slots == _PROPOSER)
        if len(at):
            keys, opened, *_, is_active = changes
            keys, opened = keys[is_active > 0], opened[is_active > 0]
            own = np.searchsorted(keys, self._here(part.keys[rows[at]]))
            slots[at] = self._np.asarray(opened[own].astype(np.int32))
        return slots

    def _here(self, array: Any) -> Any:
        return array if isinstance(array, np.ndarray) else array.get()


def _versions(table: Any, changes: Any) -> Versions:
    """Return every version of the slots; a row sees what changed at a lower key than its own."""
    centers, offsets, scales, is_active = table
    start = Slots(centers, offsets, scales, is_active == 0)
    keys, slots, *after = changes
    n, n_changes = len(offsets), len(keys)
    turns = np.zeros(n_changes, dtype=TURN)
    turns["key"], turns["row"] = keys, NEVER["row"]
    until, present = np.full(n + n_changes, NEVER), dict(enumerate(range(n)))
    for e, slot in enumerate(slots.tolist()):
        if slot in present:
            until[present[slot]] = turns[e]
        present[slot] = n + e
    pairs = zip((centers, offsets, scales, is_active), after, strict=True)
    centers, offsets, scales, is_active = (np.concatenate(pair) for pair in pairs)
    numbers: IntArray = np.concatenate([np.arange(n), slots])
    since = np.concatenate([np.full(n, FIRST), turns])
    return Versions(numbers, centers, offsets, scales, is_active == 0, since, until, start)
