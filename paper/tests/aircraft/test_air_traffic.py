"""The simulated week: real airports, banks, quiet nights, spoilt messages."""

import numpy as np
import pytest

from paper.flights.adsb import read_trajectories
from paper.flights.air_traffic import WEEK_BEGIN, WEEK_END, air_traffic
from paper.flights.airports import airports, busiest_airport
from paper.flights.globe import distance_km


@pytest.fixture(scope="module")
def traffic():
    return air_traffic(600, rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def read(traffic, tmp_path_factory):
    messages, _ = traffic.save(tmp_path_factory.mktemp("traffic"))
    return read_trajectories(messages)


def test_same_seed_gives_the_same_week(traffic):
    again = air_traffic(600, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(again.messages.latitudes, traffic.messages.latitudes)
    np.testing.assert_array_equal(again.takeoff_times, traffic.takeoff_times)


def test_flights_take_off_in_the_papers_week(traffic):
    assert traffic.takeoff_times.min() >= WEEK_BEGIN
    assert traffic.takeoff_times.max() < WEEK_END


def test_filter_keeps_the_good_flights_and_drops_the_broken_ones(traffic, read):
    kept = set(read[0].ids)
    is_kept = np.array([i in kept for i in traffic.flight_ids])
    assert is_kept[traffic.labels >= 0].mean() >= 0.99
    assert not is_kept[traffic.labels < 0].any()


@pytest.mark.parametrize(
    "reason",
    [
        "fewer than 15 messages",
        "leaves the area",
        "silent in flight for more than 20 minutes",
        "jumps at more than 1500 knots",
    ],
)
def test_broken_flights_are_dropped_for_every_reason(read, reason):
    assert read[1].dropped_trajectories[reason] >= 3


@pytest.mark.parametrize(
    "reason",
    [
        "off the globe",
        "no position",
        "no speed",
        "same id and time as another",
        "impossible jump to and from it",
    ],
)
def test_messages_have_every_kind_of_error(read, reason):
    assert read[1].dropped_messages[reason] > 0


def test_some_messages_come_late(read):
    assert read[1].n_out_of_order > 0


def test_flights_begin_and_end_near_the_airports_of_their_flow(traffic, read):
    flights, _ = read
    table = {a.code: a for a in airports()}
    flow_of = dict(zip(traffic.flight_ids, traffic.labels.tolist(), strict=True))
    for row, name in enumerate(flights.ids[:100]):
        origin, destination = traffic.flows[flow_of[name]].split("-")
        for code, point in (
            (origin, flights.starts[row]),
            (destination, flights.starts[row + 1] - 1),
        ):
            place = table[code]
            away = distance_km(
                flights.latitudes[point], flights.longitudes[point], place.latitude, place.longitude
            )
            assert away < 120


def test_reported_velocity_is_that_of_the_positions(read):
    report = read[1]
    assert report.notes["speed"].startswith("kt (detected: 1.00")
    assert report.notes["heading"].startswith("degrees (detected; 1.")


def test_few_flights_take_off_at_night():
    found = air_traffic(2000, rng=np.random.default_rng(0), broken_share=0.0)
    hours = found.takeoff_times / 3600 % 24
    # From one in the morning on the East coast to two on the West coast; 1/6 of the day.
    assert np.mean((hours > 5) & (hours < 9)) < 0.01


def test_flights_leave_hubs_in_banks():
    found = air_traffic(4000, rng=np.random.default_rng(0), broken_share=0.0)
    from_atlanta = [i for i, flow in enumerate(found.flows) if flow.startswith("ATL-")]
    hours = (found.takeoff_times[np.isin(found.labels, from_atlanta)] / 3600 - 4) % 24
    in_bank = np.mean((hours > 10.5) & (hours < 11.5))
    between = np.mean((hours > 11.75) & (hours < 12.75))
    assert in_bank > 2 * between


def test_confidence_is_between_zero_and_one_and_zero_for_broken_flights(traffic):
    assert ((traffic.confidences >= 0) & (traffic.confidences <= 1)).all()
    assert (traffic.confidences[traffic.labels < 0] == 0).all()


def test_ways_of_one_flow_change_from_day_to_day():
    found = air_traffic(3000, rng=np.random.default_rng(0), n_flows=1, broken_share=0.0)
    messages = found.messages
    rows = np.argsort(messages.flights, kind="stable")
    begins = np.flatnonzero(np.diff(messages.flights[rows])) + 1
    # The flow goes South, so the wind moves it East or West.
    middle = np.array([np.median(part) for part in np.split(messages.longitudes[rows], begins)])
    days = (found.takeoff_times // 86400).astype(int)
    groups = [middle[days == day] for day in np.unique(days)]
    chance = np.mean([group.std() / np.sqrt(len(group)) for group in groups])
    assert np.std([group.mean() for group in groups]) > 5 * chance


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_flights": 0}, "n_flights must be an integer of at least 1, got 0"),
        ({"n_flows": 2.5}, "n_flows must be an integer"),
        ({"broken_share": -0.1}, "broken_share must be at least 0"),
        ({"seconds_between": 0}, "seconds_between must be greater than 0"),
    ],
)
def test_bad_settings_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        air_traffic(rng=np.random.default_rng(0), **settings)


def test_airports_have_known_distances():
    # 3,974 km from Los Angeles to New York by any table of distances
    table = {a.code: a for a in airports()}
    a, b = table["LAX"], table["JFK"]
    km = distance_km(a.latitude, a.longitude, b.latitude, b.longitude)
    assert float(km) == pytest.approx(3974, abs=6)


def test_place_far_from_every_airport_has_none():
    assert busiest_airport(24.5, -125.0, 200.0) is None
