"""Units are checked where stated, detected where not, and never guessed in silence."""

import numpy as np
import pytest
from flights import START, straight_rows, write_csv

from paper.flights.adsb import read_trajectories

ROWS = [row for i in range(3) for row in straight_rows(f"N{i}", n=40)]


def read(tmp_path, rows, header="id,time,latitude,longitude,speed", **settings):
    return read_trajectories(write_csv(tmp_path / "m.csv", rows, header), **settings)


def rows_with(*, speed=1.0, time=1.0):
    return [[i, t * time, lat, lon, v * speed] for i, t, lat, lon, v in ROWS]


@pytest.mark.parametrize(
    ("unit", "factor"), [("kt", 1.0), ("m/s", 1852 / 3600), ("km/h", 1.852), ("mph", 1.150779)]
)
def test_unit_of_speed_is_detected_and_said(tmp_path, unit, factor):
    flights, report = read(tmp_path, rows_with(speed=factor))
    np.testing.assert_allclose(flights.north, 420.0, rtol=1e-6)
    assert report.notes["speed"].startswith(f"{unit} (detected")


def test_stated_unit_of_speed_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"said to be in kt, but .* they look like m/s"):
        read(tmp_path, rows_with(speed=1852 / 3600), speed_unit="kt")


def test_speeds_in_no_known_unit_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"cannot be detected: positions move 0\.1"):
        read(tmp_path, rows_with(speed=10.0))


def test_too_few_messages_to_detect_a_unit_ask_for_it(tmp_path):
    with pytest.raises(
        ValueError, match=r"fewer than 30 pairs.*the middle pair 60.* Give speed_unit"
    ):
        read(tmp_path, straight_rows("N1", n=20))
    flights, report = read(tmp_path, straight_rows("N1", n=20), speed_unit="kt")
    assert len(flights) == 1
    assert report.notes["speed"] == "kt (stated; too few messages to check)"


@pytest.mark.parametrize(("unit", "factor"), [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_unit_of_time_is_detected_and_said(tmp_path, unit, factor):
    flights, report = read(tmp_path, rows_with(time=factor))
    assert flights.takeoff_times[0] == pytest.approx(START, abs=1e-3)
    assert report.notes["time"].startswith(f"{unit} since 1970 (detected")


def test_stated_unit_of_time_that_does_not_fit_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Give time_unit='ms'"):
        read(tmp_path, rows_with(time=1e3), time_unit="s")


def test_small_times_are_seconds_from_a_start_of_their_own(tmp_path):
    rows = [[i, t - START, *rest] for i, t, *rest in ROWS]
    flights, report = read(tmp_path, rows)
    assert flights.takeoff_times[0] == 0.0
    assert "start of its own" in report.notes["time"]


def test_small_times_in_minutes_do_not_pass_for_seconds(tmp_path):
    rows = [[i, (t - START) / 60, *rest] for i, t, *rest in straight_rows("N1", n=400, knots=40.0)]
    rows = [row for i, row in enumerate(rows) if i % 10 == 0]
    with pytest.raises(ValueError, match="said to be in kt, but positions move 60 knots"):
        read(tmp_path, rows, speed_unit="kt")


def test_headings_in_radians_are_detected(tmp_path):
    # Due East, about 1.5 radians.
    east = [-100 + (row[2] - 30) / np.cos(np.radians(30)) for row in ROWS]
    rows = [[*row[:2], 30.0, lon, row[4], 1.5] for row, lon in zip(ROWS, east, strict=True)]
    flights, report = read(tmp_path, rows, "id,time,latitude,longitude,speed,heading")
    assert report.notes["heading"].startswith("radians (detected")
    np.testing.assert_allclose(flights.east, 420 * np.sin(1.5), rtol=1e-6)


def test_headings_that_fit_no_unit_are_refused(tmp_path):
    rows = [[*row, 135.0] for row in ROWS]
    with pytest.raises(ValueError, match="headings do not fit the positions"):
        read(tmp_path, rows, "id,time,latitude,longitude,speed,heading")


def test_unknown_unit_is_refused_by_name(tmp_path):
    with pytest.raises(ValueError, match=r"speed_unit must be one of kt, .*, got 'furlongs'"):
        read(tmp_path, ROWS, speed_unit="furlongs")
