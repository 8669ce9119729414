"""From a history, its points and its scores to the data of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from dynmeans.plots.arguments import checked_history
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import KINDS
from dynmeans.records.history import History, StepRecord
from dynmeans.report.arguments import (
    Samples,
    checked_names,
    checked_samples,
    checked_times,
    described_parameters,
)
from dynmeans.report.axes import MAX_FEATURES, Projection, make_projection
from dynmeans.report.data import (
    NO_SLOT,
    BatchColumns,
    ClusterColumns,
    EventColumns,
    PointColumns,
    ReportData,
)
from dynmeans.report.packing import BATCH_BYTES, EVENT_BYTES, point_bytes, row_bytes
from dynmeans.report.score_meanings import described_scores
from dynmeans.report.thinning import MAX_BATCHES, choose_clusters, choose_rows, points_per_batch

# Of the page's 5 MB: the rest is its text, its code and the words of the report.
DATA_BYTES = 4_500_000
CLUSTER_SHARE = 0.55


def report_data(
    history: History,
    *,
    points: Sequence[npt.ArrayLike] | None = None,
    point_labels: Sequence[npt.ArrayLike] | None = None,
    feature_names: Sequence[str] | None = None,
    times: Sequence[datetime] | npt.ArrayLike | None = None,
    parameters: Mapping[str, object] | None = None,
    scores: Mapping[str, float] | None = None,
    title: str = "Clusters over time",
) -> ReportData:
    """Gather what a report shows, thinned so that the page stays below 5 MB.

    Parameters
    ----------
    history : History
        The record of the batches. The last 20,000 are shown.
    points : sequence of array-like of shape (n_points, n_features), optional
        Points of every batch in the history, or some of them. Without, only centers are drawn.
    point_labels : sequence of array-like of shape (n_points,), optional
        Identities of these points. By default the history's labels, row for row.
    feature_names : sequence of str, optional
        Names of the features; the first 8 can be chosen as axes.
    times : sequence of datetime or of float, optional
        When each batch came. Dates without a time zone are taken and shown as they are. By
        default the history's own times.
    parameters : mapping, optional
        Names and values to list on the page.
    scores : mapping of str to float, optional
        Scores against the truth, such as `metrics.tracking_report` returns.
    title : str
        Heading of the page.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> batches = [[[0.0, 0.0], [5.0, 5.0]], [[0.3, 0.1], [5.0, 5.3]]]
    >>> _, history = DynamicMeans(random_state=0).fit_sequence(batches)
    >>> data = report_data(history, points=batches, feature_names=["east", "north"])
    >>> data.n_clusters, data.batches.n_points.tolist(), [axis.name for axis in data.axes]
    (2, [2, 2], ['east', 'north'])
    """
    n_batches = len(checked_history(history))
    n_features = history[0].centers.shape[1]
    names = checked_names(feature_names, n_features)
    samples = checked_samples(points, point_labels, history, n_features)
    when, utc_offsets, is_dated = checked_times(times, history)
    shown = history.last(min(n_batches, MAX_BATCHES))
    samples = samples[-len(shown) :]
    tables = _Tables(list(shown))
    n_axes = min(n_features, MAX_FEATURES) + (2 if n_features > 2 else 0)
    ids, points_left = _shown_clusters(tables, n_axes)
    thinned, per_batch = _thinned(samples, points_left / point_bytes(n_axes))
    projection = _projection(names, thinned, tables)
    clusters = tables.clusters(ids, projection)
    placed = _point_columns(thinned, clusters, projection)
    batches = tables.batches(when[-len(shown) :], utc_offsets[-len(shown) :], is_dated)
    return ReportData(
        title=str(title),
        axes=projection.axes,
        view=projection.view,
        batches=batches,
        clusters=clusters,
        points=placed,
        events=tables.events(ids),
        n_clusters=len(tables.all_ids),
        parameters=described_parameters(parameters or {}),
        scores=described_scores(scores or {}),
        notes=_notes(n_batches, batches, tables, ids, placed, per_batch),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """The records of a history, read column by column."""

    records: list[StepRecord]

    @property
    def all_ids(self) -> IntArray:
        return np.unique(np.concatenate([record.ids for record in self.records]))

    def batches(self, times: FloatArray, utc_offsets: IntArray, is_dated: bool) -> BatchColumns:
        def whole(values: list[int]) -> IntArray:
            return np.array(values, dtype=np.int64)

        return BatchColumns(
            steps=whole([record.step for record in self.records]),
            times=times,
            utc_offsets=utc_offsets,
            costs=np.array([_cost(record) for record in self.records]),
            n_points=whole([_n_points(record) for record in self.records]),
            n_seen=whole([len(record.ids) for record in self.records]),
            n_remembered=whole([record.n_remembered for record in self.records]),
            is_dated=is_dated,
        )

    def clusters(self, ids: IntArray, projection: Projection) -> ClusterColumns:
        is_shown = [np.isin(record.ids, ids) for record in self.records]
        pairs = list(zip(self.records, is_shown, strict=True))
        centers = np.concatenate([record.centers[keep] for record, keep in pairs])
        return ClusterColumns(
            sizes=np.array([keep.sum() for keep in is_shown], dtype=np.int64),
            ids=np.concatenate([record.ids[keep] for record, keep in pairs]),
            counts=np.concatenate([record.counts[keep] for record, keep in pairs]),
            places=projection(centers),
        )

    def events(self, ids: IntArray) -> EventColumns:
        known = set(ids.tolist())
        happened = [
            [
                event
                for event in record.events
                if event.kind != "moved" and event.cluster_id in known
            ]
            for record in self.records
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


def _n_points(record: StepRecord) -> int:
    """Count the points; a history read back without labels still has the counts."""
    return len(record.labels) or round(record.counts.sum())


def _shown_clusters(tables: _Tables, n_axes: int) -> tuple[IntArray, float]:
    """Return the clusters the page has room for, and the bytes they leave to the points."""
    ids = np.concatenate([record.ids for record in tables.records])
    counts = np.concatenate([record.counts for record in tables.records])
    all_ids, rows = np.unique(ids, return_inverse=True)
    happened = np.array(
        [
            event.cluster_id
            for record in tables.records
            for event in record.events
            if event.kind != "moved"
        ],
        dtype=np.int64,
    )
    n_rows = np.bincount(rows, minlength=len(all_ids))
    known = happened[np.isin(happened, all_ids)]
    n_events = np.bincount(np.searchsorted(all_ids, known), minlength=len(all_ids))
    costs = n_rows * row_bytes(n_axes) + n_events * EVENT_BYTES
    n_points = np.bincount(rows, weights=counts, minlength=len(all_ids))
    left = DATA_BYTES - BATCH_BYTES * len(tables.records)
    shown = choose_clusters(all_ids, n_points, costs, CLUSTER_SHARE * left)
    return shown, left - float(costs[np.isin(all_ids, shown)].sum())


def _thinned(samples: Samples, budget: float) -> tuple[Samples, int]:
    sizes = np.array([len(labels) for _, labels in samples], dtype=np.int64)
    n_kept = points_per_batch(sizes, budget)
    chosen = [choose_rows(labels, n_kept) for _, labels in samples]
    pairs = zip(samples, chosen, strict=True)
    return [(points[rows], labels[rows]) for (points, labels), rows in pairs], n_kept


def _projection(names: tuple[str, ...], samples: Samples, tables: _Tables) -> Projection:
    """Take the axes from the points drawn, or from the centers where there are none."""
    rows = np.concatenate([points for points, _ in samples])
    weights = np.ones(len(rows))
    if len(rows) == 0:
        rows = np.concatenate([record.centers for record in tables.records])
        weights = np.concatenate([record.counts for record in tables.records])
    return make_projection(names, rows, weights)


def _point_columns(
    samples: Samples, clusters: ClusterColumns, projection: Projection
) -> PointColumns:
    ends = np.cumsum(clusters.sizes)
    slots = [
        _slots(labels, clusters.ids[end - size : end])
        for (_, labels), size, end in zip(samples, clusters.sizes, ends, strict=True)
    ]
    return PointColumns(
        sizes=np.array([len(labels) for _, labels in samples], dtype=np.int64),
        slots=np.concatenate(slots),
        places=projection(np.concatenate([points for points, _ in samples])),
    )


def _slots(labels: IntArray, ids: IntArray) -> IntArray:
    """Return the row of each label among increasing ids, -1 where it is not there."""
    if len(ids) == 0:
        return np.full(len(labels), NO_SLOT)
    rows = np.minimum(np.searchsorted(ids, labels), len(ids) - 1)
    return np.where(ids[rows] == labels, rows, NO_SLOT)


def _notes(
    n_batches: int,
    batches: BatchColumns,
    tables: _Tables,
    ids: IntArray,
    points: PointColumns,
    per_batch: int,
) -> tuple[str, ...]:
    notes = []
    n_points, n_drawn = int(batches.n_points.sum()), int(points.sizes.sum())
    if n_drawn == 0 and n_points:
        notes.append("The page was made without points: only the centers are drawn.")
    elif n_drawn < n_points:
        notes.append(
            f"Of {n_points:,} points {n_drawn:,} are drawn: at most {max(per_batch, points.sizes.max()):,} of each batch, "
            "at equal distances in order of cluster and row, so that every cluster keeps its "
            "share. Centers, sizes and scores come from all points."
        )
    if len(ids) < len(tables.all_ids):
        notes.append(
            f"Of {len(tables.all_ids):,} clusters the {len(ids):,} with the most points are shown."
        )
    if len(tables.records) < n_batches:
        notes.append(f"Of {n_batches:,} batches the last {len(tables.records):,} are shown.")
    return tuple(notes)
