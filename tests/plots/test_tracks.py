"""Centers, tails and points."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from dynmeans import DynamicMeans
from dynmeans.plots import identity_color, identity_rgba, plot_tracks
from dynmeans.plots.tracks import _spread, _track_data


def test_centers_are_those_of_the_batch(history):
    data = _track_data(history)
    assert data.time == "5"
    assert data.ids.tolist() == [1, 2]
    assert data.centers.tolist() == [[5, 7], [9, 9]]


def test_tails_join_the_places_of_a_cluster_in_order(history):
    data = _track_data(history)
    of_0 = data.tail_segments[data.tail_ids == 0]
    # (0, 0) -> (1, 0) -> (2, 0)
    assert of_0.tolist() == [[[0, 0], [1, 0]], [[1, 0], [2, 0]]]


def test_age_of_a_piece_is_counted_back_from_the_batch_drawn(history):
    data = _track_data(history)
    # 0 moved in the second and third of four batches, 1 was there again in the third and fourth.
    assert data.tail_ids.tolist() == [0, 0, 1, 1]
    assert data.tail_ages.tolist() == [2, 1, 1, 0]


def test_piece_over_batches_unseen_is_known_as_such(history):
    data = _track_data(history)
    # 1: (5, 5) in the first batch, (5, 6) in the third, (5, 7) in the fourth.
    assert data.tail_skips[data.tail_ids == 1].tolist() == [True, False]


def test_cluster_not_in_the_batch_is_where_it_was_last_seen(history):
    data = _track_data(history)
    assert data.unseen_ids.tolist() == [0]
    assert data.unseen_centers.tolist() == [[2, 0]]


def test_tail_goes_back_no_further_than_asked(history):
    data = _track_data(history, tail=1)
    # One batch back: 1 from (5, 6) to (5, 7); the last place of 0 was there too.
    assert data.tail_segments.tolist() == [[[5, 6], [5, 7]]]
    assert data.unseen_ids.tolist() == [0]


def test_no_tail_leaves_the_batch_alone(history):
    data = _track_data(history, tail=0)
    assert len(data.tail_ids) == len(data.unseen_ids) == 0


def test_earlier_batch_knows_nothing_of_later_ones(history):
    data = _track_data(history, step=1)
    assert data.ids.tolist() == [0]
    assert data.tail_segments.tolist() == [[[0, 0], [1, 0]]]


def test_features_may_be_drawn_in_another_order(history):
    data = _track_data(history, features=[1, 0])
    assert data.centers.tolist() == [[7, 5], [9, 9]]
    assert data.axis_labels == ("feature 1", "feature 0")


def test_one_feature_is_drawn_against_time(history, points):
    data = _track_data(history, points, features=[1])
    assert data.axis_labels == ("time", "feature 1")
    assert data.centers.tolist() == [[5, 7], [5, 9]]
    assert data.points.tolist() == [[5, 9], [5, 7]]


def test_data_of_one_feature_are_drawn_against_time(ax):
    batches = [[[0.0]], [[0.5]]]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)
    assert plot_tracks(history, batches[-1], ax=ax).get_xlabel() == "time"


def test_points_keep_the_labels_of_their_rows(history, points):
    data = _track_data(history, points)
    assert data.labels.tolist() == [2, 1]
    np.testing.assert_array_equal(data.points, points)


def test_points_have_the_colors_of_their_clusters(history, points, ax):
    plot_tracks(history, points, ax=ax)
    drawn = {
        tuple(place): tuple(color[:3])
        for dots in ax.collections
        if dots.get_zorder() == 1
        for place, color in zip(dots.get_offsets().tolist(), dots.get_facecolor(), strict=True)
    }
    assert drawn == {(9, 9): to_rgba(identity_color(2))[:3], (5, 7): to_rgba(identity_color(1))[:3]}


def test_centers_have_the_colors_of_their_clusters(history, ax):
    plot_tracks(history, ax=ax)
    centers = [marks for marks in ax.collections if marks.get_zorder() == 4]
    faces = np.concatenate([marks.get_facecolor() for marks in centers])
    np.testing.assert_array_equal(faces, identity_rgba([1, 2]))


def test_tails_fade_with_age(history, ax):
    plot_tracks(history, ax=ax)
    solid = next(lines for lines in ax.collections if lines.get_zorder() == 2)
    # Pieces of age 2 and 1 (cluster 0) and 0 (cluster 1): 1 - 0.85 * age / 3
    np.testing.assert_allclose(solid.get_colors()[:, 3], [1 - 1.7 / 3, 1 - 0.85 / 3, 1.0])


def test_every_center_is_numbered(history, ax):
    plot_tracks(history, ax=ax)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "0"]


def test_only_the_largest_of_many_clusters_are_named_and_the_title_says_so(ax):
    # 50 clusters of one point each, but two points in the last.
    places = [[10.0 * k, 0.0] for k in [*range(50), 49]]
    _, history = DynamicMeans(1.0, random_state=0).fit_sequence([places])
    plot_tracks(history, places, ax=ax)
    largest = history[0].ids[history[0].counts == 2].item()
    assert 10 < len(ax.texts) <= 40
    assert str(largest) in {text.get_text() for text in ax.texts}
    assert ax.get_title() == f"Time 1: 50 clusters, {len(ax.texts)} of the largest named"


def test_all_is_inside_the_axes(history, points, ax):
    plot_tracks(history, points, ax=ax)
    # The tails reach from (0, 0) to (5, 7), the points to (9, 9).
    assert ax.get_xlim()[0] < 0 < 9 < ax.get_xlim()[1]
    assert ax.get_ylim()[0] < 0 < 9 < ax.get_ylim()[1]


@pytest.mark.parametrize("step", [4, -5])
def test_batch_out_of_the_history_is_refused(history, step):
    with pytest.raises(ValueError, match=f"step must be from -4 to 3, .* got {step}"):
        _track_data(history, step=step)


def test_step_that_is_no_integer_is_refused(history):
    with pytest.raises(TypeError, match=r"step must be an integer, got 1\.5"):
        _track_data(history, step=1.5)


def test_negative_tail_is_refused(history):
    with pytest.raises(ValueError, match="tail must be at least 0, got -1"):
        _track_data(history, tail=-1)


@pytest.mark.parametrize("features", [(0, 2), (0, 0), (-1, 0), (), (0, 1, 0)])
def test_features_that_are_not_two_different_columns_are_refused(history, features):
    with pytest.raises(ValueError, match="one or two different columns from 0 to 1, got"):
        _track_data(history, features=features)


@pytest.mark.parametrize("features", [1, (0.5, 1), "xy"])
def test_features_that_are_no_sequence_of_integers_are_refused(history, features):
    with pytest.raises(TypeError, match="features must be a sequence of integers, got"):
        _track_data(history, features=features)


def test_points_of_another_batch_are_refused(history, points):
    with pytest.raises(ValueError, match=r"shape \(4, 2\), as the batch of time 3 had, got \(2, 2"):
        _track_data(history, points, step=2)


def test_points_that_are_not_finite_are_refused(history):
    with pytest.raises(ValueError, match="points must be finite"):
        _track_data(history, [[np.nan, 0.0], [0.0, 0.0]])


def test_names_of_one_column_move_apart_evenly_where_they_are_too_near():
    # Both half of what is missing: 2.0 and 2.5 become 1.75 and 2.75; 9.0 is far away.
    np.testing.assert_allclose(_spread(np.array([2.5, 9.0, 2.0]), 1.0), [2.75, 9.0, 1.75])
