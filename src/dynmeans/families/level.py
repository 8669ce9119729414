"""Which level of the tree describes the stream most briefly (minimum description length).

The same description judges penalties. Identities stay as they are; families are described in
their place, with a covariance of their own.
"""

import numpy as np

from dynmeans.families.evidence import SampledBatch
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.tracks import MIN_POOLED, USUALLY_SEEN, Points, leading_axes, share_seen
from dynmeans.records.arrays import BatchArray, IntArray
from dynmeans.records.families import Families

_N_LEVELS = 24
_NATS_PER_JOIN = 6.0  # that a join must bring: odds of 400 to 1
_SINGLE = 2.0  # points of an identity that says nothing about a scale
_MANY, _FEW = 0.08, 0.05  # of all points, in such identities


def choose_level(families: Families, sample: list[SampledBatch]) -> float:
    """Return the level that describes the sample best, and climb from a scale that is too fine."""
    return _climb(families, _briefest_level(families, sample))


def _climb(families: Families, level: float) -> float:
    """Go up until few points are left in identities of one or two, if they hold many."""
    is_single = (families.nearest_family != families.tree.ids) & (families.counts <= _SINGLE)
    heights, points = families.nearest_family_distance[is_single], families.counts[is_single]
    order = np.argsort(-heights, kind="stable")
    left = np.cumsum(points[order]) / max(float(families.counts.sum()), 1.0)
    if not np.any(left[heights[order] > level] > _MANY):
        return level
    return max(level, float(heights[order][np.searchsorted(left, _FEW)]))


def _briefest_level(families: Families, sample: list[SampledBatch]) -> float:
    """Return the level that describes the sample best; 0 where nothing speaks for joining more.

    Where families are seldom seen, batches are described two, four, eight at a time, as long as
    that makes the description shorter.
    """
    levels = _candidate_levels(families)
    points = _points_of_sample(sample)
    if len(levels) == 1 or points is None:
        return 0.0
    labels = np.concatenate([batch.labels for batch in sample])
    named = [_names_at(families, level, labels) for level in levels]
    costs = _NATS_PER_JOIN * np.searchsorted(families.tree.heights, levels, side="right")
    best, length = 0, np.inf
    while True:
        lengths = np.array([describe(points, label).length for label in named]) + costs
        found = int(np.argmin(lengths))
        if lengths[found] >= length:
            return levels[best]
        best, length = found, lengths[found]
        is_last = points.n_batches < 2 * MIN_POOLED
        if is_last or share_seen(named[best], points.starts) >= USUALLY_SEEN:
            return levels[best]
        points = points.pool_tracks(2)


def _names_at(families: Families, level: float, labels: IntArray) -> IntArray:
    """Families of the rows; an outlier is its own family."""
    found = families.cut(level).map_labels(labels)
    return np.ascontiguousarray(np.where(found < 0, labels, found))


def _candidate_levels(families: Families) -> list[float]:
    """Heights that leave numbers of families in a geometric series, two at least, and level 0.

    The last two join only if they touch: one cloud inside another is described nearly as well as
    one, and a single family contains no information.
    """
    heights = np.sort(families.tree.heights[families.tree.heights > 0])
    n = len(heights)
    left = np.unique(np.round(np.geomspace(min(2, n + 1), n + 1, _N_LEVELS)).astype(np.int64))
    return [0.0, *heights[n - left[left <= n]][::-1].tolist()]


def _points_of_sample(sample: list[SampledBatch]) -> Points | None:
    """Rows of the sample on their leading axes, or None if they are all alike."""
    if not sample:
        return None
    rows: list[BatchArray] = [batch.points for batch in sample]
    axes = leading_axes(rows)
    if axes is not None:
        rows = [batch @ axes for batch in rows]
    times = np.array([batch.time for batch in sample])
    points = Points.gather(rows, [None] * len(rows), times)
    return points if points.variance > 0 else None
