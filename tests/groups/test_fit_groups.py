"""fit_groups equals a loop over estimators, key by key and bit for bit."""

from datetime import timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dynmeans import DynamicMeans, fit_groups
from dynmeans.follow.model_config import ModelConfig
from dynmeans.groups import GroupStates
from dynmeans.groups.key_seeds import key_seed

PARAMETERS = {"new_penalty": 2.0, "max_gap": 3.0, "reach": 1.3}
RECIPE = ModelConfig(**PARAMETERS, random_state=5)


def make_frame(seed=0, n_rows=600, n_keys=23, n_hours=6):
    """Rows of all keys mixed, hours in order, some keys silent for hours."""
    rng = np.random.default_rng(seed)
    key = rng.integers(n_keys, size=n_rows)
    hour = np.sort(rng.integers(n_hours, size=n_rows))
    hour = np.where(key % 5 == 0, hour // 3 * 3, hour)
    places = rng.normal(size=(n_keys, 3, 2)) * 2
    points = places[key, rng.integers(3, size=n_rows)] + 0.3 * rng.normal(size=(n_rows, 2))
    return pd.DataFrame(
        {
            "sensor": [f"s{k}" for k in key],
            "hour": hour,
            "x": points[:, 0],
            "y": points[:, 1],
            "mass": rng.choice([0.0, 1.0, 2.5], size=n_rows),
        }
    )


def loop_over_estimators(
    frame, *, by="sensor", time_step=None, weight=None, models=None, parameters=PARAMETERS
):
    """The slow way: one estimator for each key, one partial_fit for each of its batches."""
    labels = np.empty(len(frame), dtype=np.int64)
    models, last = {} if models is None else models, {}
    for key, rows in frame.groupby(by):
        if key not in models:
            models[key] = DynamicMeans(**parameters, random_state=key_seed(5, key))
        for hour, batch in rows.groupby("hour"):
            gap = (hour - last[key]) / time_step if time_step and key in last else 1.0
            models[key].partial_fit(
                batch[["x", "y"]].to_numpy(),
                elapsed=gap,
                sample_weight=None if weight is None else batch[weight].to_numpy(),
            )
            labels[batch.index] = models[key].labels_
            last[key] = hour
    return labels, models


def check_equal(result, labels, models):
    np.testing.assert_array_equal(result.labels, labels)
    assert list(result.states) == sorted(models)
    for key, model in models.items():
        assert result.states[key] == model.state_


FRAMES = {
    "pandas": lambda frame: frame,
    "pandas-category": lambda frame: frame.astype({"sensor": "category"}),
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
}


@pytest.mark.parametrize("convert", FRAMES.values(), ids=FRAMES)
def test_labels_and_states_equal_a_loop_over_estimators(convert):
    frame = make_frame()
    result = fit_groups(
        convert(frame), by="sensor", features=["x", "y"], batch_column="hour", model_config=RECIPE
    )
    check_equal(result, *loop_over_estimators(frame))


def test_costs_passes_and_clusters_of_every_batch_equal_the_estimators():
    frame = make_frame()
    result = fit_groups(
        frame, by="sensor", features=["x", "y"], batch_column="hour", model_config=RECIPE
    )
    model = DynamicMeans(**PARAMETERS, random_state=key_seed(5, "s7"))
    rows = []
    for hour, batch in frame[frame.sensor == "s7"].groupby("hour"):
        model.partial_fit(batch[["x", "y"]].to_numpy())
        n_clusters = len(np.unique(model.labels_))
        rows.append(("s7", hour, len(batch), n_clusters, model.n_iter_, model.cost_))
    found = result.batch_table.to_pandas()
    assert list(found[found.sensor == "s7"].itertuples(index=False, name=None)) == rows


def test_one_thread_and_two_give_the_same_bits():
    frame = make_frame(n_rows=4000, n_keys=700)
    one, two = (
        fit_groups(
            frame,
            by="sensor",
            features=["x", "y"],
            batch_column="hour",
            model_config=RECIPE,
            n_threads=n,
        )
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.states == two.states


def test_gaps_count_in_steps_of_time():
    frame = make_frame()
    result = fit_groups(
        frame,
        by="sensor",
        features=["x", "y"],
        batch_column="hour",
        time_step=2,
        model_config=RECIPE,
    )
    check_equal(result, *loop_over_estimators(frame, time_step=2))


def test_times_count_like_numbers():
    frame = make_frame()
    numbers = fit_groups(
        frame,
        by="sensor",
        features=["x", "y"],
        batch_column="hour",
        time_step=1,
        model_config=RECIPE,
    )
    frame["hour"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(frame["hour"], unit="h")
    times = fit_groups(
        frame,
        by="sensor",
        features=["x", "y"],
        batch_column="hour",
        time_step=timedelta(hours=1),
        model_config=RECIPE,
    )
    np.testing.assert_array_equal(times.labels, numbers.labels)
    assert times.states["s3"] == numbers.states["s3"]
    assert times.batch_table["hour"].type == pa.timestamp("ns")


def test_groups_that_keep_a_course_equal_a_loop_over_estimators():
    frame = make_frame()
    frame[["x", "y"]] += 0.7 * frame[["hour"]].to_numpy()
    parameters = PARAMETERS | {"motion": "constant_velocity"}
    result = fit_groups(
        frame,
        by="sensor",
        features=["x", "y"],
        batch_column="hour",
        time_step=1,
        **parameters,
        random_state=5,
    )
    labels, models = loop_over_estimators(frame, time_step=1, parameters=parameters)
    check_equal(result, labels, models)
    assert any(np.abs(model.cluster_velocities_).max() > 0.3 for model in models.values())


def test_weights_count_as_in_the_estimator():
    frame = make_frame()
    result = fit_groups(
        frame,
        by="sensor",
        features=["x", "y"],
        batch_column="hour",
        weight="mass",
        model_config=RECIPE,
    )
    check_equal(result, *loop_over_estimators(frame, weight="mass"))


def test_float32_columns_stay_float32():
    frame = make_frame().astype({"x": np.float32, "y": np.float32})
    result = fit_groups(
        frame, by="sensor", features=["x", "y"], batch_column="hour", model_config=RECIPE
    )
    check_equal(result, *loop_over_estimators(frame))


def test_several_columns_make_a_key():
    frame = make_frame()
    frame["site"] = np.arange(len(frame)) % 3
    result = fit_groups(
        frame, by=["sensor", "site"], features=["x", "y"], batch_column="hour", model_config=RECIPE
    )
    check_equal(result, *loop_over_estimators(frame, by=["sensor", "site"]))


def test_features_are_all_other_columns_by_default():
    frame = make_frame()
    named = fit_groups(
        frame, by="sensor", features=["x", "y", "mass"], batch_column="hour", model_config=RECIPE
    )
    unnamed = fit_groups(frame, by="sensor", batch_column="hour", model_config=RECIPE)
    assert unnamed.states == named.states


def test_without_a_batch_column_each_key_is_one_batch():
    frame = make_frame().drop(columns=["hour", "mass"])
    result = fit_groups(frame, by="sensor", model_config=RECIPE)
    expected = DynamicMeans(**PARAMETERS, random_state=key_seed(5, "s1"))
    expected.fit(frame.loc[frame.sensor == "s1", ["x", "y"]].to_numpy())
    assert result.states["s1"] == expected.state_


@pytest.mark.parametrize("time_step", [None, 2])
def test_two_calls_through_a_file_equal_one(tmp_path, time_step):
    frame = make_frame()
    options = {
        "by": "sensor",
        "features": ["x", "y"],
        "batch_column": "hour",
        "time_step": time_step,
    }
    whole = fit_groups(frame, **options, model_config=RECIPE)
    is_early = frame.hour < 3
    early = fit_groups(frame[is_early], **options, model_config=RECIPE)
    early.states.save(tmp_path / "states.npz")
    states = GroupStates.load(tmp_path / "states.npz")
    assert states == early.states
    late = fit_groups(frame[~is_early], **options, model_config=RECIPE, state=states)
    np.testing.assert_array_equal(np.append(early.labels, late.labels), whole.labels)
    assert late.states == whole.states


def test_keys_absent_from_the_frame_stay_as_they_are():
    frame = make_frame()
    options = {
        "by": "sensor",
        "features": ["x", "y"],
        "batch_column": "hour",
        "model_config": RECIPE,
    }
    early = fit_groups(frame[frame.hour < 3], **options)
    late = frame[(frame.hour >= 3) & (frame.sensor != "s4")]
    after = fit_groups(late, **options, state=early.states)
    assert after.states["s4"] == early.states["s4"]


def test_the_estimator_of_a_key_goes_on_label_for_label():
    frame = make_frame()
    options = {
        "by": "sensor",
        "features": ["x", "y"],
        "batch_column": "hour",
        "model_config": RECIPE,
    }
    early = fit_groups(frame[frame.hour < 5], **options)
    late = frame[frame.hour == 5]
    went_on = fit_groups(late, **options, state=early.states)
    rows = (late.sensor == "s2").to_numpy()
    model = DynamicMeans.from_memory(early.memory("s2"))
    model.partial_fit(late.loc[rows, ["x", "y"]])
    np.testing.assert_array_equal(model.labels_, went_on.labels[rows])
    assert model.state_ == went_on.states["s2"]


def test_an_unseeded_model_goes_on_with_the_seed_of_the_states():
    frame = make_frame()
    options = {"by": "sensor", "features": ["x", "y"], "batch_column": "hour"}
    early = fit_groups(frame[frame.hour < 3], **options, model_config=RECIPE)
    late = fit_groups(frame[frame.hour >= 3], **options, **PARAMETERS, state=early.states)
    whole = fit_groups(frame, **options, model_config=RECIPE)
    assert late.states == whole.states


def test_an_empty_frame_changes_nothing():
    frame = make_frame()
    options = {
        "by": "sensor",
        "features": ["x", "y"],
        "batch_column": "hour",
        "model_config": RECIPE,
    }
    early = fit_groups(frame, **options)
    after = fit_groups(frame[:0], **options, state=early.states)
    assert after.labels.shape == (0,)
    assert after.states == early.states


@pytest.mark.parametrize("keys", [["ä", "", "zz"], [3, -5, 2**40], [("a", 1), ("a", 2), ("b", 0)]])
def test_keys_of_every_kind_come_back_from_the_file(keys, tmp_path):
    parts = [key if isinstance(key, tuple) else (key,) for key in keys]
    frame = pd.DataFrame(parts, columns=["one", "two"][: len(parts[0])]).assign(x=1.0)
    by = ["one", "two"] if isinstance(keys[0], tuple) else "one"
    states = fit_groups(frame, by=by, model_config=RECIPE).states
    states.save(tmp_path / "states.npz")
    assert list(GroupStates.load(tmp_path / "states.npz")) == sorted(keys)
    with pytest.raises(KeyError):
        states["no such key" if keys[0] != "ä" else 7]
