"""Which contact index joins two clusters: chosen on the data by modularity (decision 0324)."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from dynmeans.families.evidence import Evidence, SampledBatch
from dynmeans.families.small_clusters import find_small_groups
from dynmeans.parameters.principal_axes import rotate_rows
from dynmeans.parameters.tracks import leading_axes
from dynmeans.records.arrays import BatchArray, BoolArray, IntArray
from dynmeans.records.families import merge_groups

if TYPE_CHECKING:
    from dynmeans.families.tree import PairMeasures

# A Gaussian cut in two has a contact index of 3.5, a bar 6, a ring cut into eight arcs 7.3, and
# anything round cut into 16 by k-means 7.4 in up to 40 dimensions; two Gaussians five deviations
# apart have 12.5, eight apart 32. Below the first, everything is one; above the last, nothing is.
THRESHOLDS = (8.0, 10.0, 12.0, 16.0, 20.0, 25.0, 32.0)
TOUCHING, FARTHEST = THRESHOLDS[0], THRESHOLDS[-1]
_USUALLY = 0.5  # of the batches that saw either
_N_NEIGHBORS = 5
_AS_GOOD = 0.005  # of modularity: the smallest threshold so near the best is taken


def choose_threshold(
    evidence: Evidence, measures: "PairMeasures", min_cluster_size: float, min_batches: int
) -> float:
    """Return the contact index below which two clusters are one.

    The smallest value whose clusters have nearly the highest modularity on the graph of nearest
    neighbors within each batch. Where a cluster has no more rows in a batch than neighbors are
    counted, modularity has no meaning, and 8 is kept.
    """
    sample = list(evidence.sample)
    labels = np.concatenate([np.empty(0, dtype=np.int64), *(b.labels for b in sample)])
    rows = np.searchsorted(evidence.ids, labels)
    if not len(labels) or np.any(evidence.ids[np.minimum(rows, len(evidence.ids) - 1)] != labels):
        return TOUCHING  # clusters of long ago were left out
    groups = [_groups_at(evidence, measures, limit) for limit in THRESHOLDS]
    if all(np.array_equal(groups[0], others) for others in groups[1:]):
        return TOUCHING
    _, group_of_row = np.unique(groups[0], return_inverse=True)
    is_small = find_small_groups(evidence, group_of_row, min_cluster_size, min_batches)
    if _rows_in_a_batch(sample, groups[0][rows], is_small[group_of_row][rows]) <= _N_NEIGHBORS:
        return TOUCHING
    edges = _neighbor_pairs(sample)
    found = np.array([modularity(edges, names[rows]) for names in groups])
    return THRESHOLDS[int(np.flatnonzero(found >= found.max() - _AS_GOOD)[0])]


def modularity(edges: IntArray, names: IntArray) -> float:
    """Return the share of edges within groups, less that of a random graph of the same degrees.

    >>> two_pairs = np.array([[0, 1], [2, 3]])
    >>> modularity(two_pairs, np.array([7, 7, 9, 9])), modularity(two_pairs, np.array([7, 7, 7, 7]))
    (0.5, 0.0)
    """
    if not len(edges):
        return 0.0
    _, groups = np.unique(names, return_inverse=True)
    ends = groups[edges]
    shares = np.bincount(ends.ravel()) / ends.size
    return float(np.mean(ends[:, 0] == ends[:, 1]) - np.sum(shares**2))


def touching_pairs(lifetimes: IntArray, measures: "PairMeasures", threshold: float) -> IntArray:
    """Pairs that touch and are usually seen together, closest first, without rings.

    One that lives much shorter than those it touches joins the closest of them only: what
    appears between two for a batch is no bridge.
    """
    order = np.argsort(measures.contacts, kind="stable")
    order = order[measures.contacts[order] < threshold]
    life = lifetimes[measures.rows[order]]
    together = measures.together[order]
    is_strong = together >= _USUALLY * life.max(axis=1)
    is_short = ~is_strong & (together >= _USUALLY * life.min(axis=1))
    shorter = measures.rows[order][np.arange(len(order)), np.argmin(life, axis=1)]
    short = np.flatnonzero(is_short)
    closest = short[np.unique(shorter[short], return_index=True)[1]]
    order = order[np.sort(np.concatenate([np.flatnonzero(is_strong), closest]))]
    # A weight of 0 would be no edge.
    weights, n = 1.0 + np.arange(len(order)), len(lifetimes)
    rows = measures.rows[order].astype(np.int32).T  # SciPy 1.11 takes no wider ones
    edges = coo_array((weights, tuple(rows)), shape=(n, n))
    kept = np.sort(minimum_spanning_tree(edges.tocsr()).data).astype(np.int64) - 1
    return np.asarray(order[kept])


def _groups_at(evidence: Evidence, measures: "PairMeasures", limit: float) -> IntArray:
    pairs = touching_pairs(evidence.n_batches, measures, limit)
    return merge_groups(len(evidence.ids), measures.rows[pairs])


def _rows_in_a_batch(sample: list[SampledBatch], names: IntArray, is_small: BoolArray) -> float:
    """Mean number of rows that a group has in a batch that holds it."""
    batches = np.arange(len(sample)).repeat([len(batch.labels) for batch in sample])[~is_small]
    cells = np.unique(names[~is_small] * len(sample) + batches)
    return len(batches) / max(len(cells), 1)


def _neighbor_pairs(sample: list[SampledBatch]) -> IntArray:
    """Pairs of each row of the sample and its nearest neighbors in its own batch."""
    batches: list[BatchArray] = [batch.points for batch in sample]
    axes = leading_axes(batches)
    found, first = [np.empty((0, 2), dtype=np.int64)], 0
    for batch in batches:
        points = batch if axes is None else rotate_rows(batch, axes)
        n, k = len(points), min(_N_NEIGHBORS, len(points) - 1)
        if k > 0:
            near = cKDTree(points).query(points, k + 1)[1][:, 1:]
            found.append(first + np.column_stack([np.arange(n).repeat(k), near.ravel()]))
        first += n
    return np.concatenate(found)
