"""Features of unlike units: scaled as asked, kept in the state, told in the units of the data."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import ClusterState, DynamicMeans, fit_groups
from dynmeans.records.scaling import Scaling

UNITS = np.array([1.0, 1000.0])


@pytest.fixture
def batches():
    """Three clusters that differ in the first feature; the second is noise in large units."""
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [5.0, 0.0], [10.0, 0.0]], 20, axis=0)
    return [(places + rng.normal(0, 0.3, places.shape)) * UNITS + [0.0, 5e4] for _ in range(5)]


def test_scaled_estimator_gives_the_labels_of_standardized_rows(batches):
    model = DynamicMeans(0.5, scale="standard", random_state=0)
    labels, _ = model.fit_sequence(batches)
    scaling, points = model.state_.scaling, np.vstack(batches)
    np.testing.assert_allclose(scaling.mean, points.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(scaling.spread, points.std(axis=0), rtol=1e-10)
    scaled = [scaling.apply(batch) for batch in batches]
    expected, _ = DynamicMeans(0.5, random_state=0).fit_sequence(scaled)
    np.testing.assert_array_equal(np.concatenate(labels), np.concatenate(expected))


def test_partial_fit_learns_on_the_first_batch_with_points_and_keeps_it(batches):
    model = DynamicMeans(0.5, scale="standard", random_state=0)
    model.partial_fit(np.empty((0, 2)))
    assert model.state_.scaling is None
    model.partial_fit(batches[0])
    learned = model.state_.scaling
    np.testing.assert_allclose(learned.mean, batches[0].mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(learned.spread, batches[0].std(axis=0), rtol=1e-10)
    model.partial_fit(batches[1] * 3)
    assert model.state_.scaling == learned


def test_auto_scales_only_where_units_differ(batches):
    unlike = DynamicMeans(0.5, scale="auto", random_state=0).fit(batches[0])
    like = DynamicMeans(0.5, scale="auto", random_state=0).fit(batches[0] / UNITS)
    assert unlike.state_.scaling is not None  # spreads of about 4 and 300
    assert like.state_.scaling is not None  # 4 and 0.3
    alike = DynamicMeans(0.5, scale="auto", random_state=0).fit(batches[0] / UNITS * [0.2, 1.0])
    assert alike.state_.scaling is None  # 0.8 and 0.3


def test_auto_decides_once(batches):
    model = DynamicMeans(0.5, scale="auto", random_state=0)
    model.partial_fit(batches[0] / UNITS * [0.2, 1.0])
    model.partial_fit(batches[1])
    assert model.state_.scaling is None


def test_centers_velocities_forecast_and_history_are_in_the_units_of_the_data(batches):
    model = DynamicMeans(0.5, scale="standard", motion="steady", random_state=0)
    _, history = model.fit_sequence(batches)
    middle = np.median(np.vstack(batches)[:, 1])
    for centers in (model.cluster_centers_, history[-1].centers, model.forecast().centers):
        assert np.all(np.abs(centers[:, 1] - middle) < 2000)
    spread = model.state_.scaling.spread
    np.testing.assert_allclose(model.cluster_velocities_, model.state_.velocities * spread)
    seen = np.isin(model.cluster_ids_, history[-1].ids)
    np.testing.assert_allclose(history[-1].velocities, model.cluster_velocities_[seen])


def test_predict_takes_rows_in_the_units_of_the_data(batches):
    model = DynamicMeans(0.5, scale="standard", random_state=0).fit(batches[0])
    np.testing.assert_array_equal(model.predict(batches[0]), model.labels_)
    distances = model.transform(batches[0])
    np.testing.assert_array_equal(model.cluster_ids_[distances.argmin(axis=1)], model.labels_)


def test_saved_state_brings_its_scaling_along(batches, tmp_path):
    model = DynamicMeans(0.5, scale="standard", random_state=0).fit(batches[0])
    model.state_.save(tmp_path / "state.npz")
    state = ClusterState.load(tmp_path / "state.npz")
    assert state == model.state_
    again = DynamicMeans.from_state(state, penalties=0.5, scale="standard", random_state=0)
    again.partial_fit(batches[1])
    model.partial_fit(batches[1])
    assert again.state_ == model.state_


def test_file_of_a_state_without_scaling_is_what_it_always_was(batches, tmp_path):
    DynamicMeans(1.0, random_state=0).fit(batches[0]).state_.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as file:
        assert set(file) == {"metadata", "ids", "centers", "weights", "ages", "counts"}


def test_state_without_scaling_is_refused_where_one_is_asked_for(batches):
    state = DynamicMeans(1.0, random_state=0).fit(batches[0] / UNITS).state_
    with pytest.raises(ValueError, match="scale must be what the state was made with"):
        DynamicMeans.from_state(state, penalties=1.0, scale="standard")


def test_row_of_weight_two_counts_as_two_in_the_scaling(batches):
    rows = batches[0]
    weights = np.where(np.arange(len(rows)) % 3 == 0, 2.0, 1.0)
    weighted = DynamicMeans(0.5, scale="standard", random_state=0)
    weighted.fit(rows, sample_weight=weights)
    twice = DynamicMeans(0.5, scale="standard", random_state=0)
    twice.fit(np.repeat(rows, weights.astype(int), axis=0))
    assert weighted.state_.scaling == twice.state_.scaling


def test_order_of_the_rows_changes_no_label(batches):
    order = np.random.default_rng(1).permutation(len(batches[0]))
    model = DynamicMeans(0.5, scale="standard", random_state=0).fit(batches[0])
    other = DynamicMeans(0.5, scale="standard", random_state=0).fit(batches[0][order])
    assert other.state_ == model.state_
    np.testing.assert_array_equal(other.labels_, model.labels_[order])


def test_other_scales_are_refused(batches):
    with pytest.raises(ValueError, match=r'scale must be "auto", "standard" or None, got \'max\''):
        DynamicMeans(scale="max").fit(batches[0])


def test_groups_refuse_to_scale():
    frame = pd.DataFrame({"key": ["a", "b"], "x": [0.0, 1.0]})
    with pytest.raises(ValueError, match="scale must be None for groups"):
        fit_groups(frame, by="key", model=DynamicMeans(1.0, scale="standard"))


def test_features_of_a_state_and_its_scaling_must_agree():
    with pytest.raises(ValueError, match="scaling must have one value for each of 2 features"):
        ClusterState([0], [[0.0, 0.0]], [1.0], [1.0], 1, scaling=Scaling([0.0], [1.0]))
