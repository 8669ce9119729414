"""Families: identities that belong together, at every level of one tree."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event

APART = -8.0  # the level at which nothing is joined


@dataclass(frozen=True, slots=True, eq=False)
class FamilyTree:
    """The order in which identities join, and the evidence of each join."""

    ids: IntArray  # (n_identities,); the identities, ascending
    children: IntArray  # (n_joins, 2); one member of each of the two sides
    # (n_joins,); level at which the two sides become one, ascending; a squared distance. Those
    # that touch join below 0, closest first: from -8, in contact as close as can be, to 0.
    heights: FloatArray
    # (n_joins,); mean squared distance between the two sides while both were seen, without the
    # part that is sampling error.
    distances: FloatArray
    # (n_joins,); squared distance over twice the variance along the line between them, smallest
    # over the pairs of the two sides; infinite where no pair was ever near.
    contacts: FloatArray
    # (n_joins,); batches in which the nearest pair of the two sides was active together.
    n_shared_batches: FloatArray


@dataclass(frozen=True, eq=False)
class Families:
    """Identities grouped at one level of their tree. A family is named after its oldest member.

    Attributes
    ----------
    tree : FamilyTree
        All joins, whatever the level.
    level : float
        Joins up to this height are made.
    counts, n_batches : FloatArray, IntArray of shape (n_identities,)
        Points of each identity, and batches that saw it.
    batch_counts : IntArray of shape (n_cells, 3)
        Batch, identity and points of what was seen in the last batches, to count families by.
    nearest_family : IntArray of shape (n_identities,)
        The identity that each is counted with: itself, or, where it is too small for a name, the
        nearest that is not; -1 for an outlier, which belongs to nothing.
    nearest_family_distance : FloatArray of shape (n_identities,)
        How far that is, squared.

    See Also
    --------
    find_families : Makes them from labels.
    DynamicMeans : `families_` with `families=True`.

    References
    ----------
    .. [1] C. C. Aggarwal, J. Han, J. Wang and P. S. Yu, "A Framework for Clustering Evolving Data
       Streams", VLDB, 2003.
    .. [2] F. Cao, M. Ester, W. Qian and A. Zhou, "Density-Based Clustering over an Evolving Data
       Stream with Noise", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    A bar of points that was cut into three identities, and one far away:

    >>> from dynmeans import find_families
    >>> rng = np.random.default_rng(0)
    >>> bar = rng.uniform([0, 0], [3, 0.2], size=(300, 2))
    >>> far = rng.normal([40, 0], 0.2, size=(100, 2))
    >>> points, labels = np.vstack([bar, far]), np.append(bar[:, 0] // 1, np.full(100, 7))
    >>> families = find_families([points], [labels.astype(int)])
    >>> families.map_labels([0, 1, 2, 7]).tolist()
    [0, 0, 0, 7]
    >>> families
    Families(2 of 4 clusters at level 0)
    """

    tree: FamilyTree
    level: float
    counts: FloatArray
    n_batches: IntArray
    batch_counts: IntArray
    nearest_family: IntArray
    nearest_family_distance: FloatArray

    def __repr__(self) -> str:
        """Return the number."""
        n_clusters_total = len(self.tree.ids)
        clusters = f"{self.n_families} of {n_clusters_total} clusters"
        return f"Families({clusters} at level {self.level:.4g})"

    @property
    def levels(self) -> FloatArray:
        """Every height at which something joins, ascending."""
        return np.unique(self.tree.heights)

    @property
    def n_families(self) -> int:
        """Number of families over all time."""
        return len(self.ids)

    @cached_property
    def ids(self) -> IntArray:
        """Names of the families."""
        names = np.unique(self.family_of_cluster)
        return names[names >= 0]

    @cached_property
    def family_of_cluster(self) -> IntArray:
        """The family of each of `tree.ids`: the name of its oldest member; -1 for an outlier."""
        tree = self.tree
        made = tree.children[tree.heights <= self.level]
        rows = np.searchsorted(tree.ids, made)
        names = tree.ids[merge_groups(len(tree.ids), rows)]
        return np.where(
            self.nearest_family < 0, -1, names[np.searchsorted(tree.ids, self.nearest_family)]
        )

    def cut(self, level: float) -> "Families":
        """Return the families at another level; at -8 nothing is merged."""
        return replace(self, level=check_number("level", level, infinity_allowed=True))

    def cut_to(self, n_families: float) -> "Families":
        """Return the families at the level where a batch holds about as many."""
        n_families = check_number("n_families", n_families, above=0)
        return self.cut(self._level_of_number(n_families))

    def about_even(self, n_families: float) -> "Families":
        """As `cut_to`, counted by their shares of the points: what is small counts little."""
        n_families = check_number("n_families", n_families, above=0)
        levels = np.concatenate([[APART], self.levels])
        first, end = 0, len(levels) - 1
        while first < end:  # Families only grow with the level.
            middle = (first + end) // 2
            if self.cut(levels[middle]).effective_n_families <= n_families:
                end = middle
            else:
                first = middle + 1
        near = [self.cut(level) for level in levels[max(first - 1, 0) : first + 1]]
        return min(
            reversed(near),
            key=lambda one: abs(np.log(max(one.effective_n_families, 1.0) / n_families)),
        )

    @cached_property
    def mean_per_batch(self) -> float:
        """Families that a batch holds, on average over the batches that hold any."""
        return float(_numbers_per_batch(self, np.array([self.level]))[0])

    @cached_property
    def effective_n_families(self) -> float:
        """Families that a batch holds, counted by their shares of its points.

        As many as would have the same entropy if all were of one size: what is small counts little.
        """
        batches, names, points = _cells_by_name(self)
        keys, rows = np.unique(np.column_stack([batches, names]), axis=0, return_inverse=True)
        sums = np.bincount(rows, points)
        totals = np.bincount(keys[:, 0], sums)
        shares = sums / totals[keys[:, 0]]
        entropies = np.bincount(keys[:, 0], -shares * np.log(shares))[totals > 0]
        return float(np.exp(entropies).mean()) if len(entropies) else 0.0

    @overload
    def map_labels(self, labels: Sequence[npt.ArrayLike]) -> list[IntArray]: ...

    @overload
    def map_labels(self, labels: npt.NDArray[Any]) -> IntArray: ...

    def map_labels(self, labels: Any) -> Any:
        """Return the family of every label, in the form of `labels`: one array, or a list of them.

        -1, and identities that came later, stay as they are.
        """
        is_list = isinstance(labels, list | tuple) and any(np.ndim(part) for part in labels)
        if is_list:
            return [self.map_labels(np.asarray(part)) for part in labels]
        found = np.array(labels, dtype=np.int64)
        ids = self.tree.ids
        is_known = np.isin(found, ids)
        found[is_known] = self.family_of_cluster[np.searchsorted(ids, found[is_known])]
        return found

    def merges_since(self, before: "Families") -> list[Event]:
        """Return which families of an earlier look turned out to belong to an older one."""
        names = before.ids
        return [
            Event("joined", name, other_id=other)
            for name, other in zip(names.tolist(), self.map_labels(names).tolist(), strict=True)
            if other not in (name, -1)
        ]

    def to_frame(self, table: str = "clusters", kind: str = "pandas") -> Any:
        """Return a view as a data frame.

        Parameters
        ----------
        table : {"clusters", "tree"}
            One row for each identity with its family, or for each join with its evidence.
        kind : {"pandas", "polars", "arrow"}
            A pandas or polars DataFrame, or a pyarrow Table.
        """
        from dynmeans.files.family_tables import frame

        return frame(self, table, kind)

    def _level_of_number(self, n_families: float) -> float:
        levels = np.concatenate([[APART], self.levels])
        numbers = _numbers_per_batch(self, levels)
        # Of levels that are as near the last is taken: it has the fewest leftovers.
        misses = np.abs(np.log(numbers / n_families))
        return float(levels[np.flatnonzero(misses <= misses.min() + 1e-12)[-1]])


def merge_groups(n: int, pairs: IntArray) -> IntArray:
    """Return the smallest member of each of the groups that pairs of 0 to n - 1 connect."""
    first = np.arange(n)
    for a, b in pairs.tolist():
        while first[a] != a:
            first[a] = first[first[a]]
            a = first[a]
        while first[b] != b:
            first[b] = first[first[b]]
            b = first[b]
        first[max(a, b)] = min(a, b)
    while (first[first] != first).any():
        first = first[first]
    return first


def _cells_by_name(families: Families) -> tuple[IntArray, IntArray, IntArray]:
    """Batch, family and points of what was seen and has a family."""
    batches, ids, points = families.batch_counts.T
    names = families.family_of_cluster[np.searchsorted(families.tree.ids, ids)]
    is_named = names >= 0
    return batches[is_named], names[is_named], points[is_named]


def _numbers_per_batch(families: Families, levels: FloatArray) -> FloatArray:
    """Mean number of families in a batch at each of ascending levels."""
    n_filled = max(len(np.unique(families.batch_counts[:, 0])), 1)
    numbers = []
    for level in levels.tolist():
        batches, names, _ = _cells_by_name(families.cut(level))
        numbers.append(len(np.unique(np.column_stack([batches, names]), axis=0)))
    found: FloatArray = np.maximum(np.array(numbers, dtype=np.float64), 1.0)
    return found / n_filled
