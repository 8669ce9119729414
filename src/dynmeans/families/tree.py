"""The tree of identities: those that touch first, then by mean squared distance."""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.sparse import coo_array
from scipy.spatial.distance import squareform

from dynmeans.families.contact import choose_threshold, touching_pairs
from dynmeans.families.evidence import Evidence
from dynmeans.families.small_clusters import (
    assign_small_to_nearest,
    far_distances,
    find_small_groups,
    nearest_rows,
)
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import APART, FamilyTree, merge_groups

_OWN_WORTH = 8.0  # points that the variance shared by all is worth against that of an identity
_ALONG_WORTH = 4.0  # the same for the variance along a line
_MAX_LINKED = 3_000  # groups, the largest, all with all; each of the others joins its nearest


@dataclass(frozen=True, slots=True, eq=False)
class PairMeasures:
    """The evidence for each pair that was ever close."""

    rows: IntArray  # (n_pairs, 2); the two identities, as rows of the evidence
    # (n_pairs,); mean squared distance while both were seen, less sampling error; at least 0.
    distances: FloatArray
    apart: FloatArray  # (n_pairs,); the same with the sampling error
    # (n_pairs,); the contact index: squared distance over twice the variance along the line.
    contacts: FloatArray
    together: FloatArray  # (n_pairs,); batches that saw both

    @classmethod
    def of(cls, evidence: Evidence) -> "PairMeasures":
        """Turn sums into means, with the shared variance where an identity has few points."""
        rows = np.searchsorted(evidence.ids, evidence.pair_ids)
        shared = float(evidence.squares.sum()) / max(float(evidence.free.sum()), 1.0)
        own = (evidence.squares + _OWN_WORTH * shared) / (evidence.free + _OWN_WORTH)
        weight, distance, error, other_error, together, along, free = evidence.pairs.T
        sampled = error * own[rows[:, 0]] + other_error * own[rows[:, 1]]
        distances = np.maximum((distance - sampled) / weight, 0.0)
        per_axis = shared / max(evidence.sums.shape[1], 1)
        variances = (along + _ALONG_WORTH * per_axis) / (free + _ALONG_WORTH)
        with np.errstate(divide="ignore", invalid="ignore"):
            contacts = np.where(distances > 0, distances / (2.0 * variances), 0.0)
        return cls(rows, distances, distance / weight, contacts, together)


def grow_tree(
    evidence: Evidence,
    min_cluster_size: float,
    min_batches: int,
    *,
    threshold: float | None = None,
    noise: float | None = None,
    is_even: bool = False,
) -> tuple[FamilyTree, IntArray, FloatArray]:
    """Join what touches below level 0, then by average linkage over mean squared distances.

    With `is_even` the pair is joined that adds least to the sum of squares, the cost of the paper:
    small groups go with a neighbor before two large ones become one.

    Two touch below a contact index of `threshold`, by default one that suits the data. Also
    returned: the identity that each is counted with, -1 for an outlier, and its distance.
    """
    if not len(evidence.ids):
        nothing = np.empty(0, dtype=np.int64)
        tree = FamilyTree(nothing, nothing.reshape(0, 2), *np.empty((4, 0)))
        return tree, nothing, np.empty(0)
    measures = PairMeasures.of(evidence)
    if threshold is None:
        threshold = choose_threshold(evidence, measures, min_cluster_size, min_batches)
    touching = touching_pairs(evidence.n_batches, measures, threshold)
    groups = merge_groups(len(evidence.ids), measures.rows[touching])
    oldest, group_of_row = np.unique(groups, return_inverse=True)
    is_small = find_small_groups(evidence, group_of_row, min_cluster_size, min_batches)
    nearest_family, nearest_family_distance = assign_small_to_nearest(
        evidence, measures, group_of_row, is_small, noise
    )
    sizes = np.where(is_small, 0.0, np.bincount(group_of_row, evidence.n, len(oldest)))
    named = np.argsort(-sizes, kind="stable")[: np.count_nonzero(~is_small)]
    linked, others = np.sort(named[:_MAX_LINKED]), named[_MAX_LINKED:]
    sides, heights = np.empty((0, 2), dtype=np.int64), np.empty(0)
    if len(linked) > 1:
        distances = _group_distances(evidence, measures, group_of_row, linked)
        if is_even:
            merges = least_squares_linkage(distances, sizes[linked])
        else:
            merges = linkage(squareform(distances, checks=False), "average")
        sides, heights = oldest[linked][_oldest_of_sides(merges)], merges[:, 2]
    values = np.column_stack([measures.distances, measures.contacts, measures.together])
    found = [values[touching], _nearest_of_sides(groups, sides, measures, values)]
    sides_of_merges = [measures.rows[touching], sides]
    heights = np.concatenate([APART * (1 - measures.contacts[touching] / threshold), heights])
    if len(others):
        rows = oldest[others]
        nearest, squares = nearest_rows(evidence, measures, rows, oldest[linked])
        sides_of_merges.append(np.sort(np.column_stack([rows, nearest]), axis=1))
        found.append(np.column_stack([squares, np.full(len(rows), np.inf), np.zeros(len(rows))]))
        heights = np.concatenate([heights, squares])
    order = np.argsort(heights, kind="stable")
    ids = evidence.ids
    tree = FamilyTree(
        *(ids, ids[np.concatenate(sides_of_merges)][order], heights[order]),
        *np.concatenate(found)[order].T,
    )
    return tree, np.where(nearest_family < 0, -1, ids[nearest_family]), nearest_family_distance


