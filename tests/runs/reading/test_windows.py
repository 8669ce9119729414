"""Tables to batches: order, windows, gaps, missing values, and going on where a pass stopped."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows


def windows_of(table, position=None, **options):
    """Read all batches of a table; its one feature is x unless told otherwise."""
    options = {"features": ("x",), **options}
    with Source(table) as source:
        windows = Windows(source, WindowOptions(**options), position)
        return list(windows), windows


def rows_of(batches):
    return [batch.row_ids.tolist() for batch in batches]


def minutes(*values):
    return pa.array([int(value) * 60_000_000 for value in values], type=pa.timestamp("us"))


def test_rows_of_one_window_make_one_batch_in_order_of_time():
    table = pa.table({"t": minutes(31, 5, 59, 10), "x": [1.0, 2.0, 3.0, 4.0]})
    batches, windows = windows_of(table, time="t", every="30min")
    assert rows_of(batches) == [[1, 3], [0, 2]]
    assert batches[1].points.tolist() == [[1.0], [3.0]]
    assert [batch.name for batch in batches] == [
        "1970-01-01T00:00:00+00:00",
        "1970-01-01T00:30:00+00:00",
    ]
    assert not windows.is_sorted


def test_equal_times_keep_the_order_of_the_table():
    table = pa.table({"t": minutes(5, 1, 5, 1, 5), "x": [0.0] * 5})
    batches, _ = windows_of(table, time="t", every="1h")
    assert rows_of(batches) == [[1, 3, 0, 2, 4]]


def test_a_sorted_table_is_not_sorted_again():
    table = pa.table({"t": minutes(1, 2, 2, 9), "x": [0.0] * 4})
    assert windows_of(table, time="t", every="1h")[1].is_sorted


def test_empty_windows_are_elapsed_time():
    table = pa.table({"t": minutes(5, 65, 365), "x": [0.0] * 3})
    batches, _ = windows_of(table, time="t", every="1h")
    assert [batch.elapsed for batch in batches] == [1.0, 1.0, 5.0]


def test_a_thousand_years_of_empty_windows_are_one_step():
    table = pa.table({"t": minutes(5, 526_000_000), "x": [0.0] * 2})
    batches, _ = windows_of(table, time="t", every="1min")
    assert [batch.elapsed for batch in batches] == [1.0, 526_000_000 - 5]


def test_days_are_those_of_the_time_zone():
    # 23:30 and 00:30 in Zurich, on both sides of its midnight; both are 22 March in UTC.
    times = pd.to_datetime(["2024-03-22 22:30+00:00", "2024-03-22 23:30+00:00"])
    table = pa.table({"t": times, "x": [0.0, 1.0]})
    assert len(windows_of(table, time="t", every="1d")[0]) == 1
    batches, _ = windows_of(table, time="t", every="1d", timezone="Europe/Zurich")
    assert [batch.name for batch in batches] == ["2024-03-22", "2024-03-23"]


def test_times_without_an_offset_are_times_of_the_zone():
    table = pa.table({"t": ["2024-07-01 00:30", "2024-07-01T00:30:00+02:00"], "x": [0.0, 1.0]})
    batches, _ = windows_of(table, time="t", every="1d", timezone="Europe/Zurich")
    assert batches[0].times.tolist()[0] == batches[0].times.tolist()[1]
    assert str(batches[0].times[0]) == "2024-06-30T22:30:00.000000"


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("zone", "hour"), [(None, 22), ("UTC", 0), ("Asia/Tokyo", 0)])
def test_timestamps_of_every_kind_are_read(unit, zone, hour):
    # 1 July 2024, 00:00 UTC; without a zone it is midnight in Zurich, two hours earlier.
    times = pa.array([1_719_792_000], pa.timestamp("s")).cast(pa.timestamp(unit))
    table = pa.table({"t": times.cast(pa.timestamp(unit, tz=zone)), "x": [0.0]})
    (batch,), _ = windows_of(table, time="t", every="1h", timezone="Europe/Zurich")
    assert batch.times[0].item().hour == hour


@pytest.mark.parametrize(
    ("unit", "values"),
    [("s", [0, 90]), ("ms", [0, 90_000]), ("us", [0, 90_000_000]), ("ns", [0, 90_000_000_000])],
)
def test_numbers_since_1970_are_times_in_their_unit(unit, values):
    table = pa.table({"t": values, "x": [0.0, 1.0]})
    batches, _ = windows_of(table, time="t", every="1min", time_unit=unit)
    assert [str(batch.times[0]) for batch in batches] == [
        "1970-01-01T00:00:00.000000",
        "1970-01-01T00:01:30.000000",
    ]


def test_plain_numbers_are_cut_by_plain_numbers():
    table = pa.table({"t": [0.0, 0.9, 1.0, 4.5], "x": [0.0] * 4})
    batches, _ = windows_of(table, time="t", every="0.5")
    assert rows_of(batches) == [[0], [1], [2], [3]]
    assert [batch.elapsed for batch in batches] == [1.0, 1.0, 1.0, 7.0]


def test_batches_by_count_hold_that_many_rows():
    table = pa.table({"x": np.arange(7.0)})
    batches, _ = windows_of(table, rows_per_window=3)
    assert rows_of(batches) == [[0, 1, 2], [3, 4, 5], [6]]
    assert [batch.elapsed for batch in batches] == [1.0, 1.0, 1.0]


def test_integers_that_a_batch_column_lacks_are_empty_batches():
    table = pa.table({"b": [4, 1, 1, 9], "x": [0.0, 1.0, 2.0, 3.0]})
    batches, _ = windows_of(table, window_column="b")
    assert rows_of(batches) == [[1, 2], [0], [3]]
    assert [batch.elapsed for batch in batches] == [1.0, 3.0, 5.0]


def test_a_batch_column_of_text_is_taken_in_its_order():
    table = pa.table({"b": ["tue", "mon", "tue"], "x": [0.0, 1.0, 2.0]})
    batches, _ = windows_of(table, window_column="b")
    assert [(batch.name, batch.elapsed) for batch in batches] == [("mon", 1.0), ("tue", 1.0)]
    assert rows_of(batches) == [[1], [0, 2]]


def test_within_a_batch_column_rows_are_taken_in_order_of_time():
    table = pa.table({"b": [1, 1, 0], "t": minutes(9, 2, 50), "x": [0.0, 1.0, 2.0]})
    assert rows_of(windows_of(table, window_column="b", time="t")[0]) == [[2], [1, 0]]


def test_single_precision_stays_single():
    table = pa.table({"x": pa.array([1.0, 2.0], pa.float32())})
    assert windows_of(table, rows_per_window=2)[0][0].points.dtype == np.float32


def test_names_weights_and_truth_come_with_the_rows():
    table = pa.table({"x": [1, 2], "who": ["p", "q"], "w": [1, 3], "true": [5, None]})
    (batch,), _ = windows_of(table, rows_per_window=2, id="who", weight="w", truth="true")
    assert batch.row_ids.tolist() == ["p", "q"]
    assert batch.rows.tolist() == [0, 1]
    assert batch.weights.tolist() == [1.0, 3.0]
    assert batch.truth.tolist() == [5, -1]


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_a_missing_feature_is_an_error_that_names_row_and_column(bad):
    table = pa.table({"x": [1.0, 2.0, bad], "y": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match=r"row 2 .* no finite value for 'x'\. on_missing=.drop."):
        windows_of(table, rows_per_window=2, features=("x", "y"))


def test_dropped_rows_are_counted_with_the_batch_that_follows_them():
    table = pa.table({"t": minutes(1, 2, 3, 61, 62), "x": [None, 1.0, None, None, 2.0]})
    batches, windows = windows_of(table, time="t", every="1h", on_missing="drop")
    assert rows_of(batches) == [[1], [4]]
    assert [batch.n_dropped_rows for batch in batches] == [1, 2]
    assert windows.n_dropped_rows == 0


def test_rows_dropped_at_the_end_are_counted_too():
    table = pa.table({"x": [1.0, 2.0, None, None]})
    batches, windows = windows_of(table, rows_per_window=2, on_missing="drop")
    assert [batch.n_dropped_rows for batch in batches] == [0]
    assert windows.n_dropped_rows == 2


def test_a_missing_time_is_a_missing_value():
    table = pa.table({"t": [*minutes(1, 2).to_pylist(), None], "x": [0.0, 1.0, 2.0]})
    with pytest.raises(ValueError, match="no finite value for 't'"):
        windows_of(table, time="t", every="1h")
    batches, _ = windows_of(table, time="t", every="1h", on_missing="drop")
    assert sorted(batches[0].row_ids.tolist()) == [0, 1]


def test_text_that_is_no_time_is_named_with_its_row():
    table = pa.table({"t": ["2024-01-01", "yesterday"], "x": [0.0, 1.0]})
    with pytest.raises(
        ValueError, match=r"row 1 of the input .from 0. has 'yesterday' in column 't'"
    ):
        windows_of(table, time="t", every="1d")


def test_numbers_that_lose_digits_are_refused():
    table = pa.table({"t": [1_700_000_000_000_000_001, 1_700_000_000_000_000_002], "x": [0.0, 1.0]})
    with pytest.raises(ValueError, match=r"too large to be distinguished.*time_unit"):
        windows_of(table, time="t", every="1")


@pytest.mark.parametrize(
    ("options", "column"),
    [
        ({"features": ("speed",), "rows_per_window": 1}, "features: there is no column 'speed'"),
        ({"time": "when", "every": "1h"}, "time: there is no column 'when'"),
        ({"window_column": "day"}, "window_column: there is no column 'day'"),
        ({"rows_per_window": 1, "weight": "w"}, "weight: there is no column 'w'"),
        ({"rows_per_window": 1, "id": "name"}, "id: there is no column 'name'"),
        ({"rows_per_window": 1, "truth": "true"}, "truth: there is no column 'true'"),
    ],
)
def test_a_missing_column_is_told_with_those_there_are(options, column):
    with pytest.raises(ValueError, match=f"{column}; the input has 't', 'x'"):
        windows_of(pa.table({"t": [1.0], "x": [2.0]}), **options)


def test_a_feature_that_is_text_is_refused():
    with pytest.raises(ValueError, match=r"features must be numbers, but row 0 .* has 'a'"):
        windows_of(pa.table({"x": ["a"]}), rows_per_window=1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rows_per_window": 3, "window_column": "b"},
        {"time": "t", "every": "1h", "rows_per_window": 3},
    ],
)
def test_exactly_one_way_to_cut_must_be_given(options):
    with pytest.raises(ValueError, match="exactly one of every"):
        WindowOptions(features=("x",), **options)


def test_windows_need_a_column_of_times():
    with pytest.raises(ValueError, match="every needs a column of times"):
        WindowOptions(features=("x",), every="1h")


CUTS = [
    {"time": "t", "every": "7min"},
    {"time": "t", "rows_per_window": 4},
    {"window_column": "b"},
    {"window_column": "b", "time": "t"},
]


@pytest.mark.parametrize("cut", CUTS, ids=str)
@settings(max_examples=6)
@given(stop=st.integers(0, 12), seed=st.integers(0, 50))
def test_a_pass_that_stopped_anywhere_goes_on_to_the_same_batches(cut, stop, seed):
    rng = np.random.default_rng(seed)
    n = 40
    x = np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n))
    table = pa.table({"t": minutes(*rng.integers(0, 90, n)), "x": x, "b": rng.integers(0, 9, n)})
    whole, end = windows_of(table, on_missing="drop", **cut)
    position = whole[stop - 1].position if 0 < stop <= len(whole) else None
    stop = 0 if position is None else stop
    stored = json.loads(json.dumps(position))
    rest, end_of_rest = windows_of(table, stored, on_missing="drop", **cut)
    assert rows_of(rest) == rows_of(whole[stop:])
    assert [batch.elapsed for batch in rest] == [batch.elapsed for batch in whole[stop:]]
    assert [batch.n_dropped_rows for batch in rest] == [
        batch.n_dropped_rows for batch in whole[stop:]
    ]
    assert (end_of_rest.position, end_of_rest.n_dropped_rows) == (end.position, end.n_dropped_rows)


def test_rows_added_to_the_past_are_refused_on_resume():
    table = pa.table({"t": minutes(10, 70, 130), "x": [0.0, 1.0, 2.0]})
    position = windows_of(table, time="t", every="1h")[0][1].position
    longer = pa.table({"t": minutes(10, 70, 130, 5), "x": [0.0, 1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="the input has changed: the run stopped after row 1"):
        windows_of(longer, position, time="t", every="1h")


def test_a_shorter_input_is_refused_on_resume():
    table = pa.table({"x": np.arange(9.0)})
    position = windows_of(table, rows_per_window=3)[0][2].position
    with pytest.raises(ValueError, match="has 4 rows, but the run has read 9"):
        windows_of(table.slice(0, 4), position, rows_per_window=3)


def test_new_rows_of_a_closed_window_are_refused():
    table = pa.table({"t": minutes(10, 70), "x": [0.0, 1.0]})
    position = windows_of(table, time="t", every="1h")[1].position
    longer = pa.table({"t": minutes(10, 70, 75, 130), "x": [0.0, 1.0, 2.0, 3.0]})
    with pytest.raises(
        ValueError, match=r"01:00.* already, but 1 more row came.*keep_last_open=True"
    ):
        windows_of(longer, position, time="t", every="1h")


def test_the_last_window_can_be_held_until_its_rows_are_there():
    table = pa.table({"t": minutes(10, 70), "x": [0.0, 1.0]})
    first, windows = windows_of(table, time="t", every="1h", keep_last_open=True)
    assert rows_of(first) == [[0]]
    longer = pa.table({"t": minutes(10, 70, 75, 130), "x": [0.0, 1.0, 2.0, 3.0]})
    rest, _ = windows_of(longer, windows.position, time="t", every="1h", keep_last_open=True)
    assert rows_of(rest) == [[1, 2]]


def test_a_table_without_rows_has_no_batches():
    table = pa.table({"t": minutes(), "x": pa.array([], pa.float64())})
    batches, windows = windows_of(table, time="t", every="1h")
    assert batches == []
    assert windows.position["is_finished"]


def test_times_of_a_local_form_are_read_in_the_zone(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("day,x\n31.12.2024 23:50,1\n01.01.2025 00:10,2\n")
    options = WindowOptions(
        features=("x",),
        time="day",
        every="1d",
        timezone="Europe/Zurich",
        time_format="%d.%m.%Y %H:%M",
    )
    with Source(path) as source:
        assert [batch.name for batch in Windows(source, options)] == ["2024-12-31", "2025-01-01"]


@pytest.mark.parametrize(
    ("form", "labels"), [("%d/%m/%Y", ["2024-02-01"]), ("%m/%d/%Y", ["2024-01-02"])]
)
def test_the_form_decides_which_number_is_the_month(tmp_path, form, labels):
    path = tmp_path / "rows.csv"
    path.write_text("day,x\n01/02/2024,1\n")
    options = WindowOptions(features=("x",), time="day", every="1d", time_format=form)
    with Source(path, text_column=options.text_column) as source:
        assert [batch.name for batch in Windows(source, options)] == labels


def test_dates_written_as_numbers_have_a_form_too():
    frame = pd.DataFrame({"day": [20240131, 20240201], "x": [1.0, 2.0]})
    options = WindowOptions(features=("x",), time="day", every="1mo", time_format="%Y%m%d")
    with Source(frame) as source:
        assert [batch.name for batch in Windows(source, options)] == ["2024-01-01", "2024-02-01"]


def test_text_of_another_form_is_refused_by_name():
    frame = pd.DataFrame({"day": ["1.2.2024", "soon"], "x": [1.0, 2.0]})
    options = WindowOptions(features=("x",), time="day", every="1d", time_format="%d.%m.%Y")
    message = r"row 1 of the input .from 0. has 'soon' .* not a time of the form '%d.%m.%Y'"
    with Source(frame) as source, pytest.raises(ValueError, match=message):
        Windows(source, options)


def test_a_form_is_not_for_times_that_are_times():
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-31"]), "x": [1.0]})
    options = WindowOptions(features=("x",), time="day", every="1d", time_format="%d.%m.%Y")
    message = "time_format is for times that are text, but 'day' is TIMESTAMP"
    with Source(frame) as source, pytest.raises(ValueError, match=message):
        Windows(source, options)


def test_a_unit_and_a_form_exclude_each_other():
    with pytest.raises(ValueError, match="give time_unit or time_format, not both"):
        WindowOptions(("x",), time="t", every="1d", time_unit="s", time_format="%Y")


def test_text_that_holds_numbers_is_read_and_words_for_none_are_missing():
    table = pa.table({"x": ["1.5", " 2 ", "NA", "n/a", "NaN", "", None]})
    batches, windows = windows_of(table, rows_per_window=9, on_missing="drop")
    assert batches[0].points.ravel().tolist() == [1.5, 2.0]
    assert windows.n_dropped_rows == 5


def test_words_for_none_stop_a_run_that_wants_all_values():
    table = pa.table({"x": ["1.5", "NA"]})
    with pytest.raises(ValueError, match=r"row 1 of the input .from 0. has no finite value"):
        windows_of(table, rows_per_window=9)


def test_text_that_is_no_number_is_named_with_its_row():
    message = r"row 1 .* has .1,5. in column .x.\. If the comma is a decimal comma, set"
    with pytest.raises(ValueError, match=message):
        windows_of(pa.table({"x": ["1", "1,5"]}), rows_per_window=9)
