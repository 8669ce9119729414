"""What fit_groups refuses, and how it says so."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from dynmeans import fit_groups
from dynmeans.follow.model_config import ModelConfig
from dynmeans.groups import GroupStates

RECIPE = ModelConfig(1.0, random_state=0)


def small_frame(**changes):
    columns = {"key": ["b", "a", "b"], "hour": [0, 0, 1], "x": [0.0, 1.0, 2.0]} | changes
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "keys"}, "by must name columns of the frame, got 'keys'; it has key, hour, x"),
        ({"by": []}, "by must name at least one column"),
        ({"by": "key", "features": ["z"]}, "features must name columns of the frame, got 'z'"),
        ({"by": "key", "features": []}, "features must name at least one column"),
        ({"by": "key", "features": ["x", "x"]}, "features must be different columns"),
        ({"by": "key", "features": ["key"]}, "features must be different columns"),
        (
            {"by": "key", "batch_column": "time"},
            "batch_column must name columns of the frame, got 'time'",
        ),
        ({"by": "key", "weight": "w"}, "weight must name columns of the frame, got 'w'"),
        ({"by": "key", "time_step": 2}, "time_step needs batch_column, the column"),
        ({"by": "key", "batch_column": "hour", "time_step": 0}, "time_step must be greater than 0"),
    ],
)
def test_columns_are_checked_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        fit_groups(small_frame(), model_config=RECIPE, **options)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"key": ["b", None, "b"]}, ValueError, "none in column 'key' of row 1"),
        ({"key": [0.5, 1.0, 2.0]}, TypeError, "integers or text, got 'key' of type double"),
        ({"x": [0.0, 1.0, np.nan]}, ValueError, r"nan in column 'x' of row 2 \(key 'b'\)"),
        ({"x": [0.0, -np.inf, 1.0]}, ValueError, r"-inf in column 'x' of row 1 \(key 'a'\)"),
        ({"x": ["p", "q", "r"]}, TypeError, "columns of numbers, got 'x' of type"),
        (
            {"hour": [1, 0, 0]},
            ValueError,
            r"must not decrease within a key: row 2 \(key 'b'\)",
        ),
        ({"hour": [1.0, np.inf, 1.0]}, ValueError, "batch_column must be finite, got inf in row 1"),
        ({"hour": [1, None, 2]}, ValueError, "batch_column must have a value in every row"),
        ({"hour": ["a", "b", "c"]}, TypeError, "numbers or times, got 'hour' of type"),
    ],
)
def test_values_are_refused_by_row_and_column(changes, error, message):
    frame = small_frame(**changes)
    if "hour" in changes and changes["hour"][1] is None:
        frame["hour"] = frame["hour"].astype("Int64")
    with pytest.raises(error, match=message):
        fit_groups(frame, by="key", features=["x"], batch_column="hour", model_config=RECIPE)


def test_negative_weights_are_refused_by_row():
    with pytest.raises(ValueError, match=r"weight must be at least 0 .* got -1.0 in row 1"):
        fit_groups(
            small_frame(w=[1.0, -1.0, 1.0]),
            by="key",
            features=["x"],
            weight="w",
            model_config=RECIPE,
        )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"model_config": ModelConfig(new_penalty=2.0, random_state=0)},
            "new_penalty=1.0.* has 2.0",
        ),
        (
            {"model_config": ModelConfig(1.0, max_gap=3, random_state=0)},
            "made with revival_penalty=",
        ),
        ({"model_config": ModelConfig(1.0, reach=3, random_state=0)}, "made with drift="),
        (
            {"model_config": ModelConfig(1.0, random_state=1)},
            "made with seed=0, but this call has 1",
        ),
        ({"model_config": ModelConfig(1.0, n_init=1, random_state=0)}, "made with n_init=3"),
        ({"features": ["y"]}, r"made with features=\['x'\]"),
        ({"by": ["key"]}, "made with by='key'"),
        ({"batch_column": None}, "made with batch_column='hour'"),
        ({"time_step": 1.0}, "made with time_step=None"),
    ],
)
def test_states_of_other_settings_are_refused(options, message):
    usual = {"by": "key", "features": ["x"], "batch_column": "hour", "model_config": RECIPE}
    states = fit_groups(small_frame(), **usual).states
    later = small_frame(hour=[2, 2, 3]).assign(y=1.0)
    with pytest.raises(ValueError, match=message):
        fit_groups(later, **(usual | options), state=states)


def test_batches_already_taken_in_are_refused():
    options = {"by": "key", "features": ["x"], "batch_column": "hour", "model_config": RECIPE}
    states = fit_groups(small_frame(), **options).states
    with pytest.raises(ValueError, match="key 'a' was processed up to 0, got 0"):
        fit_groups(small_frame(), **options, state=states)


def test_keys_of_another_type_than_in_the_states_are_refused():
    options = {"by": "key", "features": ["x"], "model_config": RECIPE}
    states = fit_groups(small_frame(), **options).states
    with pytest.raises(ValueError, match="state has keys like 'a', got 1"):
        fit_groups(small_frame(key=[1, 2, 3]), **options, state=states)


def test_a_changed_file_is_refused(tmp_path):
    path = tmp_path / "states.npz"
    fit_groups(small_frame(), by="key", features=["x"], model_config=RECIPE).states.save(path)
    content = bytearray(path.read_bytes())
    content[content.index(np.float64(1.0).tobytes())] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"damaged|checksum"):
        GroupStates.load(path)


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), (2**32, ValueError), (True, TypeError), ("a", TypeError)]
)
def test_seeds_that_no_estimator_takes_are_refused(seed, error):
    with pytest.raises(error, match="random_state must be"):
        fit_groups(small_frame(), by="key", new_penalty=1.0, random_state=seed)


def test_a_generator_as_random_state_is_drawn_from_once():
    one, two = (
        fit_groups(
            small_frame(),
            by="key",
            features=["x"],
            new_penalty=1.0,
            random_state=np.random.RandomState(4),
        )
        for _ in range(2)
    )
    assert one.states == two.states
    assert one.states.settings["seed"] == np.random.RandomState(4).randint(2**32, dtype=np.uint32)


def test_other_objects_are_refused_by_type():
    with pytest.raises(TypeError, match="frame must be a pandas, polars or Arrow"):
        fit_groups([[1.0]], by="key", new_penalty=1.0)
    with pytest.raises(TypeError, match="model_config must be a ModelConfig, got dict"):
        fit_groups(small_frame(), by="key", model_config={})
    with pytest.raises(TypeError, match="state must be a GroupStates, got dict"):
        fit_groups(small_frame(), by="key", new_penalty=1.0, state={})


def test_penalties_are_not_chosen_for_groups():
    with pytest.raises(ValueError, match="penalties must be given in fit_groups, got 'auto'"):
        fit_groups(small_frame(), by="key", features=["x"])


def test_a_dask_frame_is_refused_with_the_way_out():
    frame = dd.from_pandas(pd.DataFrame({"key": ["a"], "x": [1.0]}), npartitions=1)
    with pytest.raises(TypeError, match=r"compute\(\) brings one of Dask there"):
        fit_groups(frame, by="key", new_penalty=1.0)
