"""The lives of the clusters."""

import dataclasses

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from dynmeans import History
from dynmeans.plots import identity_color, identity_rgba, plot_timeline
from dynmeans.plots.timeline import _timeline_data

# The batches come at 1, 2, 3 and 5, and so have the times between 0.5, 1.5, 2.5, 4 and 6.


def test_lives_are_in_order_of_birth(history):
    assert [life.cluster_id for life in _timeline_data(history).lifetimes] == [0, 1, 2]


def test_life_without_a_gap_is_one_stretch(history):
    (stretch,) = _timeline_data(history).lifetimes[0].stretches
    assert stretch.edges.tolist() == [0.5, 1.5, 2.5, 4.0]
    assert stretch.counts.tolist() == [2, 3, 2]


def test_gap_divides_a_life(history):
    life = _timeline_data(history).lifetimes[1]
    assert [stretch.edges.tolist() for stretch in life.stretches] == [[0.5, 1.5], [2.5, 4.0, 6.0]]
    assert [stretch.counts.tolist() for stretch in life.stretches] == [[1], [2, 1]]
    assert life.gaps == ((1.5, 2.5),)


def test_cluster_that_is_remembered_at_the_end_has_a_gap_to_the_end(history):
    assert _timeline_data(history).lifetimes[0].gaps == ((4.0, 6.0),)


def test_gap_ends_when_the_cluster_is_forgotten(longer_history):
    # The batch at 5 now ends at 5.5; 0 was last seen at 3, until 4, and forgotten at 6.
    life = _timeline_data(longer_history).lifetimes[0]
    assert life.forgotten == 6.0
    assert life.gaps == ((4.0, 6.0),)


def test_births_and_returns_have_the_times_of_their_events(history):
    lifetimes = _timeline_data(history).lifetimes
    assert [life.born for life in lifetimes] == [1.0, 1.0, 5.0]
    assert [life.returned for life in lifetimes] == [(), (3.0,), ()]


def test_birth_before_the_history_begins_is_unknown(windowed_history):
    assert [life.born for life in _timeline_data(windowed_history).lifetimes] == [None, None, 5.0]


def test_clusters_with_the_most_points_are_kept(history):
    # 0 has 2 + 3 + 2 points, 1 has 1 + 2 + 1, 2 has 1.
    data = _timeline_data(history, max_clusters=2)
    assert [(life.cluster_id, life.n_points) for life in data.lifetimes] == [(0, 7), (1, 4)]
    assert data.n_clusters == 3


def test_title_says_that_clusters_are_left_out(history, ax):
    plot_timeline(history, ax, max_clusters=2)
    assert ax.get_title() == "Cluster timeline: the 2 largest of 3"


def test_rows_have_the_colors_of_their_clusters(history, ax):
    plot_timeline(history, ax)
    # One stretch of 0, two of 1, one of 2.
    np.testing.assert_array_equal(
        ax.collections[0].get_facecolor()[:, :3], identity_rgba([0, 1, 1, 2])[:, :3]
    )


def test_color_belongs_to_the_cluster_and_not_to_its_row(history, ax):
    # The last batch alone: 1 and 2 are in the rows 0 and 1.
    last = History()
    last.add(history[3])
    plot_timeline(last, ax)
    np.testing.assert_array_equal(
        ax.collections[0].get_facecolor()[:, :3], identity_rgba([1, 2])[:, :3]
    )


def test_rows_are_as_thick_as_clusters_are_large(history, ax):
    plot_timeline(history, ax)
    heights = [np.ptp(path.vertices[:, 1]) for path in ax.collections[0].get_paths()]
    # At most 3, 1, 2 and 1 points: 0.14 + 0.72 * n / 3
    np.testing.assert_allclose(heights, [0.86, 0.38, 0.62, 0.38])


def test_gaps_are_dotted_lines_in_the_row_of_the_cluster(history, ax):
    plot_timeline(history, ax)
    gaps = ax.collections[1]
    assert [line.tolist() for line in gaps.get_segments()] == [
        [[4.0, 0.0], [6.0, 0.0]],
        [[1.5, 1.0], [2.5, 1.0]],
    ]
    assert gaps.get_linestyles()[0][1] is not None


def _marks(ax):
    return {
        tuple(place): tuple(face)
        for marks in ax.collections[2:]
        for place, face in zip(
            marks.get_offsets().tolist(),
            np.broadcast_to(marks.get_facecolor(), (len(marks.get_offsets()), 4)).tolist(),
            strict=True,
        )
    }


def test_births_are_filled_marks_and_returns_open_ones(history, ax):
    plot_timeline(history, ax)
    assert _marks(ax) == {
        (1.0, 0.0): to_rgba(identity_color(0)),
        (1.0, 1.0): to_rgba(identity_color(1)),
        (5.0, 2.0): to_rgba(identity_color(2)),
        (3.0, 1.0): to_rgba("white"),
    }


def test_end_of_memory_is_marked(longer_history, ax):
    plot_timeline(longer_history, ax)
    assert (6.0, 0.0) in _marks(ax)


def test_end_of_memory_at_time_zero_is_marked(longer_history, ax):
    early = History()
    for record in longer_history:
        early.add(dataclasses.replace(record, time=record.time - 6.0))
    plot_timeline(early, ax)
    assert (0.0, 0.0) in _marks(ax)


def test_first_cluster_is_the_uppermost_row(history, ax):
    plot_timeline(history, ax)
    bottom, top = ax.get_ylim()
    assert bottom > 2 > 0 > top
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1", "2"]


def test_no_row_at_all_is_refused(history):
    with pytest.raises(ValueError, match="max_clusters must be at least 1, got 0"):
        _timeline_data(history, max_clusters=0)
