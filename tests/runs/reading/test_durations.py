"""Lengths of windows: aligned with clock and calendar, whatever the zone does."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dynmeans.runs.reading.durations import (
    microseconds_of,
    parse_lateness,
    parse_length,
    parse_zone,
)

ZURICH = ZoneInfo("Europe/Zurich")
HOUR = 3_600_000_000


def at(zone, *parts):
    return microseconds_of(datetime(*parts), zone)


@pytest.mark.parametrize(
    ("text", "zone", "moment", "label"),
    [
        ("30min", "UTC", (2024, 3, 1, 12, 44), "2024-03-01T12:30:00+00:00"),
        ("1h", "Asia/Kathmandu", (2024, 3, 1, 12, 44), "2024-03-01T12:00:00+05:45"),
        ("6h", "Europe/Zurich", (2024, 1, 5, 13, 0), "2024-01-05T12:00:00+01:00"),
        ("1.5h", "UTC", (2000, 1, 1, 2, 0), "2000-01-01T01:30:00+00:00"),
        ("250 ms", "UTC", (2024, 3, 1, 0, 0, 0, 600_000), "2024-03-01T00:00:00.500000+00:00"),
        ("1d", "Europe/Zurich", (2024, 3, 1, 0, 10), "2024-03-01"),
        ("1w", "UTC", (2024, 3, 3, 23, 0), "2024-02-26"),  # a Sunday; weeks begin on Monday
        ("1mo", "UTC", (2024, 2, 29, 23, 0), "2024-02-01"),
        ("3 months", "UTC", (1999, 12, 31), "1999-10-01"),
        ("1 year", "America/New_York", (2024, 12, 31, 23, 30), "2024-01-01"),
    ],
)
def test_windows_begin_where_clock_and_calendar_do(text, zone, moment, label):
    zone = ZoneInfo(zone)
    length = parse_length(text, zone)
    assert length.name_of(length.index_of(at(zone, *moment))) == label


@pytest.mark.parametrize(("day", "hours"), [(30, 24), (31, 23)])
def test_a_day_is_as_long_as_the_zone_makes_it(day, hours):
    length = parse_length("1d", ZURICH)
    index = length.index_of(at(ZURICH, 2024, 3, day, 12))
    assert length.start_of(index + 1) - length.start_of(index) == hours * HOUR


def test_the_hour_that_comes_twice_is_two_windows_of_an_hour():
    length = parse_length("1h", ZURICH)
    first = datetime(2024, 10, 27, 2, 30, tzinfo=ZURICH, fold=0)
    second = datetime(2024, 10, 27, 2, 30, tzinfo=ZURICH, fold=1)
    indices = [length.index_of(microseconds_of(m.astimezone(UTC), ZURICH)) for m in (first, second)]
    assert indices[1] - indices[0] == 1


@pytest.mark.parametrize("text", ["7us", "90s", "7h", "1d", "5d", "2w", "1mo", "5mo", "1y"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "America/Sao_Paulo", "Asia/Kolkata"])
@settings(max_examples=25)
@given(seconds=st.integers(-2_000_000_000, 4_000_000_000))
def test_every_moment_lies_in_its_window(text, zone, seconds):
    length, moment = parse_length(text, ZoneInfo(zone)), seconds * 1_000_000 + 17
    index = length.index_of(moment)
    assert length.start_of(index) <= moment < length.start_of(index + 1)


@given(
    width=st.floats(1e-6, 1e6),
    time=st.floats(-1e9, 1e9, allow_nan=False),
)
@example(width=0.7, time=63467.59999999999)  # time / width is rounded up,
@example(width=0.7, time=22453.199999999997)  # and down
def test_every_number_lies_in_its_window(width, time):
    length = parse_length(repr(width), ZURICH, is_number=True)
    index = length.index_of(time)
    assert length.start_of(index) <= time < length.start_of(index + 1)


@pytest.mark.parametrize("text", ["", "5", "min", "-5min", "0min", "5 parsecs", "1.5d", "0.3us"])
def test_what_is_no_length_is_refused(text):
    with pytest.raises(ValueError, match=r"every must be a .*got"):
        parse_length(text, ZURICH)


@pytest.mark.parametrize("text", ["30min", "0", "-1", "nan", "inf"])
def test_numbers_need_a_positive_number(text):
    with pytest.raises(ValueError, match="every must be"):
        parse_length(text, ZURICH, is_number=True)


@pytest.mark.parametrize(
    ("text", "is_number", "expected"),
    [("0", False, 0), ("5s", False, 5_000_000), ("1d", False, 24 * HOUR), ("2.5", True, 2.5)],
)
def test_lateness_is_clock_time_or_a_number(text, is_number, expected):
    assert parse_lateness(text, is_number=is_number) == expected


@pytest.mark.parametrize(("text", "is_number"), [("5", False), ("5s", True), ("1mo", False)])
def test_lateness_of_the_wrong_kind_is_refused(text, is_number):
    with pytest.raises(ValueError, match="allowed_lateness must be"):
        parse_lateness(text, is_number=is_number)


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "../etc/passwd"])
def test_an_unknown_zone_is_refused(name):
    with pytest.raises(ValueError, match="timezone must be a name"):
        parse_zone(name)
