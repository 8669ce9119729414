"""Keys of every width and form: each row gets its own, and no other."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dynmeans import fit_groups
from dynmeans.follow.model_config import ModelConfig
from dynmeans.groups.frame_columns import choose_columns, read_keys

RECIPE = ModelConfig(1.0, random_state=0)


def keys_of_rows(table, by):
    columns = choose_columns(table, by, ["x"], None, None)
    groups, keys = read_keys(table, columns)
    assert keys == sorted(set(keys))
    return [keys[group] for group in groups.tolist()]


def test_several_wide_columns_make_the_keys_of_the_frame_and_no_others():
    # 60,000 to the fourth is more than 2**63: numbers of keys cannot simply be multiplied.
    n = 60_000
    rng = np.random.default_rng(0)
    columns = {name: rng.permutation(n) for name in "abcd"}
    table = pa.table({**columns, "x": np.zeros(n)})
    expected = list(zip(*(columns[name].tolist() for name in "abcd"), strict=True))
    assert keys_of_rows(table, list("abcd")) == expected


def test_keys_of_text_and_numbers_together_stay_with_their_rows():
    table = pa.table({"a": ["q", "p", "q", "p"], "b": [1, 1, -2, 1], "x": [0.0] * 4})
    assert keys_of_rows(table, ["a", "b"]) == [("q", 1), ("p", 1), ("q", -2), ("p", 1)]


def repeated(values, indices):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))


def test_a_value_that_is_twice_in_an_arrow_dictionary_is_one_key():
    table = pa.table({"k": repeated(["b", "a", "b"], [0, 1, 2]), "x": [0.0, 1.0, 0.1]})
    result = fit_groups(table, by="k", model_config=RECIPE)
    assert result.states.key_list == ["a", "b"]
    assert result.batch_table["n_points"].to_pylist() == [1, 2]


def test_an_empty_place_in_an_arrow_dictionary_is_no_key():
    table = pa.table({"k": repeated(["b", None], [0, 1]), "x": [0.0, 1.0]})
    with pytest.raises(ValueError, match="none in column 'k' of row 1"):
        fit_groups(table, by="k", model_config=RECIPE)


def test_values_of_a_dictionary_that_no_row_has_are_no_keys():
    table = pa.table({"k": repeated(["b", "a", None], [0, 0]), "x": [0.0, 1.0]})
    assert fit_groups(table, by="k", model_config=RECIPE).states.key_list == ["b"]


@pytest.mark.parametrize("by", ["k", ["k", "j"]])
def test_unsigned_keys_beyond_the_signed_ones_are_keys_like_others(by):
    wide = np.array([2**64 - 1, 7, 2**63], dtype=np.uint64)
    frame = pd.DataFrame({"k": wide, "j": [0, 0, 0], "x": [0.0, 1.0, 2.0]})
    result = fit_groups(frame, by=by, features=["x"], model_config=RECIPE)
    assert result.batch_table["k"].to_pylist() == [7, 2**63, 2**64 - 1]
    again = fit_groups(frame, by=by, features=["x"], model_config=RECIPE, state=result.states)
    assert again.states.key_list == result.states.key_list


def test_batches_beyond_64_signed_bits_are_refused_and_not_wrapped():
    hours = np.array([1, 2**63], dtype=np.uint64)
    frame = pd.DataFrame({"k": [0, 0], "hour": hours, "x": [0.0, 1.0]})
    with pytest.raises(
        ValueError, match=r"batch_column must be at most 2\*\*63 - 1, got 922.* in row 1"
    ):
        fit_groups(frame, by="k", batch_column="hour", model_config=RECIPE)


def test_times_that_do_not_fit_nanoseconds_are_refused():
    times = pa.array([0, 10**15], pa.timestamp("s"))
    table = pa.table({"k": [0, 0], "hour": times, "x": [0.0, 1.0]})
    with pytest.raises(ValueError, match="batch_column must have times from 1678 to 2261"):
        fit_groups(table, by="k", batch_column="hour", model_config=RECIPE)
