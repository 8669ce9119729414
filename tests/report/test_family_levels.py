"""The tree of families on a page."""

from dataclasses import replace

import numpy as np
import pytest

from dynmeans import find_families
from dynmeans.records.families import APART, Families, FamilyTree, merge_groups
from dynmeans.report import report_data
from dynmeans.report.encode import pack_report
from dynmeans.report.family_levels import family_levels


def tree_of(n, rng):
    """Identities that join in random order, one height each."""
    joined, members = [], {k: [k] for k in range(n)}
    while len(members) > 1:
        a, b = rng.choice(sorted(members), 2, replace=False).tolist()
        joined.append((rng.choice(members[a]), rng.choice(members[b])))
        members[a] += members.pop(b)
    evidence = np.ones(n - 1)
    heights = np.sort(rng.uniform(-8, 5, n - 1))
    tree = FamilyTree(np.arange(n), np.array(joined), heights, evidence, evidence, evidence)
    sizes = np.ones(n), np.ones(n, dtype=int)
    return Families(
        tree,
        0.0,
        *sizes,
        np.empty((0, 2), dtype=int),
        nearest_family=np.arange(n),
        nearest_family_distance=np.ones(n),
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_level_gives_the_shown_clusters_the_families_of_the_whole_tree(seed):
    rng = np.random.default_rng(seed)
    families = tree_of(30, rng)
    shown = np.sort(rng.choice(30, 12, replace=False))
    kept = family_levels(families, shown)
    assert len(kept.heights) < 29
    for level in (-8.0, *families.levels):
        groups = merge_groups(30, kept.children[kept.heights <= level])
        np.testing.assert_array_equal(groups[shown], families.cut(level).map_labels(shown))


def test_a_page_is_given_the_levels_and_who_is_confirmed(stream):
    families = find_families(stream.batches, stream.history)
    data = report_data(stream.history, points=stream.batches).with_families(families)
    packed = pack_report(data.with_confirmed(min_cluster_size=30, min_batches=4))
    assert packed["families"]["level"] == families.level
    assert packed["confirmed"] == {"min_cluster_size": 30.0, "min_batches": 4}


def test_a_size_that_means_nothing_is_refused(stream):
    with pytest.raises(ValueError, match="min_batches must be"):
        report_data(stream.history).with_confirmed(min_batches=0)


def test_what_is_too_small_for_a_name_is_shown_with_its_home():
    families = tree_of(6, np.random.default_rng(0))
    homes = np.array([0, 1, 2, 3, 4, 2])
    alone = replace(families, tree=replace(families.tree, children=np.empty((0, 2), dtype=int)))
    alone = replace(alone, tree=replace(alone.tree, heights=np.empty(0)), nearest_family=homes)
    kept = family_levels(alone, np.arange(6))
    assert kept.children.tolist() == [[2, 5]]
    assert kept.heights[0] <= APART
