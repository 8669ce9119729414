"""The records of a history, read column by column."""

import numpy as np

from dynmeans.records.arrays import IntArray
from dynmeans.records.events import KINDS
from dynmeans.records.step_record import StepRecord
from dynmeans.report.arguments import BatchPoints, BatchTimes
from dynmeans.report.axes import Projection
from dynmeans.report.data import NO_SLOT, BatchColumns, ClusterColumns, EventColumns, PointColumns


class RecordTables:
    """The records, and what the page takes from them: a row for each cluster in each batch."""

    def __init__(self, records: list[StepRecord]) -> None:
        self.records = records
        self.ids = np.concatenate([record.ids for record in records])
        self.counts = np.concatenate([record.counts for record in records])
        self.centers = np.concatenate([record.centers for record in records])
        courses = [record.velocities for record in records if record.velocities is not None]
        self.has_velocities = len(courses) == len(records)
        self._velocities = np.concatenate(courses) if self.has_velocities else None
        # That a cluster moved is seen from its centers.
        self.happened = [[e for e in record.events if e.kind != "moved"] for record in records]

    def batches(self, times: BatchTimes, n_points: list[int]) -> BatchColumns:
        """One row for each batch."""
        costs = [record.cost if len(record.cost_trace) else np.nan for record in self.records]
        return BatchColumns(
            steps=_whole([record.step for record in self.records]),
            times=times.values,
            utc_offsets=times.utc_offsets,
            clocks=np.array([record.time for record in self.records], dtype=np.float64),
            costs=np.array(costs),
            n_points=_whole(n_points),
            n_seen=_whole([len(record.ids) for record in self.records]),
            n_remembered=_whole([record.n_remembered for record in self.records]),
            is_dated=times.is_dated,
            names=times.names,
        )

    def clusters(self, ids: IntArray, projection: Projection) -> ClusterColumns:
        """One row for each cluster among `ids` and batch."""
        is_shown = np.isin(self.ids, ids)
        n_seen = [len(record.ids) for record in self.records]
        batches = np.repeat(np.arange(len(n_seen)), n_seen)
        courses = None if self._velocities is None else projection(self._velocities[is_shown])
        return ClusterColumns(
            sizes=np.bincount(batches[is_shown], minlength=len(n_seen)),
            ids=self.ids[is_shown],
            counts=self.counts[is_shown],
            places=projection(self.centers[is_shown]),
            velocities=courses,
        )

    def events(self, ids: IntArray) -> EventColumns:
        """One row for each event of a cluster among `ids`."""
        known = set(ids.tolist())
        happened = [[e for e in batch if e.cluster_id in known] for batch in self.happened]
        events = [event for batch in happened for event in batch]
        return EventColumns(
            sizes=_whole([len(batch) for batch in happened]),
            kinds=_whole([KINDS.index(event.kind) for event in events]),
            ids=_whole([event.cluster_id for event in events]),
            others=_whole([-1 if e.other_id is None else e.other_id for e in events]),
            gaps=np.array([event.gap for event in events], dtype=np.float64),
            displacements=np.array([event.displacement for event in events], dtype=np.float64),
        )


def _whole(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def point_columns(
    drawn: list[BatchPoints], clusters: ClusterColumns, projection: Projection
) -> PointColumns:
    """One row for each point, with its cluster's row in the same batch."""
    ends = np.cumsum(clusters.sizes)
    slots = [
        _slots(batch.labels, clusters.ids[end - size : end])
        for batch, size, end in zip(drawn, clusters.sizes, ends, strict=True)
    ]
    return PointColumns(
        sizes=_whole([len(batch.labels) for batch in drawn]),
        slots=np.concatenate(slots),
        places=projection(np.concatenate([batch.points for batch in drawn])),
        origins=np.concatenate([_origins(batch) for batch in drawn]),
    )


def _origins(batch: BatchPoints) -> IntArray:
    return np.arange(len(batch.labels)) if batch.origins is None else batch.origins


def _slots(labels: IntArray, ids: IntArray) -> IntArray:
    """Return the row of each label among increasing ids, -1 where it is not there."""
    if len(ids) == 0:
        return np.full(len(labels), NO_SLOT)
    rows = np.minimum(np.searchsorted(ids, labels), len(ids) - 1)
    return np.where(ids[rows] == labels, rows, NO_SLOT)