def _group_distances(
    evidence: Evidence, measures: PairMeasures, group_of_row: IntArray, kept: IntArray
) -> FloatArray:
    """Mean squared distances between groups, over all pairs of members, by their points.

    Pairs that were never near: from the end of one to the beginning of the other where their
    lives do not overlap, else between their means over all time.
    """
    place = np.full(group_of_row.max() + 1, -1)
    place[kept] = np.arange(len(kept))
    rows = np.flatnonzero(place[group_of_row] >= 0)
    squares = far_distances(evidence, rows, rows)
    np.fill_diagonal(squares, 0.0)
    position = np.full(len(evidence.ids), -1)
    position[rows] = np.arange(len(rows))
    a, b = position[measures.rows].T
    is_in = (a >= 0) & (b >= 0)
    squares[a[is_in], b[is_in]] = squares[b[is_in], a[is_in]] = measures.distances[is_in]
    if len(rows) == len(kept):
        return squares
    groups, n = place[group_of_row[rows]], evidence.n[rows]
    weights = n / np.bincount(groups, n, len(kept))[groups]
    places = (groups, np.arange(len(rows)))
    shares = coo_array((weights, places), shape=(len(kept), len(rows))).tocsr()
    pooled: FloatArray = shares @ (shares @ squares).T
    pooled = 0.5 * (pooled + pooled.T)
    np.fill_diagonal(pooled, 0.0)
    return pooled


def least_squares_linkage(distances: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return merges as SciPy does, each of the pair that adds least to the sum of squares.

    Heights are mean squared distances between the groups, always more than the one before.

    >>> places = np.array([0.0, 1.0, 3.0, 3.5])
    >>> least_squares_linkage((places[:, None] - places) ** 2, np.array([90.0, 90.0, 1.0, 1.0]))
    array([[  2.   ,   3.   ,   0.25 ,   2.   ],
           [  1.   ,   4.   ,   5.125,  92.   ],
           [  0.   ,   5.   ,   5.125, 182.   ]])
    """
    n, mean = sizes.astype(np.float64), distances.copy()
    added = mean * (n[:, None] * n / (n[:, None] + n))
    np.fill_diagonal(added, np.inf)
    nearest, numbers, height, merges = added.argmin(axis=1), np.arange(len(n)), 0.0, []
    for row in range(len(n) - 1):
        first = int(np.argmin(added[np.arange(len(n)), nearest]))
        i, j = sorted((first, int(nearest[first])))
        height = max(float(np.nextafter(height, np.inf)), float(mean[i, j]))
        merges.append([numbers[i], numbers[j], height, n[i] + n[j]])
        # Lance and Williams: what joining a third one with both would add.
        sums = (n[i] + n) * added[i] + (n[j] + n) * added[j] - n * added[i, j]
        added[i] = added[:, i] = np.where(np.isfinite(sums), sums, np.inf) / (n[i] + n[j] + n)
        mean[i] = mean[:, i] = (n[i] * mean[i] + n[j] * mean[j]) / (n[i] + n[j])
        added[i, i] = np.inf
        added[j] = added[:, j] = np.inf
        n[i], numbers[i] = n[i] + n[j], len(n) + row
        is_stale = (nearest == i) | (nearest == j)
        is_stale[i] = True
        nearest[is_stale] = added[is_stale].argmin(axis=1)
        is_nearer = added[:, i] < added[np.arange(len(n)), nearest]
        nearest[is_nearer] = i
    return np.array(merges)


def _oldest_of_sides(merges: FloatArray) -> IntArray:
    """Rows of SciPy's tree with the smallest member of each side instead of its number."""
    n = len(merges) + 1
    sides = merges[:, :2].astype(np.int64)
    smallest = np.arange(2 * n - 1)
    for row, (a, b) in enumerate(sides.tolist()):
        smallest[n + row] = min(smallest[a], smallest[b])
    return np.sort(smallest[sides], axis=1)


def _nearest_of_sides(
    groups: IntArray, sides: IntArray, measures: PairMeasures, values: FloatArray
) -> FloatArray:
    """Values of the pair of least contact between the two sides of each join."""
    near: dict[int, dict[int, int]] = {row: {} for row in np.unique(groups).tolist()}
    for pair, (a, b) in enumerate(groups[measures.rows].tolist()):
        best = near[a].get(b, pair)
        if a != b and measures.contacts[pair] <= measures.contacts[best]:
            near[a][b] = near[b][a] = pair
    found = np.full((len(sides), values.shape[1]), np.inf)
    found[:, -1] = 0.0
    for row, (a, b) in enumerate(sides.tolist()):
        if b in near[a]:
            found[row] = values[near[a][b]]
        for other, pair in near.pop(b).items():
            del near[other][b]
            if (
                other != a
                and not measures.contacts[near[a].get(other, pair)] < measures.contacts[pair]
            ):
                near[a][other] = near[other][a] = pair
    return found
