"""Steady motion through the estimator: parameters, look ahead, files, many keys."""

import numpy as np
import pandas as pd
import pytest

from dynmeans import DynamicMeans, fit_groups
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.groups import GroupStates
from dynmeans.groups.key_seeds import key_seed
from dynmeans.metrics import accuracy_global
from dynmeans.plots.tracks import _track_data
from dynmeans.records.history import History

STREAM = moving_gaussians(
    30,
    6,
    rng=np.random.default_rng(1),
    motion=0.05,
    spread=0.02,
    death=0.0,
    motion_model="constant_velocity",
)
PARAMETERS = {"new_penalty": 0.02, "max_gap": 5, "reach": 1.2, "random_state": 0}
STEADY = PARAMETERS | {"motion": "constant_velocity"}


def followed(**changes):
    model = DynamicMeans(**STEADY | changes)
    return model, *model.fit_sequence(STREAM.batches)


MODEL, LABELS, HISTORY = followed()


def test_identities_survive_crossings():
    still, _ = DynamicMeans(**PARAMETERS).fit_sequence(STREAM.batches)
    kept = [accuracy_global(STREAM.labels, labels) for labels in (still, LABELS)]
    assert kept[1] > kept[0] + 0.1


def test_velocities_are_those_of_the_clusters():
    moves = STREAM.centers[-1] - STREAM.centers[-2]
    nearest = np.argmin(
        np.linalg.norm(MODEL.cluster_centers_[:, None] - STREAM.centers[-1], axis=2), axis=0
    )
    errors = np.linalg.norm(MODEL.cluster_velocities_[nearest] - moves, axis=1)
    assert np.median(errors) < 0.02


def test_still_clusters_have_no_velocity():
    model = DynamicMeans(**PARAMETERS).fit(STREAM.batches[0])
    assert not model.cluster_velocities_.any()
    assert model.state_.velocities is None


def test_same_labels_step_by_step():
    model = DynamicMeans(**STEADY)
    for points, labels in zip(STREAM.batches, LABELS, strict=True):
        np.testing.assert_array_equal(model.partial_fit(points).labels_, labels)
    assert model.state_ == MODEL.state_


def test_restored_estimator_goes_on_label_for_label(tmp_path):
    model = DynamicMeans(**STEADY)
    model.fit_sequence(STREAM.batches[:15])
    model.memory_.save(tmp_path / "memory")
    memory = Memory.load(tmp_path / "memory")
    assert memory.clusters == model.state_
    restored = DynamicMeans.from_memory(memory)
    for points, labels in zip(STREAM.batches[15:], LABELS[15:], strict=True):
        np.testing.assert_array_equal(restored.partial_fit(points).labels_, labels)


def test_prediction_looks_ahead_to_where_clusters_will_be():
    expected = MODEL.forecast(2.0)
    labels = MODEL.predict(expected.centers, elapsed=2.0)
    np.testing.assert_array_equal(labels, expected.ids)


def test_prediction_of_now_is_that_of_the_last_batch():
    np.testing.assert_array_equal(MODEL.predict(STREAM.batches[-1]), LABELS[-1])


def test_forecast_grows_less_sure_with_time():
    assert np.all(MODEL.forecast(2.0).radii[:3] != MODEL.forecast(1.0).radii[:3])
    with pytest.raises(ValueError, match="elapsed must be greater than 0"):
        MODEL.forecast(0.0)


