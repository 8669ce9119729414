"""What speaks for two identities being one thing, gathered batch by batch.

Kept for pairs that were ever among each other's nearest in a batch: a few numbers each, however
many batches there were. Of very many identities the small ones of long ago are left out: they keep
the names they have.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dynmeans.engine.orders import content_order
from dynmeans.families.batch_cells import Cells, NearPairs
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

Array: TypeAlias = np.ndarray[Any, Any]

# Numbers, and batches, that are added together; what waits is copied with every batch.
# Adding costs as much as there are pairs, so as many numbers wait for it.
_MIN_WAITING, _MAX_WAITING, _MAX_BATCHES = 2**14, 2**17, 256
_MAX_ROWS = 10_000  # of the last batches, kept to judge levels by
_MAX_ROWS_OF_BATCH = 1_000  # rows of one batch among those
# Of an identity of which many points are known, few rows of a batch stand for all of them, so that
# a large batch costs little more than what is new in it.
_WELL_KNOWN = 1_000  # points
_ROWS_OF_KNOWN = 16
_SHORT = 2**16 - 1  # the largest integer that is sorted in one pass
# Identities that are kept when there are twice as many: those seen last, and the largest of the
# others. So a stream costs what it remembers, however long it is.
_MAX_KEPT = 4_096
_NO_IDS: IntArray = np.empty(0, dtype=np.int64)
_SUMS = (
    *("ids", "n", "free", "squares", "n_batches", "sums", "first_means", "last_means"),
    *("first_times", "last_times", "pair_ids", "pairs"),
)


@dataclass(frozen=True, slots=True, eq=False)
class SampledBatch:
    """Rows of one batch at even distances, their identities, and all it saw with their points."""

    time: float
    points: FloatArray
    labels: IntArray
    ids: IntArray
    counts: IntArray


class Evidence:
    """Sums over all batches, for each identity and for each pair that was ever near."""

    def __init__(self) -> None:
        # Of each identity, ascending: batches that saw it; points, those less one for each batch,
        # squared distances from the means of the batches, sum; mean and time when first, last seen.
        self.ids = self.n_batches = np.empty(0, dtype=np.int64)
        self.n = self.free = self.squares = self.first_times = self.last_times = np.empty(0)
        self.sums = self.first_means = self.last_means = np.empty((0, 0))
        # Of each pair, ascending: the columns of `NearPairs`, summed.
        self.pair_ids = np.empty((0, 2), dtype=np.int64)
        self.pairs = np.empty((0, len(NearPairs.COLUMNS)))
        # Rows in order of labels, and the points of the batch that have the label of each row.
        self._waiting: list[tuple[FloatArray, IntArray, IntArray]] = []
        self._waiting_times: list[float] = []
        self._n_waiting = 0
        self.sample: deque[SampledBatch] = deque()  # rows of the last batches
        self._n_sampled = 0
        self._time = 0.0
        self.n_added = 0  # batches that had rows

    def copy(self) -> "Evidence":
        """Return an independent copy; arrays are replaced and never written to."""
        twin = Evidence.__new__(Evidence)
        twin.__dict__.update(self.__dict__)
        twin._waiting, twin._waiting_times = self._waiting.copy(), self._waiting_times.copy()
        twin.sample = self.sample.copy()
        return twin

    def advance_to(self, other: "Evidence") -> None:
        """Take over the time of evidence that was added, and keep the last rows of both."""
        self._time = max(self._time, other._time)
        self._n_sampled = sum(len(batch.labels) for batch in self.sample)
        self._drop_old_sample()

    def to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return all of it as arrays and a number, what waits to be added included."""
        arrays: dict[str, Array] = {name: getattr(self, name) for name in _SUMS}
        rows, labels, counts = zip(*self._waiting, strict=True) if self._waiting else ((), (), ())
        arrays |= _merge_rows("waiting", rows, labels, self._waiting_times)
        arrays["waiting_counts"] = np.concatenate([_NO_IDS, *counts])
        sample = list(self.sample)
        points, found = [batch.points for batch in sample], [batch.labels for batch in sample]
        arrays |= _merge_rows("sample", points, found, [batch.time for batch in sample])
        arrays["sample_ids"] = np.concatenate([_NO_IDS, *(batch.ids for batch in sample)])
        arrays["sample_counts"] = np.concatenate([_NO_IDS, *(batch.counts for batch in sample)])
        arrays["sample_n_ids"] = np.array([len(batch.ids) for batch in sample], dtype=np.int64)
        return arrays, {"time": self._time, "n_added": self.n_added}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Array], numbers: dict[str, Any]) -> "Evidence":
        """Read what `to_arrays` gave."""
        made = cls()
        for name in _SUMS:
            setattr(made, name, arrays[name])
        made._time, made.n_added = float(numbers["time"]), int(numbers["n_added"])
        waiting = _split_off("waiting", arrays)
        if "waiting_counts" in arrays:
            counts = np.split(arrays["waiting_counts"], np.cumsum(arrays["waiting_sizes"])[:-1])
            made._waiting = [
                (rows, labels, n) for (rows, labels, _), n in zip(waiting, counts, strict=False)
            ]
        else:  # a memory of before rows were chosen
            made._waiting = [_choose_rows(rows, labels) for rows, labels, _ in waiting]
        made._waiting_times = [time for _, _, time in waiting]
        made._n_waiting = sum(rows.size for rows, _, _ in made._waiting)
        cuts = np.cumsum(arrays["sample_n_ids"])[:-1]
        seen = zip(
            *(np.split(arrays[f"sample_{name}"], cuts) for name in ("ids", "counts")), strict=True
        )
        made.sample.extend(
            SampledBatch(time, points, labels, *own)
            for (points, labels, time), own in zip(_split_off("sample", arrays), seen, strict=False)
        )
        made._n_sampled = sum(len(batch.labels) for batch in made.sample)
        return made

    def add(self, points: BatchArray, labels: IntArray, elapsed: float = 1.0) -> None:
        """Process one batch; rows labeled below 0 are left out."""
        self._time += elapsed
        # Shuffled rows give the same sums and the same sample.
        order = content_order(points)
        order = order[labels[order] >= 0]
        if not len(order):
            return
        self.n_added += 1
        by_label = order[_order_of_labels(labels[order])]
        ascending = labels[by_label]
        starts = np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))
        ids, counts = ascending[starts], np.diff(np.append(starts, len(order)))
        self._keep_sample(points, labels, order, ids, counts)
        is_known = self._points_so_far(ids) >= _WELL_KNOWN
        most = np.where(is_known, np.minimum(counts, _ROWS_OF_KNOWN), counts)
        if is_known.any():
            ends = np.cumsum(most)
            by_label = by_label[np.arange(ends[-1]) + np.repeat(starts - ends + most, most)]
        rows = np.asarray(points[by_label], dtype=np.float64)
        self._waiting.append((rows, np.repeat(ids, most), np.repeat(counts, most)))
        self._waiting_times.append(self._time)
        self._n_waiting += rows.size
        enough = min(max(_MIN_WAITING, self.pairs.size), _MAX_WAITING)
        if self._n_waiting >= enough or len(self._waiting) >= _MAX_BATCHES:
            self.settle()

    def _points_so_far(self, ids: IntArray) -> FloatArray:
        """Points of each of ascending identities in the sums; what waits is not counted."""
        if not len(self.ids):
            return np.zeros(len(ids))
        places = np.minimum(np.searchsorted(self.ids, ids), len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.n[places], 0.0)

    def settle(self) -> None:
        """Add what waits to the sums; read them after this."""
        if not self._waiting:
            return
        rows, labels, counts = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        batches = np.arange(len(self._waiting)).repeat([len(part) for part, _, _ in self._waiting])
        times = np.array(self._waiting_times)
        self._waiting.clear()
        self._waiting_times.clear()
        self._n_waiting = 0
        cells = Cells.gather(rows, labels, counts, batches)
        self._add_identities(cells, times[cells.batches])
        self._add_pairs(NearPairs.gather(cells))
        if len(self.ids) > 2 * _MAX_KEPT:
            self._fold()

    def _fold(self) -> None:
        """Leave out small identities of long ago, and every pair that has one of them."""
        order = np.argsort(-self.last_times, kind="stable")
        recent, others = order[: _MAX_KEPT // 2], order[_MAX_KEPT // 2 :]
        largest = others[np.argsort(-self.n[others], kind="stable")[: _MAX_KEPT // 2]]
        kept = np.sort(np.concatenate([recent, largest]))
        is_left = np.isin(self.pair_ids, self.ids[kept]).all(axis=1)
        self.pair_ids, self.pairs = self.pair_ids[is_left], self.pairs[is_left]
        for name in _SUMS[:-2]:
            setattr(self, name, getattr(self, name)[kept])

    def _add_identities(self, cells: Cells, times: FloatArray) -> None:
        """Sum up by identity; what is known already comes first."""
        ids = np.concatenate([self.ids, cells.ids])
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        ends = np.flatnonzero(np.append(ids[1:] != ids[:-1], True))
        starts = np.append(0, ends[:-1] + 1)

        def merge_counts(known: Array, new: Array) -> Array:
            return np.concatenate([known.reshape(-1, *new.shape[1:]), new])[order]

        def sum_counts(known: Array, new: Array) -> Array:
            return np.add.reduceat(merge_counts(known, new), starts)

        self.ids = ids[starts]
        self.n = sum_counts(self.n, cells.counts)
        self.free = sum_counts(self.free, cells.counts - 1)
        self.squares = sum_counts(self.squares, cells.squares)
        self.n_batches = sum_counts(self.n_batches, np.ones(len(times), dtype=np.int64))
        self.sums = sum_counts(self.sums, cells.counts[:, None] * cells.means)
        self.first_means = merge_counts(self.first_means, cells.means)[starts]
        self.last_means = merge_counts(self.last_means, cells.means)[ends]
        self.first_times = merge_counts(self.first_times, times)[starts]
        self.last_times = merge_counts(self.last_times, times)[ends]

    def _add_pairs(self, near: NearPairs) -> None:
        ids = np.concatenate([self.pair_ids, near.ids])
        if not len(ids):
            return
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        ids = ids[order]
        is_new = np.append(True, (ids[1:] != ids[:-1]).any(axis=1))
        self.pair_ids = ids[is_new]
        values = np.concatenate([self.pairs, near.values])[order]
        self.pairs = np.add.reduceat(values, np.flatnonzero(is_new))

    def _keep_sample(
        self, points: BatchArray, labels: IntArray, order: IntArray, ids: IntArray, counts: IntArray
    ) -> None:
        rows = order[:: -(-len(order) // _MAX_ROWS_OF_BATCH)]
        chosen = np.asarray(points[rows], dtype=np.float64)
        kept = SampledBatch(self._time, chosen, labels[rows], ids, counts)
        self.sample.append(kept)
        self._n_sampled += len(kept.labels)
        self._drop_old_sample()

    def _drop_old_sample(self) -> None:
        while self.sample and self._n_sampled - len(self.sample[0].labels) >= _MAX_ROWS:
            self._n_sampled -= len(self.sample.popleft().labels)


def _order_of_labels(labels: IntArray) -> IntArray:
    """Return the stable order of ascending labels."""
    first = int(labels.min())
    if int(labels.max()) - first > _SHORT:
        return np.argsort(labels, kind="stable")
    return np.argsort((labels - first).astype(np.uint16), kind="stable")  # sorted in one pass


def _choose_rows(rows: FloatArray, labels: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    order = _order_of_labels(labels)
    _, counts = np.unique(labels, return_counts=True)
    return rows[order], labels[order], np.repeat(counts, counts)


def _merge_rows(
    name: str, rows: Sequence[FloatArray], labels: Sequence[IntArray], times: Sequence[float]
) -> dict[str, Array]:
    """Put batches into one array each of rows, labels, sizes and times."""
    return {
        f"{name}_rows": np.concatenate(rows) if len(rows) else np.empty((0, 0)),
        f"{name}_labels": np.concatenate([_NO_IDS, *labels]),
        f"{name}_sizes": np.array([len(part) for part in labels], dtype=np.int64),
        f"{name}_times": np.array(times, dtype=np.float64),
    }


def _split_off(name: str, arrays: dict[str, Array]) -> list[tuple[FloatArray, IntArray, float]]:
    """Read what `_joined` gave."""
    sizes, times = arrays[f"{name}_sizes"], arrays[f"{name}_times"].tolist()
    cuts = np.cumsum(sizes)[:-1]
    rows, labels = (np.split(arrays[f"{name}_{part}"], cuts) for part in ("rows", "labels"))
    return list(zip(rows, labels, times, strict=False))
