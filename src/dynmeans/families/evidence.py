"""What speaks for two identities being one thing, gathered batch by batch.

Kept for pairs that were ever among each other's nearest in a batch: a few numbers each, however
many batches there were.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from dynmeans.engine.orders import content_order
from dynmeans.families.cells import BatchCells, NearPairs
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

_N_WAITING = 32  # batches whose pairs are added together
_MOST_ROWS = 10_000  # of the last batches, kept to judge levels by
_MOST_OF_BATCH = 1_000  # rows of one batch among those


@dataclass(frozen=True, slots=True, eq=False)
class SampledBatch:
    """Rows of one batch at even distances, their identities, and all identities it saw."""

    time: float
    points: FloatArray
    labels: IntArray
    ids: IntArray


class Evidence:
    """Sums over all batches, for each identity and for each pair that was ever near.

    Attributes
    ----------
    ids : IntArray of shape (n_identities,)
        Identities, ascending.
    n, free, squares : FloatArray of shape (n_identities,)
        Points; points less one for each batch; squared distances from the means of the batches.
    n_batches : IntArray of shape (n_identities,)
        Batches that saw each.
    sums, first_means, last_means : FloatArray of shape (n_identities, n_features)
        Sum of its points; its mean in the first and in the last batch that saw it.
    first_times, last_times : FloatArray of shape (n_identities,)
        When that was.
    pair_ids : IntArray of shape (n_pairs, 2)
        Pairs of identities, ascending.
    pairs : FloatArray of shape (n_pairs, 7)
        Columns as `NearPairs.COLUMNS`, summed.
    sample : deque of SampledBatch
        Rows of the last batches.
    """

    def __init__(self) -> None:
        self.ids = np.empty(0, dtype=np.int64)
        self.n = self.free = self.squares = np.empty(0)
        self.n_batches = np.empty(0, dtype=np.int64)
        self.first_times = self.last_times = np.empty(0)
        self.sums = self.first_means = self.last_means = np.empty((0, 0))
        self.pair_ids = np.empty((0, 2), dtype=np.int64)
        self.pairs = np.empty((0, len(NearPairs.COLUMNS)))
        self._waiting: list[tuple[IntArray, FloatArray]] = []
        self.sample: deque[SampledBatch] = deque()
        self._n_sampled = 0
        self._time = 0.0

    def add(self, points: BatchArray, labels: IntArray, elapsed: float = 1.0) -> None:
        """Take in one batch; rows labeled below 0 are left out."""
        self._time += elapsed
        order = content_order(
            points
        )  # So that shuffled rows give the same sums and the same sample.
        order = order[labels[order] >= 0]
        if not len(order):
            return
        points, labels = points[order], labels[order]
        cells = BatchCells.gather(np.asarray(points, dtype=np.float64), labels)
        self._add_identities(cells)
        self._add_pairs(cells)
        self._keep_sample(points, labels, cells.ids)

    def _add_identities(self, cells: BatchCells) -> None:
        rows = np.searchsorted(self.ids, cells.ids)
        is_known = np.zeros(len(rows), dtype=bool)
        inside = rows < len(self.ids)
        is_known[inside] = self.ids[rows[inside]] == cells.ids[inside]
        if not is_known.all():
            self._make_room(cells, np.flatnonzero(~is_known), rows[~is_known])
            rows = np.searchsorted(self.ids, cells.ids)
        self.n[rows] += cells.counts
        self.free[rows] += cells.counts - 1
        self.squares[rows] += cells.squares
        self.n_batches[rows] += 1
        self.sums[rows] += cells.counts[:, None] * cells.means
        self.last_means[rows] = cells.means
        self.last_times[rows] = self._time

    def _make_room(self, cells: BatchCells, new: IntArray, at: IntArray) -> None:
        """Insert identities that are seen for the first time."""
        means, d = cells.means[new], cells.means.shape[1]
        self.ids = np.insert(self.ids, at, cells.ids[new])
        for name in ("n", "free", "squares", "n_batches"):
            setattr(self, name, np.insert(getattr(self, name), at, 0))
        for name in ("first_times", "last_times"):
            setattr(self, name, np.insert(getattr(self, name), at, self._time))
        self.sums = np.insert(self.sums.reshape(-1, d), at, 0.0, axis=0)
        self.first_means = np.insert(self.first_means.reshape(-1, d), at, means, axis=0)
        self.last_means = np.insert(self.last_means.reshape(-1, d), at, means, axis=0)

    def _add_pairs(self, cells: BatchCells) -> None:
        near = NearPairs.gather(cells)
        self._waiting.append((near.ids, near.values))
        if len(self._waiting) >= _N_WAITING:
            self.settle()

    def settle(self) -> None:
        """Add what waits to the sums; read `pairs` after this."""
        ids = np.concatenate([self.pair_ids, *(ids for ids, _ in self._waiting)])
        values = np.concatenate([self.pairs, *(values for _, values in self._waiting)])
        self._waiting.clear()
        if not len(ids):
            return
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        ids = ids[order]
        is_new = np.append(True, (ids[1:] != ids[:-1]).any(axis=1))
        self.pair_ids = ids[is_new]
        self.pairs = np.add.reduceat(values[order], np.flatnonzero(is_new))

    def _keep_sample(self, points: BatchArray, labels: IntArray, ids: IntArray) -> None:
        stride = -(-len(points) // _MOST_OF_BATCH)
        rows = np.array(points[::stride], dtype=np.float64)
        kept = SampledBatch(self._time, rows, labels[::stride].copy(), ids)
        self.sample.append(kept)
        self._n_sampled += len(kept.labels)
        while self._n_sampled - len(self.sample[0].labels) >= _MOST_ROWS:
            self._n_sampled -= len(self.sample.popleft().labels)
