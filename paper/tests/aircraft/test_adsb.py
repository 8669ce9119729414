"""Messages to trajectories."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from flights import START, straight_rows, write_csv

from paper.flights.adsb import read_trajectories
from paper.flights.trajectory_filter import TrajectoryBounds

KEPT = straight_rows("good")  # one that is always kept, so that units can be detected


def read(tmp_path, rows, header="id,time,latitude,longitude,speed", **settings):
    return read_trajectories(write_csv(tmp_path / "m.csv", rows, header), **settings)


def test_messages_of_one_id_become_one_trajectory_in_order_of_time(tmp_path):
    rows = [*KEPT[20:], *KEPT[:20]]
    flights, report = read(tmp_path, rows)
    assert flights.ids == ["good"]
    np.testing.assert_allclose(flights.times, START + 60.0 * np.arange(40))
    assert report.n_out_of_order == 1


def test_velocity_without_a_heading_is_taken_from_neighboring_positions(tmp_path):
    flights, report = read(tmp_path, KEPT)
    np.testing.assert_allclose(flights.north, 420.0, rtol=1e-9)
    np.testing.assert_allclose(flights.east, 0.0, atol=1e-9)
    assert report.notes["heading"] == "none given: taken from the positions"


def test_velocity_with_a_heading_is_taken_from_it(tmp_path):
    # Twenty degrees off the course flown, as with a strong side wind.
    rows = [[*row, 20.0] for row in KEPT]
    flights, _ = read(tmp_path, rows, "id,time,latitude,longitude,speed,heading")
    np.testing.assert_allclose(flights.east, 420.0 * np.sin(np.radians(20.0)))


def test_message_without_a_heading_among_others_gets_the_course(tmp_path):
    rows = [[*row, None if i == 7 else 20.0] for i, row in enumerate(KEPT)]
    flights, _ = read(tmp_path, rows, "id,time,latitude,longitude,speed,heading")
    assert flights.east[7] == pytest.approx(0.0, abs=1e-9)
    assert flights.east[8] > 100


def test_aircraft_that_stands_still_for_a_message_keeps_its_direction(tmp_path):
    rows = [[*row[:2], 70.0 - row[2], *row[3:]] for row in KEPT]  # southward: 0 degrees is wrong
    for i in (10, 11, 12):
        rows[i][2] = rows[11][2]
    flights, _ = read(tmp_path, rows)
    assert flights.north[11] == pytest.approx(-420.0)


def test_trajectories_come_in_order_of_takeoff(tmp_path):
    rows = [*straight_rows("late", start=START + 900), *straight_rows("early")]
    flights, _ = read(tmp_path, rows)
    assert flights.ids == ["early", "late"]
    np.testing.assert_allclose(flights.takeoff_times, [START, START + 900])


def test_silence_on_the_ground_begins_a_new_trajectory(tmp_path):
    landed = straight_rows("good", start=START + 3 * 3600, latitude=KEPT[-1][2])
    flights, report = read(tmp_path, [*KEPT, *landed])
    assert flights.ids == ["good", "good"]
    assert report.n_trajectories == 2


def test_silence_in_flight_drops_the_trajectory(tmp_path):
    rows = straight_rows("hole", n=90)
    flights, report = read(tmp_path, [*KEPT, *rows[:30], *rows[60:]])
    assert flights.ids == ["good"]
    reason = "silent in flight for more than 20 minutes"
    assert report.dropped_trajectories[reason] == 1


def test_message_with_the_time_of_another_is_dropped_and_counted(tmp_path):
    flights, report = read(tmp_path, [*KEPT, *KEPT[3:6]])
    assert len(flights.times) == 40
    assert report.dropped_messages["same id and time as another"] == 3


@pytest.mark.parametrize("place", [0, 12, 39])
def test_single_impossible_message_is_removed_and_the_trajectory_kept(tmp_path, place):
    rows = [list(row) for row in KEPT]
    rows[place][2] += 8.0
    flights, report = read(tmp_path, rows)
    assert flights.sizes.tolist() == [39]
    assert report.dropped_messages["impossible jump to and from it"] == 1


def test_trajectory_that_jumps_for_good_is_dropped(tmp_path):
    rows = [list(row) for row in straight_rows("jumps")]
    for row in rows[20:]:
        row[2] += 8.0
    flights, report = read(tmp_path, [*KEPT, *rows])
    assert flights.ids == ["good"]
    assert report.dropped_trajectories["jumps at more than 1500 knots"] == 1


def test_messages_a_second_apart_with_coarse_positions_are_no_jump(tmp_path):
    # 1.8 km in a second would be 3600 knots; it is within the error of positions.
    rows = [list(row) for row in KEPT]
    rows.append(["good", START + 601.0, rows[10][2] + 1 / 60, -100.0, 420.0])
    flights, _ = read(tmp_path, rows)
    assert flights.sizes.tolist() == [41]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (straight_rows("x", n=1), "one message"),
        (straight_rows("x", n=14), "fewer than 15 messages"),
        (straight_rows("x", latitude=48.0), "leaves the area"),
        (straight_rows("x", n=450, knots=100.0, latitude=26.0), "longer than 7 hours"),
        (straight_rows("x", seconds=10.0, n=20), "shorter than 5 minutes"),
        (straight_rows("x", knots=3.0), "moves less than 20 km"),
    ],
)
def test_trajectory_is_dropped_and_counted_by_its_reason(tmp_path, rows, reason):
    flights, report = read(tmp_path, [*KEPT, *rows])
    assert flights.ids == ["good"]
    counts = {k: n for k, n in report.dropped_trajectories.items() if n}
    assert counts == {reason: 1}


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        (0, None, "no id"),
        (1, "noon", "no time"),
        (2, None, "no position"),
        (2, 93.5, "off the globe"),
        (3, -191.0, "off the globe"),
        (4, "fast", "no speed"),
        (4, -5, "no speed"),
    ],
)
def test_unbelievable_message_is_dropped_and_counted_by_its_reason(tmp_path, column, value, reason):
    rows = [list(row) for row in KEPT]
    rows[5][column] = value
    flights, report = read(tmp_path, rows)
    assert flights.sizes.tolist() == [39]
    assert {k: n for k, n in report.dropped_messages.items() if n} == {reason: 1}


def test_area_without_any_flight_gives_an_empty_result_that_says_why(tmp_path):
    rows = [[*row[:2], row[2] - 60.0, *row[3:]] for row in KEPT]
    flights, report = read(tmp_path, rows)
    assert len(flights) == 0
    assert "  1 trajectories dropped: leaves the area" in report.lines()


def test_file_without_messages_gives_an_empty_result(tmp_path):
    flights, report = read(tmp_path, [])
    assert (len(flights), report.n_messages) == (0, 0)


def test_reading_in_parts_gives_the_same_trajectories(tmp_path):
    rows = [row for i in range(9) for row in straight_rows(f"N{i}", start=START + 60 * i)]
    whole, _ = read(tmp_path, rows)
    parts, report = read(tmp_path, rows, messages_a_part=100)
    assert parts.ids == whole.ids
    np.testing.assert_array_equal(parts.times, whole.times)
    assert report.n_kept == 9


def test_nothing_is_said_of_units_where_no_message_is_left(tmp_path):
    rows = [[*row[:2], row[2] + 100.0, *row[3:]] for row in KEPT]
    flights, report = read(tmp_path, rows)
    assert len(flights) == 0
    assert set(report.notes) == {"columns"}
    assert "  40 messages dropped: off the globe" in report.lines()


def test_thinning_keeps_one_message_in_each_stretch_and_the_last(tmp_path):
    flights, _ = read(tmp_path, KEPT, bounds=TrajectoryBounds(thin=300.0))
    np.testing.assert_allclose(np.diff(flights.times), [*[300.0] * 7, 240.0])


@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_dates_and_other_column_names_are_read_from_parquet(tmp_path, zone):
    ids, times, latitudes, longitudes, speeds = zip(*KEPT, strict=True)
    table = pa.table(
        {
            "hexcode": ids,
            "seen": pa.array([int(t * 1e6) for t in times], type=pa.timestamp("us", zone)),
            "LAT": latitudes,
            "LON": longitudes,
            "speed": speeds,
        }
    )
    pq.write_table(table, tmp_path / "m.parquet")
    columns = {"id": "hexcode", "time": "seen"}
    flights, report = read_trajectories(tmp_path / "m.parquet", columns=columns)
    np.testing.assert_allclose(flights.times, times)
    assert "latitude = LAT" in report.notes["columns"]


def test_dates_in_text_are_read_as_utc(tmp_path):
    rows = [[i, f"2019-12-01T11:{t:02d}:20Z", *rest] for t, (i, _, *rest) in enumerate(KEPT)]
    rows[4][1] = "noon"
    flights, report = read(tmp_path, rows)
    assert flights.takeoff_times[0] == 1_575_198_020.0  # date -u -d 2019-12-01T11:00:20Z +%s
    assert report.dropped_messages["no time"] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"columns": {"id": "tail"}}, "has no column 'tail' for the id; it has id, time"),
        ({"columns": {"altitude": "alt"}}, "columns may name id, .*; got altitude"),
    ],
)
def test_wrong_column_is_refused_by_name(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, KEPT, **settings)


def test_missing_column_is_named(tmp_path):
    rows = [row[:4] for row in KEPT]
    with pytest.raises(ValueError, match="no column for the speed; it has id, time"):
        read(tmp_path, rows, "id,time,latitude,longitude")


def test_missing_file_and_unknown_ending_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_trajectories(tmp_path / "no.csv")
    (tmp_path / "m.xls").write_text("")
    with pytest.raises(ValueError, match=r"must end in \.parquet"):
        read_trajectories(tmp_path / "m.xls")


def test_file_that_is_not_what_its_name_says_is_an_error_with_its_name(tmp_path):
    (tmp_path / "m.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"m\.parquet cannot be read"):
        read_trajectories(tmp_path / "m.parquet")
