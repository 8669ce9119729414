"""Windows that a column names: whole numbers in their order, text as text, and never silently."""

import decimal
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dynmeans
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

TWELVE = list(range(12))


def windows_of(names, **options):
    table = pa.table({"b": names, "x": [float(i) for i in range(len(names))]})
    with Source(table) as source:
        return list(Windows(source, WindowOptions(("x",), window_column="b", **options)))


@pytest.mark.parametrize(
    "names",
    [
        [float(i) for i in TWELVE],
        pa.array([decimal.Decimal(i) for i in TWELVE], pa.decimal128(9, 2)),
        pa.array(TWELVE, pa.uint64()),
    ],
    ids=["float", "decimal", "uint64"],
)
def test_whole_numbers_of_any_type_are_taken_in_their_order(names):
    windows = windows_of(names)
    assert [window.name for window in windows] == [str(i) for i in TWELVE]
    assert [window.elapsed for window in windows] == [1.0] * 12


def test_integers_that_became_floats_by_a_gap_are_integers_still():
    windows = windows_of([0.0, 1.0, float("nan"), None, 10.0, 2.0], on_missing="drop")
    assert [(window.name, window.elapsed) for window in windows] == [
        ("0", 1.0),
        ("1", 1.0),
        ("2", 1.0),
        ("10", 8.0),
    ]


@pytest.mark.parametrize("odd", [0.5, 1e17])
def test_a_number_that_names_no_window_is_refused_with_its_row(odd):
    rule = "window_column must hold whole numbers of at most 2\\*\\*53, or text, but row 1"
    with pytest.raises(ValueError, match=rule):
        windows_of([0.0, odd])


def test_text_whose_numbers_are_out_of_order_is_warned_of():
    with pytest.warns(UserWarning, match="'day 10' before 'day 2'"):
        windows = windows_of([f"day {i}" for i in (1, 2, 10)])
    assert [window.name for window in windows] == ["day 1", "day 10", "day 2"]


@pytest.mark.parametrize("names", [["b01", "b02", "b10"], ["a", "b", "c"], ["a9", "b1"]])
def test_text_in_its_order_is_not_warned_of(names):
    assert [window.name for window in windows_of(names)] == names


def test_live_windows_named_by_whole_floats_are_taken_in_their_order():
    lines = [json.dumps({"b": float(i), "x": 0.0}) for i in TWELVE]
    windows = LiveWindows(lines, WindowOptions(("x",), window_column="b"))
    assert [window.name for window in windows] == [str(i) for i in TWELVE]


def test_a_frame_of_pandas_with_a_gap_in_its_batches_is_followed_in_order():
    frame = pd.DataFrame({"b": np.repeat(np.arange(12.0), 4), "x": np.arange(48) // 4 * 0.1})
    frame.loc[5, "b"] = np.nan
    with pytest.warns(UserWarning, match="1 row was left out"):
        found = dynmeans.cluster(frame, features=["x"], window_column="b", penalties=1.0)
    assert found.labels.dropna().eq(0).all()  # moved by 0.1 a window, never by 0.9


@pytest.mark.parametrize("odd", ["k.A.", float("inf")])
def test_a_word_among_numbers_of_a_frame_leaves_its_row_out(odd):
    frame = pd.DataFrame({"x": [1.0, odd, 3, None, 5.0], "b": 0}, dtype=object)
    with pytest.warns(UserWarning, match="2 rows were left out and have no label: 2 without"):
        found = dynmeans.cluster(frame, features=["x"], window_column="b", penalties=9.0)
    assert found.labels.isna().tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("convert", [pd.DataFrame, pa.table])
def test_short_floats_of_a_frame_are_read(convert):
    frame = convert({"x": np.array([1, 2, 3], dtype=np.float16), "b": [0, 0, 0]})
    assert (
        len(dynmeans.cluster(frame, features=["x"], window_column="b", penalties=9.0).labels) == 3
    )


@pytest.mark.parametrize("count", [20.5, "20", True])
def test_a_count_that_is_no_integer_is_refused_by_name(count):
    with pytest.raises(TypeError, match="rows_per_window must be an integer, got"):
        WindowOptions(("x",), rows_per_window=count)
