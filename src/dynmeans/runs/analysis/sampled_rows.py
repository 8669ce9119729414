"""Statistics of clusters from the rows that a run keeps of each window."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.run import Run
from dynmeans.runs.store.run_tables import window_names
from dynmeans.spaces.globe import unwrap, wrap_differences
from dynmeans.spaces.standard import find_outliers, quartiles

# From identities to what is described: themselves, those that people merged, or families.
JobCallbacks = Callable[[IntArray], IntArray]
Periods = Sequence[float | None]
_ROWS_AT_ONCE = 20_000  # of small windows; one by one they would take longer than their rows


class ClusterTotals(NamedTuple):
    """How much each cluster held and when it was seen; row i belongs to the i-th identity."""

    ids: IntArray
    n_points: FloatArray
    n_windows: IntArray
    first_windows: list[str]
    last_windows: list[str]


def cluster_totals(run: Run, shown: JobCallbacks, records: Iterable[StepRecord]) -> ClusterTotals:
    """Count points and windows of each cluster that was ever seen."""
    names = window_names(run.store)
    seen = list(records)
    none = [np.empty(0, dtype=np.int64)]
    steps = np.concatenate([np.full(len(record.ids), record.step) for record in seen] or none)
    keys = shown(np.concatenate([record.ids for record in seen] or none))
    counts = np.concatenate([record.counts for record in seen] or [np.empty(0)])
    ids, rows = np.unique(keys, return_inverse=True)
    pairs = np.unique(np.stack([rows, steps]), axis=1)  # a cluster and a window that saw it
    n_windows = np.bincount(pairs[0], minlength=len(ids))
    ends = np.cumsum(n_windows)
    return ClusterTotals(
        ids,
        np.bincount(rows, weights=counts, minlength=len(ids)).astype(np.float64),
        n_windows,
        [names.get(step) or str(step) for step in pairs[1, ends - n_windows].tolist()],
        [names.get(step) or str(step) for step in pairs[1, ends - 1].tolist()],
    )


def moments(
    samples: Iterable[Sample], ids: IntArray, shown: JobCallbacks, periods: Periods
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Counts, means, variances, and standardized differences to all other rows.

    A row a thousand times as far out as the middle half does not count among the others.
    """
    n, d = len(ids), len(periods)
    every, usual = ([np.zeros(n), np.zeros((n, d)), np.zeros((n, d))] for _ in range(2))
    is_round = np.array([period is not None for period in periods])
    turns = 2j * np.pi / np.array([period or np.inf for period in periods])
    around = np.zeros((n, d), dtype=complex)  # sums of unit vectors, of usual rows
    center, lowest = np.full((n, d), np.nan), np.full(d, np.inf)
    middle = spread = None
    for points, rows, windows in _rows_of_known(samples, ids, shown):
        if not len(points):
            continue
        if middle is None or spread is None:
            first = points[windows == windows[0]]
            middle, spread = quartiles(first, np.ones(len(first)))
            center[:, ~is_round] = middle[~is_round]  # squares of small numbers
        earliest = np.argsort(-windows, kind="stable")  # what is written last stays
        is_first = np.isnan(center[rows]) & is_round
        center[rows[earliest]] = np.where(is_first, points, center[rows])[earliest]
        lowest = np.minimum(lowest, points.min(axis=0))
        away = wrap_differences(points - center[rows], periods)
        is_usual = ~find_outliers(points, middle, spread).any(axis=1)
        for (n_rows, sums, squares), part in ((every, slice(None)), (usual, is_usual)):
            np.add.at(n_rows, rows[part], 1.0)
            np.add.at(sums, rows[part], away[part])
            np.add.at(squares, rows[part], away[part] ** 2)
        np.add.at(around, rows[is_usual], np.exp(turns * points[is_usual]))
    counts = every[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        means, variances = _mean_and_variance(*every)
        rest = [total.sum(axis=0) - total for total in usual]
        other_means, other_variances = _mean_and_variance(*rest)
        means = means + center
        other_means = other_means + center
        if is_round.any():
            others = (around.sum(axis=0) - around)[:, is_round]
            shares = np.minimum(np.abs(others) / rest[0][:, None], 1.0)
            radius = 1.0 / np.abs(turns[is_round])
            other_means[:, is_round] = np.angle(others) * radius
            other_variances[:, is_round] = -2.0 * np.log(shares) * radius**2
        away = wrap_differences(means - other_means, periods)
        differences = away / np.sqrt(0.5 * (variances + other_variances))
    differences[~np.isfinite(differences)] = np.nan
    for column, period in enumerate(periods):
        if period is not None:
            start = -0.5 * period if lowest[column] < 0 else 0.0
            means[:, column] = unwrap(means[:, column], start, period)
    return counts, means, variances, differences


def _rows_of_known(
    samples: Iterable[Sample], ids: IntArray, shown: JobCallbacks
) -> Iterator[tuple[FloatArray, IntArray, IntArray]]:
    """Yield the rows that have one of these identities, the place of each, and of its window."""
    for some in _join_tables(samples):
        names = shown(np.concatenate([sample.cluster_ids for sample in some]))
        is_known = np.isin(names, ids)
        points = np.concatenate([sample.points for sample in some])[is_known]
        windows = np.repeat(np.arange(len(some)), [len(sample.points) for sample in some])
        rows = np.searchsorted(ids, names[is_known])
        yield points.astype(np.float64), rows, windows[is_known]


def _join_tables(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    some: list[Sample] = []
    n_rows = 0
    for sample in samples:
        some.append(sample)
        n_rows += len(sample.points)
        if n_rows >= _ROWS_AT_ONCE:
            yield some
            some, n_rows = [], 0
    if some:
        yield some


def periods_of(run: Run) -> tuple[float | None, ...]:
    """After which length each feature comes round again, in the space of the run."""
    n_features, memory = len(run.config.features), run.memory
    return (None,) * n_features if memory is None else memory.space_or_raw.periods(n_features)


def _mean_and_variance(
    counts: FloatArray, sums: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    means = sums / counts[:, None]
    return means, np.maximum(squares / counts[:, None] - means**2, 0.0)