@pytest.mark.parametrize("moving_features", [["y"], [1], [False, True], np.array([False, True])])
def test_moving_features_are_names_numbers_or_yes_and_no(moving_features):
    frames = [pd.DataFrame(batch, columns=["x", "y"]) for batch in STREAM.batches[:4]]
    model = DynamicMeans(**STEADY, moving_features=moving_features)
    model.fit_sequence(frames)
    assert model.penalties_.moving_features == (1,)
    assert not model.cluster_velocities_[:, 0].any()
    assert model.cluster_velocities_[:, 1].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"motion": "wild"}, "motion must be one of random_walk, constant_velocity"),
        ({"moving_features": ["z"]}, "moving_features must name features, which are x, y, got 'z'"),
        (
            {"moving_features": [2]},
            "moving_features must name features of the points, which have 2",
        ),
        (
            {"moving_features": [True]},
            "moving_features must have one boolean for each of 2 features, got 1",
        ),
        ({"moving_features": []}, "moving_features must name a feature"),
        (
            {"motion": "random_walk", "moving_features": [0]},
            "moving_features needs motion='constant_velocity'",
        ),
    ],
)
def test_bad_motion_is_refused_and_nothing_is_fitted(changes, message):
    model = DynamicMeans(**STEADY | changes)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(pd.DataFrame(STREAM.batches[0], columns=["x", "y"]))
    assert not hasattr(model, "state_")


def test_auto_chooses_the_motion():
    model = DynamicMeans("auto", random_state=0)
    model.fit_sequence([20 * batch for batch in STREAM.batches])
    assert model.penalties_.motion == "constant_velocity"
    assert model.state_.velocities is not None


def test_history_keeps_velocities_and_speeds(tmp_path):
    HISTORY.save(tmp_path / "history.npz")
    loaded = History.load(tmp_path / "history.npz")
    for record, expected in zip(loaded, HISTORY, strict=True):
        np.testing.assert_array_equal(record.velocities, expected.velocities)
        assert record.events == expected.events
    moved = [event for event in loaded[-1].events if event.kind == "moved"]
    rows = np.searchsorted(loaded[-1].ids, [event.cluster_id for event in moved])
    speeds = np.linalg.norm(loaded[-1].velocities[rows], axis=1)
    np.testing.assert_allclose([event.speed for event in moved], speeds)


def test_frames_have_velocities():
    clusters, events = HISTORY.to_frame("clusters"), HISTORY.to_frame("events")
    last = clusters[clusters.step == 29]
    np.testing.assert_array_equal(last[["velocity_0", "velocity_1"]], HISTORY[-1].velocities)
    assert events[events.kind == "moved"].speed.notna().all()
    assert events[events.kind == "born"].speed.isna().all()


def test_arrows_of_the_picture_are_the_velocities():
    np.testing.assert_array_equal(_track_data(HISTORY).arrows, HISTORY[-1].velocities)
    over_time = _track_data(HISTORY, features=[1]).arrows
    np.testing.assert_array_equal(over_time[:, 1], HISTORY[-1].velocities[:, 1])
    assert np.all(over_time[:, 0] == 1.0)


def frame_of(n_keys=5):
    rows = []
    for key in range(n_keys):
        rng = np.random.default_rng(key)
        stream = moving_gaussians(8, 3, rng=rng, spread=0.02, motion_model="constant_velocity")
        rows += [(key, t, *y) for t, batch in enumerate(stream.batches) for y in batch]
    return pd.DataFrame(rows, columns=["key", "hour", "x", "y"]).sort_values("hour", kind="stable")


def test_groups_equal_a_loop_over_estimators(tmp_path):
    frame, model = frame_of(), ModelConfig(**STEADY, moving_features=["x"])
    early, late = frame[frame.hour < 4], frame[frame.hour >= 4]
    first = fit_groups(early, by="key", batch_column="hour", model_config=model)
    first.states.save(tmp_path / "states")
    states = GroupStates.load(tmp_path / "states")
    assert states == first.states
    second = fit_groups(late, by="key", batch_column="hour", model_config=model, state=states)
    for key, rows in frame.groupby("key"):
        alone = DynamicMeans(**STEADY | {"random_state": key_seed(0, key)}, moving_features=[0])
        for _, batch in rows.groupby("hour"):
            alone.partial_fit(batch[["x", "y"]].to_numpy())
        assert second.states[key] == alone.state_
    still = ModelConfig(**PARAMETERS)
    with pytest.raises(ValueError, match="state was made with motion='constant_velocity'"):
        fit_groups(late, by="key", batch_column="hour", model_config=still, state=states)
