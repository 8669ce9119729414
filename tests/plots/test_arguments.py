"""What every figure refuses, and where it draws when no axes are given."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from dynmeans import DynamicMeans, History
from dynmeans.plots import plot_cluster_numbers, plot_timeline, plot_tracks
from dynmeans.plots.arguments import batch_edges

FIGURES = [plot_cluster_numbers, plot_timeline, plot_tracks]


@pytest.mark.parametrize("plot", FIGURES)
def test_empty_history_is_refused(plot, ax):
    with pytest.raises(ValueError, match="history must hold at least 1 batch"):
        plot(History(), ax=ax)


@pytest.mark.parametrize("plot", FIGURES)
def test_estimator_in_place_of_its_history_is_refused(plot, ax):
    with pytest.raises(TypeError, match="history must be a History, got DynamicMeans"):
        plot(DynamicMeans(1.0), ax=ax)


@pytest.mark.parametrize("plot", FIGURES)
def test_figure_is_drawn_on_the_axes_given(plot, history, ax):
    assert plot(history, ax=ax) is ax


@pytest.mark.parametrize("plot", FIGURES)
def test_what_is_no_axes_is_refused(plot, history, ax):
    with pytest.raises(TypeError, match="ax must be matplotlib Axes or None, got Figure"):
        plot(history, ax=ax.figure)


@pytest.mark.usefixtures("agg")
@pytest.mark.parametrize("plot", FIGURES)
def test_without_axes_one_new_figure_is_made(plot, history):
    before = plt.get_fignums()
    figure = plot(history).figure
    made = set(plt.get_fignums()) - set(before)
    plt.close(figure)
    assert made == {figure.number}


@pytest.mark.parametrize("plot", FIGURES)
def test_drawing_changes_no_global_setting(plot, history, ax):
    before = mpl.rcParams.copy()
    plot(history, ax=ax)
    assert mpl.rcParams == before


@pytest.mark.parametrize("plot", FIGURES)
def test_history_of_one_empty_batch_can_be_drawn(plot, ax):
    _, history = DynamicMeans(1.0).fit_sequence([np.empty((0, 2))])
    plot(history, ax=ax)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("plot", FIGURES)
def test_legend_explains_the_marks(plot, history, ax):
    assert len(plot(history, ax=ax).get_legend().get_texts()) >= 2


def test_each_batch_has_the_time_that_is_nearest_to_it():
    # Half way between the times; as far beyond the first and last as to their neighbors' middle.
    np.testing.assert_array_equal(batch_edges(np.array([1.0, 2.0, 4.0])), [0.5, 1.5, 3.0, 5.0])


def test_single_batch_has_one_step_of_time():
    np.testing.assert_array_equal(batch_edges(np.array([3.0])), [2.5, 3.5])
