"""Which level of the tree describes the stream most briefly (minimum description length).

The same description judges penalties. Identities stay as they are; families are described in
their place, with a covariance of their own.
"""

from dataclasses import replace

import numpy as np

from dynmeans.families.evidence import SampledBatch
from dynmeans.parameters.description_length import describe
from dynmeans.parameters.leading_axes import leading_axes
from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import IntArray
from dynmeans.records.families import Families

_N_LEVELS = 24
_NATS_PER_JOIN = 6.0  # that a join must bring: odds of 400 to 1
# Families should be seen in so many of the batches of their lives. Where they are not, a batch is
# too short to hold one round of what comes back, and the description would be of absences.
_SEEN = 0.75
_FEWEST_BATCHES = 4


def choose_level(families: Families, sample: list[SampledBatch]) -> float:
    """Return the level that describes the sample best; 0 where nothing speaks for joining more."""
    levels = _candidate_levels(families)
    if len(levels) == 1 or not sample:
        return 0.0
    sample = _on_leading_axes(sample)
    labels = np.concatenate([batch.labels for batch in sample])
    named = [np.ascontiguousarray(families.at(level).of(labels)) for level in levels]
    n_joins = np.searchsorted(families.tree.heights, levels, side="right")
    n_pooled = 1
    while True:
        points = _pooled_points(sample, n_pooled)
        if not points.variance > 0:
            return 0.0
        lengths = [describe(points, label).length for label in named]
        best = int(np.argmin(np.array(lengths) + _NATS_PER_JOIN * n_joins))
        is_last = n_pooled * 2 * _FEWEST_BATCHES > len(sample)
        if is_last or _share_seen(named[best], points.starts) >= _SEEN:
            return levels[best]
        n_pooled *= 2


def _candidate_levels(families: Families) -> list[float]:
    """Heights that leave numbers of families in a geometric series, and level 0."""
    heights = np.sort(families.tree.heights[families.tree.heights > 0])
    n = len(heights)
    left = np.unique(np.round(np.geomspace(1, n + 1, _N_LEVELS)).astype(np.int64))
    return [0.0, *heights[n - left[left <= n]][::-1].tolist()]


def _pooled_points(sample: list[SampledBatch], n_pooled: int) -> Points:
    """Rows of the sample with so many batches at a time as one."""
    parts = [sample[k : k + n_pooled] for k in range(0, len(sample), n_pooled)]
    rows = [np.concatenate([batch.points for batch in part]) for part in parts]
    times = np.array([part[0].time for part in parts])
    return Points.gather(rows, [None] * len(rows), times)


def _on_leading_axes(sample: list[SampledBatch]) -> list[SampledBatch]:
    axes = leading_axes([batch.points for batch in sample])
    if axes is None:
        return sample
    return [replace(batch, points=batch.points @ axes) for batch in sample]


def _share_seen(labels: IntArray, starts: IntArray) -> float:
    """Batches that saw a family, over all batches from its first to its last, for all families."""
    batches = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    cells = np.unique(np.column_stack([labels, batches]), axis=0)
    first = np.flatnonzero(np.append(True, np.diff(cells[:, 0]) != 0))
    last = np.append(first[1:], len(cells)) - 1
    return len(cells) / float(np.sum(cells[last, 1] - cells[first, 1] + 1))
