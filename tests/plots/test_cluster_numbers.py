"""Clusters seen and remembered."""

from dynmeans.plots import plot_cluster_numbers
from dynmeans.plots.cluster_numbers import _cluster_number_data


def test_seen_are_the_clusters_with_points_in_the_batch(longer_history):
    data = _cluster_number_data(longer_history)
    assert data.times.tolist() == [1, 2, 3, 5, 6]
    assert data.n_seen.tolist() == [2, 1, 2, 2, 0]


def test_remembered_are_those_in_memory_after_the_batch(longer_history):
    assert _cluster_number_data(longer_history).n_remembered.tolist() == [2, 2, 2, 3, 2]


def test_number_holds_over_the_time_of_its_batch(history, ax):
    # The batches at 1, 2, 3 and 5 have the times between 0.5, 1.5, 2.5, 4 and 6.
    remembered, seen = plot_cluster_numbers(history, ax).get_lines()
    assert seen.get_xdata().tolist() == [0.5, 1.5, 2.5, 4, 6]
    assert seen.get_ydata().tolist() == [2, 1, 2, 2, 2]
    assert remembered.get_ydata().tolist() == [2, 2, 2, 3, 3]


def test_axis_of_numbers_begins_at_zero(history, ax):
    assert plot_cluster_numbers(history, ax).get_ylim()[0] == 0
