"""Seams, great circles and features of the Earth, for pictures and files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans.plots.earth import earth, lines_of
from dynmeans.spaces.cyclic import Cyclic
from dynmeans.spaces.geo import Geo, earth_features
from dynmeans.spaces.globe import find_seam, great_circle, unwrap, wrap_differences
from dynmeans.spaces.named import find_space

longitudes = st.floats(-180, 180)
latitudes = st.floats(-89, 89)


@given(st.lists(longitudes, min_size=1, max_size=20), st.sampled_from([24.0, 360.0]))
def test_no_value_lies_at_the_other_side_of_a_seam_from_its_neighbors(values, period):
    values = np.array(values)
    shown = unwrap(values, find_seam(values, period), period)
    np.testing.assert_allclose(np.mod(shown - values + period / 2, period), period / 2, atol=1e-9)
    around = np.sort(np.mod(values, period))
    widest = np.diff(around, append=around[0] + period).max()
    if widest > period / 18:
        assert np.ptp(shown) <= period - widest + 1e-9


def test_values_of_one_turn_keep_their_numbers():
    for values in ([-130.0, -60.0], [5.0, 9.0], [200.0, 220.0], [-179.0, -20.0]):
        values = np.array(values)
        np.testing.assert_array_equal(unwrap(values, find_seam(values, 360.0), 360.0), values)


def test_a_full_circle_is_cut_where_maps_are():
    assert find_seam(np.arange(-180.0, 180.0), 360.0) == -180.0
    assert find_seam(np.arange(0.0, 24.0), 24.0) == 0.0


@given(longitudes, latitudes, longitudes, latitudes)
def test_a_great_circle_goes_the_shortest_way(lon, lat, to_lon, to_lat):
    places = great_circle(np.array([lon, lat]), np.array([to_lon, to_lat]))
    places_on_map = np.stack([np.mod(places[:, 0], 360.0), places[:, 1]], axis=1)
    points = Geo(longitude_first=True).to_points(places_on_map)
    chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
    straight = np.linalg.norm(points[-1] - points[0])
    arc = 2 * 6371.0088 * np.arcsin(np.clip(straight / (2 * 6371.0088), 0, 1))
    if straight < 12740:  # else every way is as short
        assert chords.sum() <= arc * (1 + 1e-6) + 1e-6
    assert np.abs(np.diff(places[:, 0])).max(initial=0) <= 180.0 + 1e-9


def test_differences_go_the_short_way_round():
    away = wrap_differences(np.array([[350.0, 350.0]]), (360.0, None))
    assert away.tolist() == [[-10.0, 350.0]]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("lat", "lon"), (1, 0)),
        (("Longitude", "LATITUDE"), (0, 1)),
        (("pickup_lng", "pickup_lat"), (0, 1)),
        (("lat", "lon", "speed"), (1, 0)),
        (("late", "long_name"), None),
        (("lat", "lon", "lon2 lat"), None),
        (("latency", "lon"), None),
    ],
)
def test_longitude_and_latitude_are_known_by_whole_words(names, found):
    zeros = [0.0] * len(names)
    assert earth_features(names, zeros, zeros) == found


def test_a_latitude_of_91_is_none():
    assert earth_features(("lat", "lon"), [0, 0], [91, 0]) is None
    assert earth_features(("lat", "lon"), [-91, 0], [0, 0]) is None
    assert earth_features(("lat", "lon"), [0, 0], [0, 361]) is None


def test_the_lines_of_the_package_are_those_of_the_earth():
    land = lines_of("land")
    assert all(np.array_equal(ring[0], ring[-1]) for ring in land)
    assert all(np.abs(ring[:, 1]).max() <= 90 for ring in land)
    # No ring jumps over the date line.
    assert max(np.abs(np.diff(ring[:, 0])).max() for ring in land if ring[:, 1].min() > -80) < 30
    assert "public domain" in earth()["origin"]
    australia = [ring for ring in land if _holds(ring, 134.0, -25.0)]
    assert len(australia) == 1
    assert not any(_holds(ring, -30.0, 0.0) for ring in land)


def _holds(ring, lon, lat):
    x, y = ring.T
    crosses = (y[:-1] > lat) != (y[1:] > lat)
    at = x[:-1] + (lat - y[:-1]) / np.where(y[1:] == y[:-1], 1, y[1:] - y[:-1]) * np.diff(x)
    return np.count_nonzero(crosses & (at > lon)) % 2 == 1


@pytest.mark.parametrize(
    ("space", "squared", "told"),
    [
        ("geo", 144.0, "12 km"),
        ("geo", 2.371e6, "1,540 km"),
        ("cyclic:24", 0.09, "0.3 h"),
        ("cyclic:17", 0.09, "distance 0.3"),
        ("cosine", 1.2, "cosine 0.4"),
        ("standard", 4.0, "2 standard deviations"),
        ("0.1*geo(0,1) + cyclic:24(2)", 4.0, "20 km or 2 h"),
    ],
)
def test_a_penalty_is_told_in_the_unit_of_the_space(space, squared, told):
    assert find_space(space).format_distance(squared) == told


def test_spaces_say_which_features_come_round_again_and_which_are_the_earth():
    mixed = find_space("geo(1,2) + cyclic:24(0)")
    assert mixed.periods(3) == (24.0, None, 360.0)
    assert mixed.lon_lat() == (2, 1)
    assert find_space("raw").periods(2) == (None, None)
    assert Cyclic(7.0).periods(2) == (7.0, 7.0)
    assert find_space("standard").lon_lat() is None
