"""What the rows that a run keeps of each window say about its clusters, window after window."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.run import Run
from dynmeans.spaces.globe import shortest, unwrapped
from dynmeans.spaces.standard import odd_cells, quartiles

# From identities to what is described: themselves, those that people merged, or families.
Shown = Callable[[IntArray], IntArray]
N_TYPICAL = 3


class Lives(NamedTuple):
    """How much each cluster held and when it was seen; row i belongs to the i-th identity."""

    ids: IntArray
    n_points: FloatArray
    n_windows: IntArray
    first_windows: list[str]
    last_windows: list[str]
    window_names: dict[int, str | None]


def lives_of(run: Run, shown: Shown) -> Lives:
    """Count points and windows of each cluster that was ever seen."""
    names = run.window_names()
    found: dict[int, list[float]] = {}  # points, windows, first and last step
    for record in run.history(labels=False):
        keys = shown(record.ids)
        for k in np.unique(keys).tolist():
            life = found.setdefault(k, [0.0, 0, record.step, record.step])
            life[0] += float(record.counts[keys == k].sum())
            life[1], life[3] = life[1] + 1, record.step
    ids = np.array(sorted(found), dtype=np.int64)
    points, windows, first, last = ([found[k][column] for k in ids.tolist()] for column in range(4))
    return Lives(
        ids,
        np.array(points),
        np.array(windows, dtype=np.int64),
        [names.get(int(step)) or str(step) for step in first],
        [names.get(int(step)) or str(step) for step in last],
        names,
    )


def moments(
    run: Run, ids: IntArray, shown: Shown
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Counts, means, variances, and standardized differences to all other rows.

    A feature that comes round again is averaged the short way round, and has no differences: on a
    circle nothing lies above or below. A row a thousand times as far out as the middle half counts
    for its own cluster, and not among the others.
    """
    n, d = len(ids), len(run.config.features)
    every, usual = ([np.zeros(n), np.zeros((n, d)), np.zeros((n, d))] for _ in range(2))
    periods = periods_of(run)
    is_round = np.array([period is not None for period in periods])
    center, lowest = np.full((n, d), np.nan), np.full(d, np.inf)
    middle = spread = None
    for sample in run.samples():
        points, rows = _known_rows(sample, ids, shown)
        if not len(points):
            continue
        if middle is None or spread is None:
            middle, spread = quartiles(points, np.ones(len(points)))
            center[:, ~is_round] = middle[~is_round]  # squares of small numbers
        is_first = np.isnan(center[rows]) & is_round
        center[rows] = np.where(is_first, points, center[rows])
        lowest = np.minimum(lowest, points.min(axis=0))
        away = shortest(points - center[rows], periods)
        is_usual = ~odd_cells(points, middle, spread).any(axis=1)
        for (n_rows, sums, squares), part in ((every, slice(None)), (usual, is_usual)):
            np.add.at(n_rows, rows[part], 1.0)
            np.add.at(sums, rows[part], away[part])
            np.add.at(squares, rows[part], away[part] ** 2)
    counts = every[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        means, variances = _mean_and_variance(*every)
        rest = [total.sum(axis=0) - total for total in usual]
        other_means, other_variances = _mean_and_variance(*rest)
        differences = (means - other_means) / np.sqrt(0.5 * (variances + other_variances))
    differences[~np.isfinite(differences) | is_round] = np.nan
    means = means + center
    for column, period in enumerate(periods):
        if period is not None:
            start = -0.5 * period if lowest[column] < 0 else 0.0
            means[:, column] = unwrapped(means[:, column], start, period)
    return counts, means, variances, differences


def _known_rows(sample: Sample, ids: IntArray, shown: Shown) -> tuple[FloatArray, IntArray]:
    """Return the rows of a window that have one of these identities, and the place of each."""
    names = shown(sample.cluster_ids)
    is_known = np.isin(names, ids)
    return sample.points[is_known].astype(np.float64), np.searchsorted(ids, names[is_known])


def periods_of(run: Run) -> tuple[float | None, ...]:
    """After which length each feature comes round again, in the space of the run."""
    n_features, memory = len(run.config.features), run.memory
    return (None,) * n_features if memory is None else memory.known_space.periods(n_features)


def _mean_and_variance(
    counts: FloatArray, sums: FloatArray, squares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    means = sums / counts[:, None]
    return means, np.maximum(squares / counts[:, None] - means**2, 0.0)


def typical_rows(
    run: Run, ids: IntArray, shown: Shown, means: FloatArray, variances: FloatArray
) -> tuple[FloatArray, list[list[str]]]:
    """Keep the rows nearest to the mean of each, window after window."""
    spreads = np.nansum(variances, axis=0) / max(np.count_nonzero(variances[:, 0] >= 0), 1)
    scale = np.where(spreads > 0, np.sqrt(spreads), 1.0)
    nearest, periods = np.full((len(ids), N_TYPICAL), np.inf), periods_of(run)
    typical = np.full((len(ids), N_TYPICAL, means.shape[1]), np.nan)
    windows = [[""] * N_TYPICAL for _ in ids]
    for sample in run.samples():
        points, rows = _known_rows(sample, ids, shown)
        distances = np.sum((shortest(points - means[rows], periods) / scale) ** 2, axis=1)
        for i in np.flatnonzero(distances < nearest[rows, -1]):
            row = rows[i]
            place = int(np.searchsorted(nearest[row], distances[i], side="right"))
            if place == N_TYPICAL:
                continue
            nearest[row, place + 1 :] = nearest[row, place:-1].copy()
            typical[row, place + 1 :] = typical[row, place:-1].copy()
            nearest[row, place], typical[row, place] = distances[i], points[i]
            windows[row].insert(place, sample.name or str(sample.step))
            windows[row].pop()
    return typical, [[name for name in names if name] for names in windows]
