"""Features of unlike units: mapped as asked, kept in the memory, told in the units of the rows."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import DynamicMeans, fit_groups
from dynmeans.follow.memory import Memory

UNITS = np.array([1.0, 1000.0])


@pytest.fixture
def batches():
    """Three clusters that differ in the first feature; the second is noise in large units."""
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [5.0, 0.0], [10.0, 0.0]], 20, axis=0)
    return [(places + rng.normal(0, 0.3, places.shape)) * UNITS + [0.0, 5e4] for _ in range(5)]


def test_scaled_estimator_gives_the_labels_of_standardized_rows(batches):
    model = DynamicMeans(0.5, space="standard", random_state=0)
    labels, _ = model.fit_sequence(batches)
    space, points = model.space_, np.vstack(batches)
    np.testing.assert_allclose(space.mean, points.mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(space.spread, points.std(axis=0), rtol=1e-10)
    scaled = [space.to_points(batch) for batch in batches]
    expected, _ = DynamicMeans(0.5, random_state=0).fit_sequence(scaled)
    np.testing.assert_array_equal(np.concatenate(labels), np.concatenate(expected))


def test_partial_fit_learns_on_the_first_batch_with_points_and_keeps_it(batches):
    model = DynamicMeans(0.5, space="standard", random_state=0)
    model.partial_fit(np.empty((0, 2)))
    assert not model.memory_.space.is_fitted
    model.partial_fit(batches[0])
    learned = model.space_
    np.testing.assert_allclose(learned.mean, batches[0].mean(axis=0), rtol=1e-10)
    np.testing.assert_allclose(learned.spread, batches[0].std(axis=0), rtol=1e-10)
    model.partial_fit(batches[1] * 3)
    assert model.space_ == learned


def test_auto_scales_only_where_units_differ(batches):
    unlike = DynamicMeans(0.5, space="auto", random_state=0).fit(batches[0])
    like = DynamicMeans(0.5, space="auto", random_state=0).fit(batches[0] / UNITS)
    assert unlike.space_.name == "standard"  # spreads of about 4 and 300
    assert like.space_.name == "standard"  # 4 and 0.3
    alike = DynamicMeans(0.5, space="auto", random_state=0).fit(batches[0] / UNITS * [0.2, 1.0])
    assert alike.space_.name == "raw"  # 0.8 and 0.3


def test_auto_decides_once(batches):
    model = DynamicMeans(0.5, space="auto", random_state=0)
    model.partial_fit(batches[0] / UNITS * [0.2, 1.0])
    model.partial_fit(batches[1])
    assert model.space_.name == "raw"


def test_centers_velocities_forecast_and_history_are_in_the_units_of_the_data(batches):
    model = DynamicMeans(0.5, space="standard", motion="constant_velocity", random_state=0)
    _, history = model.fit_sequence(batches)
    middle = np.median(np.vstack(batches)[:, 1])
    for centers in (model.cluster_centers_, history[-1].centers, model.forecast().centers):
        assert np.all(np.abs(centers[:, 1] - middle) < 2000)
    spread = model.space_.spread
    np.testing.assert_allclose(
        model.cluster_velocities_, model.memory_.clusters.velocities * spread
    )
    seen = np.isin(model.cluster_ids_, history[-1].ids)
    np.testing.assert_allclose(history[-1].velocities, model.cluster_velocities_[seen])


def test_predict_takes_rows_in_the_units_of_the_data(batches):
    model = DynamicMeans(0.5, space="standard", random_state=0).fit(batches[0])
    np.testing.assert_array_equal(model.predict(batches[0]), model.labels_)
    distances = model.transform(batches[0])
    np.testing.assert_array_equal(model.cluster_ids_[distances.argmin(axis=1)], model.labels_)


def test_saved_memory_brings_its_space_along(batches, tmp_path):
    model = DynamicMeans(0.5, space="standard", random_state=0).fit(batches[0])
    model.memory_.save(tmp_path / "memory.npz")
    again = DynamicMeans.from_memory(Memory.load(tmp_path / "memory.npz"))
    again.partial_fit(batches[1])
    model.partial_fit(batches[1])
    assert again.memory_.to_bytes() == model.memory_.to_bytes()
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_clusters_of_another_space_are_not_handed_out_as_a_state_of_rows(batches):
    model = DynamicMeans(0.5, space="standard", random_state=0).fit(batches[0])
    with pytest.raises(AttributeError, match=r"uses space 'standard'\. Use memory_"):
        model.state_  # noqa: B018


def test_another_space_than_that_of_the_memory_is_refused(batches):
    memory = DynamicMeans(1.0, random_state=0).fit(batches[0] / UNITS).memory_
    with pytest.raises(ValueError, match="space must be what the memory was made with, 'raw'"):
        DynamicMeans.from_memory(memory, space="standard")


def test_row_of_weight_two_counts_as_two_in_the_space(batches):
    rows = batches[0]
    weights = np.where(np.arange(len(rows)) % 3 == 0, 2.0, 1.0)
    weighted = DynamicMeans(0.5, space="standard", random_state=0)
    weighted.fit(rows, sample_weight=weights)
    twice = DynamicMeans(0.5, space="standard", random_state=0)
    twice.fit(np.repeat(rows, weights.astype(int), axis=0))
    assert weighted.space_ == twice.space_


def test_order_of_the_rows_changes_no_label(batches):
    order = np.random.default_rng(1).permutation(len(batches[0]))
    model = DynamicMeans(0.5, space="standard", random_state=0).fit(batches[0])
    other = DynamicMeans(0.5, space="standard", random_state=0).fit(batches[0][order])
    assert other.memory_.clusters == model.memory_.clusters
    np.testing.assert_array_equal(other.labels_, model.labels_[order])


def test_other_spaces_are_refused(batches):
    with pytest.raises(ValueError, match=r"space must be one of raw, .* got 'max'"):
        DynamicMeans(space="max").fit(batches[0])


def test_groups_learn_no_space():
    frame = pd.DataFrame({"key": ["a", "b"], "x": [0.0, 1.0]})
    with pytest.raises(ValueError, match="space is not learned in fit_groups"):
        fit_groups(frame, by="key", new_penalty=1.0, space="standard")
