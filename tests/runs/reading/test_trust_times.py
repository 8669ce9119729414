"""One bad time, line or number ends in one clear error; nothing runs on without an end."""

import io
import json

import numpy as np
import pyarrow as pa
import pytest

from dynmeans.runs.reading.durations import parse_length, parse_zone
from dynmeans.runs.reading.json_lines import MAX_LINE, bounded_lines
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

NOW = 1_710_000_000
BAD_TIMES = [
    "1e300",
    "-1e300",
    "1e400",
    "9" * 400,
    "-" + "9" * 400,
    "true",
    "[]",
    "{}",
    '"x"',
    "NaN",
]
ISO_EDGES = ["0001-01-01", "9999-12-31T23:59:59", "0001-01-01T00:00:00+14:00", "9999-12-31-12:00"]


def live(lines, **options):
    options = {"features": ("x",), "time": "t", "every": "1", **options}
    return list(LiveWindows(lines, WindowOptions(**options)))


def windows_of(times, **options):
    table = pa.table({"t": times, "x": np.arange(float(len(times)))})
    with Source(table) as source:
        return list(Windows(source, WindowOptions(features=("x",), time="t", **options)))


@pytest.mark.parametrize("every", ["1", "1e-12", "1e12"])
@pytest.mark.parametrize("time", BAD_TIMES)
def test_a_line_with_a_wild_time_is_one_error_that_names_it(time, every):
    lines = ['{"t": 1, "x": 5}', f'{{"t": {time}, "x": 5}}']
    with pytest.raises(ValueError, match="line 2"):
        live(lines, every=every)


@pytest.mark.parametrize("time", [*BAD_TIMES, *map(json.dumps, ISO_EDGES)])
@pytest.mark.parametrize("every", ["1s", "1d", "1000y", "36500d"])
def test_a_line_with_a_wild_moment_is_one_error_that_names_it(time, every):
    unit = None if time.startswith('"') else "s"
    first = '"2024-01-01"' if unit is None else str(NOW)
    lines = [f'{{"t": {first}, "x": 5}}', f'{{"t": {time}, "x": 5}}']
    with pytest.raises(ValueError, match="line 2"):
        live(lines, every=every, time_unit=unit)


def test_windows_too_short_for_their_times_are_told_not_counted_for_ever():
    with pytest.raises(ValueError, match=r"every: line 1 .*too far from 0 for windows so short"):
        live(['{"t": 1700000000, "x": 5}'], every="1e-12")


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 1e300], [3.0, 1e300, 2.0]], ids=["sorted", "not"])
def test_a_number_too_large_is_refused_in_tables_in_order_or_not(numbers):
    with pytest.raises(ValueError, match=r"row [12] .* too large to be distinguished"):
        windows_of(numbers, every="1")


def test_milliseconds_read_as_seconds_ask_whether_they_are_meant():
    with pytest.raises(ValueError, match=r"row 1 .*in the year 56,.*\. Is time_unit='ms' meant"):
        windows_of([NOW, NOW * 1000], every="1h", time_unit="s")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("time", [1e300, -1e300, 1e22, np.nan, np.inf])
def test_wild_numbers_with_a_unit_are_one_error(time, unit):
    with pytest.raises(ValueError, match=r"row 0|row 1"):
        windows_of([0.0, time], every="1d", time_unit=unit)


@pytest.mark.parametrize("every", ["1s", "1d", "1w", "1mo", "1y", "1000y"])
@pytest.mark.parametrize("day", ["0001-01-03", "9999-12-28"])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_windows_at_the_ends_of_the_calendar_hold_their_times(every, day, zone):
    (window,) = windows_of(np.array([day], "datetime64[us]"), every=every, timezone=zone)
    assert window.n_points == 1


@pytest.mark.parametrize("text", ["1001y", "9" * 400 + "s", "99999999999h", "1e9d"])
def test_a_length_beyond_a_thousand_years_is_refused(text):
    with pytest.raises(ValueError, match="every must be"):
        parse_length(text, parse_zone("UTC"))


def test_a_line_nested_too_deeply_is_named():
    with pytest.raises(ValueError, match="line 1 of the input is nested too deeply"):
        live(['{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"])


def test_a_line_with_a_number_of_thousands_of_digits_is_named():
    with pytest.raises(ValueError, match="line 1 of the input holds a number that is too long"):
        live([f'{{"t": 1, "x": {"7" * 5000}}}'])


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory():
    stream = io.BytesIO(b"x" * (3 * MAX_LINE))
    with pytest.raises(ValueError, match="line 1 of the input is longer than"):
        live(bounded_lines(stream))
    assert stream.tell() == MAX_LINE + 1


@pytest.mark.parametrize("value", ["9" * 400, "18446744073709551616", "-9223372036854775809"])
def test_a_row_name_of_more_than_64_bits_is_named(value):
    with pytest.raises(ValueError, match=r"id: line 1 has .*more than 64 bits"):
        live([f'{{"t": 1, "x": 1, "name": {value}}}'], id="name")


@pytest.mark.parametrize("value", ["1e400", "[]", '"heavy"', "9" * 400])
def test_a_weight_that_is_no_number_is_named(value):
    with pytest.raises(ValueError, match="line 1 has no finite value for 'w'"):
        live([f'{{"t": 1, "x": 1, "w": {value}}}'], weight="w")


@pytest.mark.parametrize("value", ['"later"', "9" * 400])
def test_windows_named_by_text_and_numbers_at_once_are_refused(value):
    lines = ['{"b": 1, "x": 1}', f'{{"b": {value}, "x": 1}}']
    with pytest.raises(ValueError, match="window_column: line 2"):
        live(lines, time=None, every=None, window_column="b")
