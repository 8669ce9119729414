"""From a history, its points and its scores to the data of a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dynmeans.plots.arguments import check_history
from dynmeans.records.arrays import IntArray
from dynmeans.records.history import History
from dynmeans.report.arguments import (
    Times,
    check_names,
    check_points_of,
    check_times,
    format_parameters,
)
from dynmeans.report.axes import axis_numbers, in_space, make_projection
from dynmeans.report.columns import RecordTables, point_columns
from dynmeans.report.data import ReportData
from dynmeans.report.downsample import (
    MAX_BATCHES,
    choose_clusters,
    downsample_rows,
    points_per_batch,
)
from dynmeans.report.encode import EVENT_BYTES, batch_bytes, point_bytes, row_bytes
from dynmeans.report.score_meanings import format_scores
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.reading.sampling import Sample
from dynmeans.spaces.raw import RAW

# Of the page's 5 MB: the rest is its text, its code and the words of the report.
DATA_BYTES = 4_500_000
CLUSTER_SHARE = 0.55
_THINNING_RULE = (
    "at equal distances in order of cluster and row, so that every cluster keeps its share"
)


def report_data(
    history: History,
    *,
    points: Sequence[npt.ArrayLike] | None = None,
    samples: Iterable[Sample] | None = None,
    feature_names: Sequence[str] | None = None,
    times: Times | None = None,
    parameters: Mapping[str, object] | None = None,
    scores: Mapping[str, float] | None = None,
    title: str = "Clusters over time",
) -> ReportData:
    """Collect the data of a report; points are sampled so that the page stays below 5 MB.

    Parameters
    ----------
    history : History
        The record of the batches. The last 20,000 are shown.
    points : sequence of array-like of shape (n_points, n_features), optional
        All points of every batch in the history. Without, only centers are drawn.
    samples : iterable of Sample, optional
        Some points of every batch instead of `points`, as from `Run.samples`.
    feature_names : sequence of str, optional
        Names of the features, by default those of the history; the first 8 can be chosen as
        axes, or fewer if there are many clusters.
    times : sequence of datetime, of float or of str, optional
        When each batch came. Dates without a time zone are shown unchanged; text
        names the batches, which keep the times of the history. By default those of the history.
    parameters : mapping, optional
        Names and values to list on the page.
    scores : mapping of str to float, optional
        Scores against the truth, such as `metrics.tracking_report` returns.
    title : str
        Heading of the page.

    See Also
    --------
    write_report : Write the page to a file.
    dynmeans.report.from_run.run_report : The data of a run.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> batches = [[[0.0, 0.0], [5.0, 5.0]], [[0.3, 0.1], [5.0, 5.3]]]
    >>> _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    >>> data = report_data(history, points=batches, feature_names=["east", "north"])
    >>> data.n_clusters, data.batches.n_points.tolist(), [axis.name for axis in data.axes]
    (2, [2, 2], ['east', 'north'])
    """
    n_shown = min(len(check_history(history)), MAX_BATCHES)
    n_features = history[0].centers.shape[1]
    names = check_names(feature_names or history.feature_names, n_features)
    every = check_points_of(points, samples, history)
    given = every[-n_shown:]
    when = check_times(history.times if times is None else times, history).last(n_shown)
    tables = RecordTables(list(history.last(n_shown)))
    # Axes of a vector's numbers mean nothing one by one.
    are_vectors = n_features > 2 and all(map(is_of_vector, names))
    choices = [(0, 2)] if are_vectors else axis_numbers(n_features)
    n_kept, ids, n_points = _fit_space(tables, choices, DATA_BYTES - batch_bytes(when))
    most = points_per_batch(np.array([len(batch.labels) for batch in given]), n_points)
    thinned = [batch.take(downsample_rows(batch.labels, most)) for batch in given]
    rows = np.concatenate([batch.points for batch in thinned])
    weighed = (rows, np.ones(len(rows))) if len(rows) else (tables.centers, tables.counts)
    projection = make_projection(names, n_kept, *weighed)
    clusters = tables.clusters(ids, projection)
    n_returned = sum(event.kind == "returned" for record in history for event in record.events)
    data = ReportData(
        title=str(title),
        axes=projection.axes,
        view=projection.view,
        batches=tables.batches(when, [batch.n_rows for batch in given]),
        clusters=clusters,
        points=point_columns(thinned, clusters, projection),
        events=tables.events(ids),
        n_clusters=len(np.unique(np.concatenate([record.ids for record in history]))),
        parameters=format_parameters(parameters or {}),
        scores=format_scores(scores or {}),
        notes=(),
        matrix=projection.matrix,
        totals=(sum(batch.n_rows for batch in every), len(history), n_returned),
    )
    notes = _notes(history, sum(len(batch.labels) for batch in given), data)
    return replace(in_space(data, RAW), notes=notes)


def _fit_space(
    tables: RecordTables, choices: list[tuple[int, int]], room: float
) -> tuple[int, IntArray, float]:
    """Return the number of features that can be axes, the clusters that fit, and their points."""
    n_clusters = len(np.unique(tables.ids))
    for n_kept, n_axes in choices:
        ids, left = _select_clusters(tables, n_axes, room)
        fitted = n_kept, ids, left / point_bytes(n_axes)
        if len(ids) == n_clusters:
            break
    return fitted


def _select_clusters(tables: RecordTables, n_axes: int, budget: float) -> tuple[IntArray, float]:
    """Return the clusters the page has room for, and the bytes they leave to the points."""
    all_ids, rows = np.unique(tables.ids, return_inverse=True)
    n = len(all_ids)
    happened = np.array(
        [event.cluster_id for batch in tables.happened for event in batch], dtype=np.int64
    )
    known = happened[np.isin(happened, all_ids)]
    n_rows, n_events = (
        np.bincount(which, minlength=n) for which in (rows, np.searchsorted(all_ids, known))
    )
    n_points = np.bincount(rows, weights=tables.counts, minlength=n).astype(np.float64)
    costs = n_rows * row_bytes(n_axes, tables.has_velocities) + n_events * EVENT_BYTES
    shown = choose_clusters(all_ids, n_points, costs, CLUSTER_SHARE * budget)
    return shown, budget - float(costs[np.isin(all_ids, shown)].sum())


def _notes(history: History, n_given: int, data: ReportData) -> tuple[str, ...]:
    """Return what is left out, and by which rule."""
    notes = []
    sizes, n_points = data.points.sizes, int(data.batches.n_points.sum())
    n_drawn, n_shown = int(sizes.sum()), len(np.unique(data.clusters.ids))
    if n_drawn == 0 and n_points:
        notes.append("The page was made without points: only the centers are drawn.")
    elif n_drawn < n_points:
        rule = f", {_THINNING_RULE}" if n_drawn < n_given else ""
        notes.append(
            f"Of {n_points:,} points {n_drawn:,} are drawn: at most {sizes.max():,} of each batch"
            f"{rule}. Centers, sizes and scores come from all points."
        )
    if n_shown < data.n_clusters:
        notes.append(
            f"Of {data.n_clusters:,} clusters the {n_shown:,} with the most points are shown."
        )
    if len(sizes) < len(history):
        notes.append(f"Of {len(history):,} batches the last {len(sizes):,} are shown.")
    n_features, n_axes = history[0].centers.shape[1], len(data.axes)
    if n_axes > 2 and n_axes < n_features + (2 if n_features > 2 else 0):
        notes.append(f"Of {n_features} features the first {n_axes - 2} can be axes.")
    return tuple(notes)
