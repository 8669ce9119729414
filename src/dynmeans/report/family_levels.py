"""The tree of families, cut down to the clusters that a page shows."""

from dataclasses import dataclass

import numpy as np

from dynmeans.plots.families import roots_after_merges
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import APART, Families


@dataclass(frozen=True, slots=True, eq=False)
class FamilyLevels:
    """Joins in ascending order, so that the joins up to any height give the families there."""

    # (n_joins, 2); IDs of the two families that merge; the lower one stays.
    children: IntArray
    heights: FloatArray  # (n_joins,); level of each join
    level: float  # The level shown at first


def family_levels(families: Families, ids: IntArray) -> FamilyLevels:
    """Keep the joins after which one of `ids` has another family, or a family more of them.

    Of four clusters in a row, the second is not shown; what it connects stays connected:

    >>> from dynmeans import find_families
    >>> from dynmeans.records.families import merge_groups
    >>> points = np.linspace([0.0, 0.0], [4.0, 0.1], 400)
    >>> families = find_families([points], [np.repeat([0, 1, 2, 3], 100)])
    >>> kept = family_levels(families, np.array([0, 2, 3]))
    >>> merge_groups(4, kept.children)[[0, 2, 3]].tolist()
    [0, 0, 0]
    """
    tree = families.tree
    has_shown = dict.fromkeys(tree.ids.tolist(), False) | dict.fromkeys(ids.tolist(), True)
    is_guest = (families.nearest_family != tree.ids) & (families.nearest_family >= 0)
    guests = np.column_stack([families.nearest_family[is_guest], tree.ids[is_guest]])
    roots = roots_after_merges(tree.ids, np.concatenate([guests, tree.children]))
    levels = np.concatenate([np.full(len(guests), APART), tree.heights])
    is_kept = np.zeros(len(levels), dtype=bool)
    for row, (low, high) in enumerate(roots):
        is_kept[row] = has_shown[high]
        has_shown[low] = has_shown[low] or has_shown[high]
    pairs = np.array(roots, dtype=np.int64).reshape(-1, 2)
    return FamilyLevels(pairs[is_kept], levels[is_kept], families.level)
