"""The tree of identities beside their lives."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from dynmeans.plots import identity_color, plot_families
from dynmeans.plots.families import _family_plot_data, _places
from dynmeans.records.families import Families, FamilyTree

# 0 and 2 touch (a contact of 3, a height of -5); 1 joins them at a squared distance of 16.
TREE = FamilyTree(
    ids=np.array([0, 1, 2]),
    children=np.array([[2, 0], [1, 2]]),
    heights=np.array([-5.0, 16.0]),
    distances=np.array([1.0, 16.0]),
    contacts=np.array([3.0, np.inf]),
    n_shared_batches=np.array([1.0, 0.0]),
)


def families_at(level):
    seen = np.array([[0, 0, 7], [0, 1, 4], [0, 2, 1]])
    sizes = np.array([7.0, 4.0, 1.0]), np.array([3, 3, 1])
    return Families(
        TREE, level, *sizes, seen, nearest_family=TREE.ids, nearest_family_distance=np.zeros(3)
    )


def test_members_of_a_join_are_neighbors(history):
    data = _family_plot_data(families_at(0), history)
    assert [life.cluster_id for life in data.timeline.lifetimes] == [0, 2, 1]
    assert data.family_ids == (0, 0, 1)


def test_second_join_begins_where_the_first_ended(history):
    first, second = _family_plot_data(families_at(0), history).joins
    assert (first.rows, first.begins, first.height) == ((0.0, 1.0), (-8.0, -8.0), -5.0)
    assert (second.rows, second.begins, second.height) == ((0.5, 2.0), (-5.0, -8.0), 16.0)


def test_only_joins_up_to_the_level_belong_to_a_family(history):
    assert [join.family for join in _family_plot_data(families_at(0), history).joins] == [0, None]
    assert [join.family for join in _family_plot_data(families_at(16), history).joins] == [0, 0]


def test_identity_that_is_not_shown_makes_no_fork(history):
    # 2 has the fewest points: 0 stands for both where 1 joins.
    data = _family_plot_data(families_at(0), history, max_clusters=2)
    assert [life.cluster_id for life in data.timeline.lifetimes] == [0, 1]
    (join,) = data.joins
    assert (join.rows, join.begins, join.height) == ((0.0, 1.0), (-8.0, -8.0), 16.0)


def test_touching_has_a_quarter_of_the_width_and_the_rest_is_a_distance():
    # A quarter of the highest level is half of its distance: 0.25 + 0.75 / 2.
    places = _places(np.array([-8.0, -4.0, 0.0, 4.0, 16.0]), 16.0)
    np.testing.assert_allclose(places, [0.0, 0.125, 0.25, 0.625, 1.0])


def test_lives_and_forks_have_the_colors_of_families(history):
    tree, lifetimes = plot_families(families_at(0), history, Figure().subplots(1, 2))
    forks = [to_hex(color).upper() for color in tree.collections[0].get_colors()]
    assert forks == [identity_color(0), "#999999"]
    gaps = [to_hex(color).upper() for color in lifetimes.collections[1].get_colors()]
    assert set(gaps) == {identity_color(0), identity_color(1)}
    shades = {to_hex(color).upper() for color in lifetimes.collections[0].get_facecolors()}
    assert shades == {identity_color(0), identity_color(1)}  # 2 has the color of 0


def test_new_figure_is_made_without_axes(history, agg):
    tree, lifetimes = plot_families(families_at(np.inf), history)
    assert tree.figure is lifetimes.figure
    assert tree.get_ylim() == lifetimes.get_ylim()


def test_families_of_another_stream_are_refused(history):
    other = Families(
        FamilyTree(np.array([0]), np.empty((0, 2), dtype=int), *np.empty((4, 0))),
        *(0.0, np.ones(1), np.ones(1, dtype=int), np.zeros((1, 3), dtype=int)),
        *(np.zeros(1, dtype=int), np.zeros(1)),
    )
    with pytest.raises(ValueError, match="cluster 1, which is in no family"):
        plot_families(other, history)


def test_what_is_no_family_or_no_pair_of_axes_is_refused(history, ax):
    with pytest.raises(TypeError, match="families must be Families, got list"):
        plot_families([], history)
    with pytest.raises(TypeError, match="axes must be two matplotlib Axes or None"):
        plot_families(families_at(0), history, ax)
