"""What all metrics share: the clusters of both sides at every step, and how they overlap."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dynmeans.metrics.check_labels import (
    NO_CLUSTER,
    Batches,
    ScoredPoints,
    check_labels,
    number_distinct,
    sum_by,
)
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class LabeledClusters:
    """The clusters of one side: one row for each step and identity, in that order."""

    # steps, ids: (n_rows,); step, and identity as a number from 0 in the sorted order of the
    # labels.
    steps: IntArray
    ids: IntArray
    sizes: FloatArray  # (n_rows,); points in the cluster at that step, or the sum of their weights
    starts: IntArray  # (n_steps + 1,); step t has the rows ``starts[t]`` to ``starts[t + 1]``
    n_ids: int  # Different identities over all steps


class StepOverlaps(NamedTuple):
    """One step: its clusters by identity, and the pairs of them that share points."""

    true_ids: IntArray
    found_ids: IntArray
    rows: IntArray  # place of each pair in true_ids
    cols: IntArray  # place of each pair in found_ids
    pairs: slice  # the same pairs among those of all steps


@dataclass(frozen=True, slots=True)
class LabelStreams:
    """Two streams of labels, counted: a pair is a true and a found cluster that share points."""

    # true, found: the clusters of each side. Points in no cluster are in no row of `found`.
    true: LabeledClusters
    found: LabeledClusters
    # pair_true, pair_found: (n_pairs,); the two rows of each pair, sorted by both, so that steps
    # follow one another.
    pair_true: IntArray
    pair_found: IntArray
    overlaps: FloatArray  # (n_pairs,); points shared, or the sum of their weights; greater than 0
    # (n_pairs,); link of each pair. A link is a pair of identities, whatever the step.
    pair_links: IntArray
    # link_true, link_found: (n_links,); the two identities of each link.
    link_true: IntArray
    link_found: IntArray
    points: ScoredPoints  # The labels that were counted

    def each_step(self) -> Iterator[StepOverlaps]:
        """Go through all steps in order."""
        pair_starts = np.searchsorted(self.pair_true, self.true.starts)
        for step in range(self.points.n_steps):
            true_start, true_end = self.true.starts[step : step + 2]
            found_start, found_end = self.found.starts[step : step + 2]
            pairs = slice(pair_starts[step], pair_starts[step + 1])
            yield StepOverlaps(
                true_ids=self.true.ids[true_start:true_end],
                found_ids=self.found.ids[found_start:found_end],
                rows=self.pair_true[pairs] - true_start,
                cols=self.pair_found[pairs] - found_start,
                pairs=pairs,
            )

    def similarities(self) -> FloatArray:
        """Points both clusters of a pair share, divided by the points in either (Jaccard)."""
        union = self.true.sizes[self.pair_true] + self.found.sizes[self.pair_found] - self.overlaps
        return self.overlaps / union


def read_label_streams(
    true: Batches, found: Batches, weights: Batches | None = None
) -> LabelStreams:
    """Check the labels of all batches (see `check_labels`) and count how they overlap."""
    return count_overlaps(check_labels(true, found, weights))


def count_overlaps(points: ScoredPoints) -> LabelStreams:
    """Count the clusters of both sides at every step, and the points they share."""
    is_found = points.found_labels != NO_CLUSTER
    found_steps = points.steps[is_found]
    found_weights = None if points.weights is None else points.weights[is_found]
    true_clusters, true_rows = _count_clusters(
        points.steps, points.true_labels, points.weights, points.n_steps
    )
    found_clusters, found_rows = _count_clusters(
        found_steps, points.found_labels[is_found], found_weights, points.n_steps
    )
    # Found clusters are numbered within their step here, so that the keys lie close together.
    width = int(np.diff(found_clusters.starts).max()) + 1
    slots = found_rows - found_clusters.starts[found_steps]
    pairs, places = number_distinct(true_rows[is_found] * width + slots)
    pair_true, pair_slots = np.divmod(pairs, width)
    pair_found = pair_slots + found_clusters.starts[true_clusters.steps[pair_true]]
    n_found_ids = max(found_clusters.n_ids, 1)
    links, pair_links = number_distinct(
        true_clusters.ids[pair_true] * n_found_ids + found_clusters.ids[pair_found]
    )
    return LabelStreams(
        true=true_clusters,
        found=found_clusters,
        pair_true=pair_true,
        pair_found=pair_found,
        overlaps=sum_by(places, found_weights, len(pairs)),
        pair_links=pair_links,
        link_true=links // n_found_ids,
        link_found=links % n_found_ids,
        points=points,
    )


def _count_clusters(
    steps: IntArray, labels: IntArray, weights: FloatArray | None, n_steps: int
) -> tuple[LabeledClusters, IntArray]:
    """Count the clusters of one side, and give the row that each point is in."""
    n_ids = int(labels.max(initial=-1)) + 1
    keys, rows = number_distinct(steps * max(n_ids, 1) + labels)
    cluster_steps, ids = np.divmod(keys, max(n_ids, 1))
    sizes = sum_by(rows, weights, len(keys))
    starts = np.searchsorted(cluster_steps, np.arange(n_steps + 1))
    return LabeledClusters(cluster_steps, ids, sizes, starts, n_ids), rows
