"""Families: the tree of identities with their lifetimes, row by row, in the color of the family."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from dynmeans.plots.identity_colors import identity_color
from dynmeans.plots.timeline import TimelineData, _draw_lives, _name_rows, _timeline_data
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.families import APART, Families, FamilyTree
from dynmeans.records.history import History

_GRAY = "#999999"
_INK = "#222222"
_TOUCHING_WIDTH = 0.25  # of the width of the tree, for joins of what touches


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """One fork of the tree: two rows become one at a height."""

    rows: tuple[float, float]  # Where the two sides come in; the fork goes on from the middle
    begins: tuple[float, float]  # Heights at which the two sides were made
    height: float  # Level of the join
    family: int | None  # The family it is within; None if the join is above the level


@dataclass(frozen=True, slots=True, eq=False)
class FamilyPlotData:
    """The lives in the order of the tree, the family of each, the forks, and the level."""

    timeline: TimelineData
    family_ids: tuple[int, ...]
    joins: tuple[Join, ...]
    level: float
    n_families: int


@dataclass(frozen=True, slots=True)
class _Branch:
    """Rows that are one so far: the identities, and where and when the last join was made."""

    members: tuple[int, ...]
    row: float
    height: float


def plot_families(
    families: Families,
    history: History,
    axes: Sequence[Axes] | None = None,
    max_clusters: int = 40,
) -> tuple[Axes, Axes]:
    """Draw the tree of clusters, and next to it their timeline in the colors of their families.

    Parameters
    ----------
    families : Families
        As `find_families` returns them; the line across the tree is their level.
    history : History
        The record of the batches they were found in.
    axes : two of matplotlib.axes.Axes, optional
        Where to draw the tree and the timeline, side by side; a new figure by default.
    max_clusters : int
        How many rows at most. If there are more clusters, those with the most points are kept,
        and the title shows it.

    See Also
    --------
    dynmeans.find_families : Finds the families.
    plot_timeline : The timeline of all clusters.

    Examples
    --------
    Two that touch, and one far away:

    >>> from dynmeans import DynamicMeans, find_families
    >>> from matplotlib.figure import Figure
    >>> bar = np.linspace([0.0, 0.0], [2.0, 0.2], 60)
    >>> batches = 3 * [np.vstack([bar, bar / 9 + [40, 0]])]
    >>> labels, history = DynamicMeans(0.4, random_state=0).fit_sequence(batches)
    >>> families = find_families(batches, history)
    >>> tree, lives = plot_families(families, history, Figure().subplots(1, 2))
    >>> tree.get_xlabel(), lives.get_xlabel()
    ('level', 'time')
    """
    data = _family_plot_data(families, history, max_clusters)
    tree, lifetimes = _check_axes(axes, len(data.family_ids))
    _draw_lives(data.timeline, data.family_ids, lifetimes)
    lifetimes.set_ylabel("")
    lifetimes.set_title("Cluster timeline, colored by family")
    _draw_tree(data, tree)
    tree.set_ylim(lifetimes.get_ylim())
    return tree, lifetimes


def plot_tree(families: Families, history: History, ax: Axes, max_clusters: int = 40) -> Axes:
    """Draw the tree of identities alone; as `plot_families`."""
    data = _family_plot_data(families, history, max_clusters)
    _draw_tree(data, ax)
    _name_rows(data.timeline, ax)
    ax.yaxis.tick_right()
    ax.set_ylabel("")
    return ax


def _family_plot_data(
    families: Families, history: History, max_clusters: int = 40
) -> FamilyPlotData:
    if not isinstance(families, Families):
        raise TypeError(
            f"families must be Families, got {type(families).__name__}. find_families makes them."
        )
    timeline = _timeline_data(history, max_clusters)
    lifetimes = {life.cluster_id: life for life in timeline.lifetimes}
    if unknown := set(lifetimes) - set(families.tree.ids.tolist()):
        raise ValueError(
            f"history must be the one the families were found in, got one with cluster "
            f"{min(unknown)}, which is in no family."
        )
    order = _tree_order(families.tree, list(lifetimes))
    names = families.map_labels(np.array(order, dtype=np.int64))
    return FamilyPlotData(
        timeline=replace(timeline, lifetimes=tuple(lifetimes[k] for k in order)),
        family_ids=tuple(names.tolist()),
        joins=_joins(families, order),
        level=families.level,
        n_families=families.n_families,
    )


def _tree_order(tree: FamilyTree, kept: list[int]) -> list[int]:
    """Return the identities kept so that the sides of every join are neighbors."""
    members: dict[int, tuple[int, ...]] = {k: (k,) for k in kept}
    for low, high in roots_after_merges(tree.ids, tree.children):
        members[low] = members.pop(low, ()) + members.pop(high, ())
    return [k for root in sorted(members) for k in members[root]]


def _joins(families: Families, order: list[int]) -> tuple[Join, ...]:
    """Return the forks between the rows kept; a side of which none is kept makes no fork."""
    tree = families.tree
    branches = {k: _Branch((k,), float(row), APART) for row, k in enumerate(order)}
    joins = []
    roots = roots_after_merges(tree.ids, tree.children)
    for (low, high), height in zip(roots, tree.heights.tolist(), strict=True):
        first, second = branches.pop(low, None), branches.pop(high, None)
        if first is not None and second is not None:
            is_made = height <= families.level
            family = int(families.map_labels(np.array(first.members[:1]))[0]) if is_made else None
            rows, begins = (first.row, second.row), (first.height, second.height)
            joins.append(Join(rows, begins, height, family))
            first = _Branch(first.members + second.members, sum(rows) / 2, height)
        kept = first or second
        if kept is not None:
            branches[low] = kept
    return tuple(joins)


def roots_after_merges(ids: IntArray, joined: IntArray) -> list[tuple[int, int]]:
    """Return the oldest member of either side of each join, the older first."""
    parent = {k: k for k in ids.tolist()}

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    roots = []
    for a, b in joined.tolist():
        low, high = sorted((root(a), root(b)))
        roots.append((low, high))
        parent[high] = low
    return roots


def _check_axes(axes: Sequence[Axes] | None, n_rows: int) -> tuple[Axes, Axes]:
    if axes is None:
        height = min(max(3.0, 1.5 + 0.26 * n_rows), 14.0)
        shape = {"width_ratios": [1, 1.6]}
        tree, lifetimes = plt.subplots(
            1, 2, figsize=(10.0, height), layout="constrained", gridspec_kw=shape
        )[1]
        return tree, lifetimes
    found = tuple(axes) if np.iterable(axes) else ()
    if len(found) != 2 or not all(isinstance(ax, Axes) for ax in found):
        raise TypeError(f"axes must be two matplotlib Axes or None, got {axes!r}.")
    return found[0], found[1]


def _draw_tree(data: FamilyPlotData, ax: Axes) -> None:
    """Draw from the rows on the right to the last join on the left."""
    highest = max([join.height for join in data.joins if join.height > 0], default=1.0)
    forks, colors = [], []
    for join in data.joins:
        begins = _places(np.array(join.begins), highest)
        (end,) = _places(np.array([join.height]), highest)
        (a, b), color = join.rows, _GRAY if join.family is None else identity_color(join.family)
        forks.append([(begins[0], a), (end, a), (end, b), (begins[1], b)])
        colors.append(color)
    ax.add_collection(LineCollection(forks, colors=colors, linewidths=1.6))
    shown = _places(np.clip([data.level], APART, highest), highest)[0]
    ax.axvline(shown, color=_INK, lw=1.0, ls="--")
    ax.set_xlim(1.05, -0.02)
    levels = np.array([APART, 0.0, *_round_levels(highest)])
    names = ["apart", "touching", *(f"{level:g}" for level in levels[2:])]
    ax.set_xticks(_places(levels, highest), names, fontsize="small")
    ax.set_yticks([])
    ax.set_xlabel("level")
    n_shown, n_all = len(data.family_ids), data.timeline.n_clusters
    rows = f"{n_all} identities" if n_shown == n_all else f"the {n_shown} largest of {n_all}"
    ax.set_title(f"{data.n_families} families at level {data.level:.3g}; {rows}")
    ax.spines[["top", "left", "right"]].set_visible(False)


def _places(heights: FloatArray, highest: float) -> FloatArray:
    """Place heights from 0 to 1: what touches by its contact, the rest by distance."""
    touching = _TOUCHING_WIDTH * (heights - APART) / -APART
    apart = _TOUCHING_WIDTH + (1 - _TOUCHING_WIDTH) * np.sqrt(np.maximum(heights, 0) / highest)
    return np.asarray(np.where(heights <= 0, touching, apart))


def _round_levels(highest: float) -> FloatArray:
    """Return two levels with one digit, at about half and all of the longest distance."""
    goals = highest * np.array([0.3, 1.0])
    units = np.array([10.0 ** math.floor(math.log10(goal)) for goal in goals])
    return np.asarray(np.floor(goals / units) * units)
