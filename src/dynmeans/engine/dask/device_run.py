"""A piece whose rows lie on a GPU, in one run: it answers as others do, and copies no rows."""

from typing import Any

import numpy as np

from dynmeans.engine.dask import device
from dynmeans.engine.dask.device_parts import DevicePart, DeviceParts
from dynmeans.engine.dask.messages import OrderRun, Request
from dynmeans.engine.dask.pass_log import ClusterTable, KeyArray, PassLog, SlotChanges
from dynmeans.engine.dask.piece_run import Part, PieceRun, hashed
from dynmeans.engine.gpu.host.bins import Magnitudes, choose_bins
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


class DeviceRun(PieceRun):
    """What a piece on a device knows in one run; arrays with a value for each row lie there."""

    def __init__(self, parts: list[Part], run: OrderRun, positions: KeyArray | None) -> None:
        opener = device.find_device()
        self._np, farthest, *rest = opener.arrays, *run.sums
        lightest, heaviest, n_points, has_weights, new_penalty = rest
        magnitudes = Magnitudes(farthest, lightest, heaviest)
        bins = choose_bins(magnitudes, n_points, has_weights, new_penalty)
        super().__init__(parts, run, positions)
        opened = []
        for part, keys in zip(parts, self._keys, strict=True):
            there = self._np.asarray(_numbered(part, run.seed) if keys is None else keys)
            takes_part = self._np.ones(len(part.points), dtype=bool)
            if part.weights is not None:
                takes_part = part.weights > 0
            rows = opener.open_rows(part.points, part.weights, there, run.n_keys, bins)
            opened.append(DevicePart(rows, there, takes_part))
        self._device_parts = DeviceParts(opened, self._np)

    def labels_in_memory(self) -> IntArray:
        """Return the slots after the last pass that is over."""
        labels: IntArray = device.find_device().in_memory(self.labels)
        return labels

    def predict_bystanders(
        self, part: Part, rule: tuple[ClusterState, Penalties]
    ) -> tuple[Any, IntArray]:
        """Return which rows of a part have no weight, and the labels a prediction gives them."""
        opener, weights = device.find_device(), part.weights
        assert weights is not None
        bystanders = weights == 0
        labels = opener.predict(part.points[bystanders], *rule)
        return opener.in_memory(bystanders), labels

    def _pairs(self) -> list[Any]:
        return [(self.labels[span], self.next[span]) for span in self._spans]

    def _settle_known(
        self, table: ClusterTable, changes: SlotChanges, begin: int, end: int
    ) -> None:
        keys, penalty = (begin, end - 1), self._run.new_penalty
        arguments = (self._pairs(), table.arrays, changes.arrays, penalty, keys)
        self._device_parts.settle_labels(*arguments)

    def _walk(self, log: PassLog, end: int) -> None:
        self.movers = None
        changes, penalty = log.changes.between(0, end), self._run.new_penalty
        arguments = (self._pairs(), log.table.arrays, changes.arrays, penalty, end - 1)
        self._device_parts.walk_changes(*arguments)

    def _update_own(self, request: Request) -> None:
        """Own costs are found where rows choose."""

    def _choose(self, request: Request, keys: tuple[int, int]) -> tuple[Any, ...]:
        table, penalty = request.log.table_before(keys[0]), self._run.new_penalty
        arguments = (self._pairs(), table.arrays, penalty, keys, request.limit)
        if request.pass_number == 1:
            return *self._device_parts.propose_unlabeled(*arguments), None, None
        return *self._device_parts.propose_labeled(*arguments), None

    def _count_moves(self, n_slots: int, last: int) -> tuple[Any, ...]:
        return self._device_parts.count_moves(self._pairs(), n_slots, last)

    def _sum_moves(self, n_slots: int) -> FloatArray:
        return self._device_parts.sum_moves(self._pairs(), n_slots)


def _numbered(part: Part, seed: int) -> KeyArray:
    numbers = part.first_row + np.arange(len(part.points), dtype=np.uint64)
    keys = hashed(part._replace(numbers=numbers), seed)
    assert keys is not None
    return keys
