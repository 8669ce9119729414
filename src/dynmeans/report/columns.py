"""The records of a history, read column by column."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import KINDS, Event
from dynmeans.records.step_record import StepRecord
from dynmeans.report.arguments import BatchPoints, BatchTimes
from dynmeans.report.axes import Projection
from dynmeans.report.data import NO_SLOT, BatchColumns, ClusterColumns, EventColumns, PointColumns


@dataclass(frozen=True, slots=True, eq=False)
class RecordTables:
    """The records, and what the page takes from them."""

    records: list[StepRecord]

    @property
    def ids(self) -> IntArray:
        """Identity of every cluster in every batch."""
        return np.concatenate([record.ids for record in self.records])

    @property
    def counts(self) -> FloatArray:
        """Its points there."""
        return np.concatenate([record.counts for record in self.records])

    @property
    def centers(self) -> FloatArray:
        """Its center there."""
        return np.concatenate([record.centers for record in self.records])

    @property
    def is_steady(self) -> bool:
        """Whether clusters keep a course."""
        return all(record.velocities is not None for record in self.records)

    @property
    def happened(self) -> list[list[Event]]:
        """The events of every batch; that a cluster moved is seen from its centers."""
        return [
            [event for event in record.events if event.kind != "moved"] for record in self.records
        ]

    def batches(self, times: BatchTimes, n_points: list[int]) -> BatchColumns:
        """One row for each batch."""

        def whole(values: list[int]) -> IntArray:
            return np.array(values, dtype=np.int64)

        return BatchColumns(
            steps=whole([record.step for record in self.records]),
            times=times.values,
            utc_offsets=times.utc_offsets,
            clocks=np.array([record.time for record in self.records], dtype=np.float64),
            costs=np.array([_cost(record) for record in self.records]),
            n_points=whole(n_points),
            n_seen=whole([len(record.ids) for record in self.records]),
            n_remembered=whole([record.n_remembered for record in self.records]),
            is_dated=times.is_dated,
            names=times.names,
        )

    def clusters(self, ids: IntArray, projection: Projection) -> ClusterColumns:
        """One row for each cluster among `ids` and batch."""
        seen = self.ids
        is_shown = np.isin(seen, ids)
        n_seen = [len(record.ids) for record in self.records]
        batches = np.repeat(np.arange(len(n_seen)), n_seen)
        return ClusterColumns(
            sizes=np.bincount(batches[is_shown], minlength=len(n_seen)),
            ids=seen[is_shown],
            counts=self.counts[is_shown],
            places=projection(self.centers[is_shown]),
            velocities=self._velocities(is_shown, projection),
        )

    def _velocities(
        self, is_shown: npt.NDArray[np.bool_], projection: Projection
    ) -> FloatArray | None:
        if not self.is_steady:
            return None
        found = [r.velocities for r in self.records if r.velocities is not None]
        return projection(np.concatenate(found)[is_shown])

    def events(self, ids: IntArray) -> EventColumns:
        """One row for each event of a cluster among `ids`."""
        known = set(ids.tolist())
        happened = [
            [event for event in batch if event.cluster_id in known] for batch in self.happened
        ]
        events = [event for batch in happened for event in batch]

        def real(values: list[float | None]) -> FloatArray:
            return np.array([np.nan if value is None else value for value in values], dtype=float)

        return EventColumns(
            sizes=np.array([len(batch) for batch in happened], dtype=np.int64),
            kinds=np.array([KINDS.index(event.kind) for event in events], dtype=np.int64),
            ids=np.array([event.cluster_id for event in events], dtype=np.int64),
            others=np.array(
                [-1 if event.other_id is None else event.other_id for event in events],
                dtype=np.int64,
            ),
            gaps=real([event.gap for event in events]),
            displacements=real([event.displacement for event in events]),
        )


def _cost(record: StepRecord) -> float:
    return record.cost if len(record.cost_trace) else float("nan")


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
        sizes=np.array([len(batch.labels) for batch in drawn], dtype=np.int64),
        slots=np.concatenate(slots),
        places=projection(np.concatenate([batch.points for batch in drawn])),
    )


def _slots(labels: IntArray, ids: IntArray) -> IntArray:
    """Return the row of each label among increasing ids, -1 where it is not there."""
    if len(ids) == 0:
        return np.full(len(labels), NO_SLOT)
    rows = np.minimum(np.searchsorted(ids, labels), len(ids) - 1)
    return np.where(ids[rows] == labels, rows, NO_SLOT)
