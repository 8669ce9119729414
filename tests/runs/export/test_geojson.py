"""Tracks and hulls as GeoJSON: what RFC 7946 asks for, across the date line and about a pole."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs import Recipe, RunConfig, Window
from dynmeans.runs.export.geojson import (
    geojson_of,
    hull_geometry,
    track_geometry,
    write_geojson,
)

places = st.tuples(st.floats(-180, 180), st.floats(-85, 85)).map(np.array)


def lines_in(geometry):
    depth = {"Point": 0, "LineString": 1, "MultiLineString": 2, "Polygon": 2, "MultiPolygon": 3}
    parts = geometry["coordinates"]
    if depth[geometry["type"]] == 0:
        return [[parts]]
    for _ in range(depth[geometry["type"]] - 1):
        parts = [part for one in parts for part in (one if isinstance(one[0][0], list) else [one])]
    return [parts] if not isinstance(parts[0][0], list) else parts


def check_geometry(geometry):
    """What the standard asks of a geometry."""
    for line in lines_in(geometry):
        values = np.array(line)
        assert np.abs(values[:, 0]).max() <= 180.0
        assert np.abs(values[:, 1]).max() <= 90.0
        assert (
            np.abs(np.diff(values[:, 0])).max(initial=0) <= 180.0 or "Polygon" in geometry["type"]
        )
        if "LineString" in geometry["type"]:
            assert len(line) >= 2
        if "Polygon" in geometry["type"]:
            assert len(line) >= 4
            assert line[0] == line[-1]
            assert area(values) > 0, "an exterior ring goes counterclockwise (3.1.6)"


def area(ring):
    x, y = ring.T
    return 0.5 * np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])


@given(st.lists(places, min_size=1, max_size=8))
def test_a_track_is_valid_and_ends_where_the_cluster_is(track):
    geometry = track_geometry(track)
    check_geometry(geometry)
    lines = lines_in(geometry)
    for end, place in ((lines[0][0], track[0]), (lines[-1][-1], track[-1])):
        away = (end[0] - place[0] + 180.0) % 360.0 - 180.0
        assert abs(away) < 1e-5
        assert abs(end[1] - place[1]) < 1e-5


def test_a_track_over_the_date_line_is_cut_there():
    geometry = track_geometry([np.array([170.0, 0.0]), np.array([-170.0, 0.0])])
    first, second = geometry["coordinates"]
    assert first[-1] == [180.0, 0.0]
    assert second[0] == [-180.0, 0.0]


def test_a_cluster_that_never_moved_is_a_point():
    geometry = track_geometry([np.array([5.0, 6.0])] * 3)
    assert geometry == {"type": "Point", "coordinates": [5.0, 6.0]}


@given(places, st.floats(0.5, 10), st.integers(4, 30))
def test_a_hull_is_valid_and_holds_its_rows(center, size, n):
    random = np.random.default_rng(n)
    lat = np.clip(0.8 * center[1] + random.normal(0, size / 3, n), -89.9, 89.9)
    lon = center[0] + random.normal(0, size / 3, n) / np.cos(np.deg2rad(0.8 * center[1]))
    rows = np.stack([(lon + 180) % 360 - 180, lat], axis=1)
    geometry = hull_geometry(rows)
    if geometry is None:
        return
    check_geometry(geometry)
    polygons = geometry["coordinates"]
    rings = [polygons[0]] if geometry["type"] == "Polygon" else [part[0] for part in polygons]
    for row in _inward(rows):
        assert any(_holds(np.array(ring), row) for ring in rings), row


def _inward(rows):
    """Rows a little nearer to their middle: edges between places are straight on a map."""
    lon, lat = np.deg2rad(rows).T
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    x, y, z = (0.95 * points + 0.05 * points.mean(axis=0)).T
    return np.rad2deg([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))]).T


def _holds(ring, place):
    (x, y), (lon, lat) = ring.T, place
    crosses = (y[:-1] > lat) != (y[1:] > lat)
    with np.errstate(invalid="ignore", divide="ignore"):
        at = x[:-1] + (lat - y[:-1]) / (y[1:] - y[:-1]) * np.diff(x)
    return np.count_nonzero(crosses & (at > lon)) % 2 == 1


def test_a_hull_over_the_date_line_has_two_parts_and_one_about_a_pole_reaches_it():
    rows = np.array([[179.0, 10.0], [-179.0, 10.0], [-179.0, 12.0], [179.0, 12.0]])
    across = hull_geometry(rows)
    assert across["type"] == "MultiPolygon"
    assert len(across["coordinates"]) == 2
    polar = hull_geometry(np.array([[0.0, 80.0], [90.0, 80.0], [180.0, 80.0], [-90.0, 80.0]]))
    check_geometry(polar)
    assert max(y for line in lines_in(polar) for _, y in line) == 90.0


def test_rows_on_a_line_or_all_round_the_globe_have_no_hull():
    assert hull_geometry(np.array([[0.0, 0.0], [1.0, 0.0]])) is None
    assert hull_geometry(np.array([[0.0, 0.0], [120.0, 0.0], [-120.0, 0.0], [0.0, 80.0]])) is None


@pytest.fixture
def storm(tmp_path):
    """Two storms, of which one crosses the date line."""
    config = RunConfig(("lat", "lon"), Recipe(new_penalty=300.0**2, space="geo", random_state=0))
    around = np.array([[0.3, 0.3], [-0.3, 0.3], [0.3, -0.3], [-0.3, -0.3]])
    with Run.create(tmp_path / "run", config) as run:
        for day in range(4):
            places = np.array([[10.0, 178.6 + day], [-20.0, 20.0]])
            rows = np.concatenate([place + around for place in places])
            rows[:, 1] = (rows[:, 1] + 180.0) % 360.0 - 180.0
            run.process(Window(rows))
        crossing = run.memory.clusters.ids[np.argmax(run.memory.centers[:, 0])]
        run.name_cluster(int(crossing), "Ada")
        yield run


def test_a_run_becomes_a_collection_of_tracks_and_hulls(storm, tmp_path):
    path = write_geojson(storm, tmp_path / "storms.geojson")
    found = json.loads(path.read_text())
    assert found == json.loads(json.dumps(geojson_of(storm)))
    assert found["type"] == "FeatureCollection"
    told = [feature["properties"] for feature in found["features"]]
    kinds = sorted((one["cluster_id"], one["kind"]) for one in told)
    assert kinds == [(0, "hull"), (0, "track"), (1, "hull"), (1, "track")]
    for feature in found["features"]:
        assert feature["type"] == "Feature"
        check_geometry(feature["geometry"])
    ada = next(feature for feature in found["features"] if feature["properties"]["name"] == "Ada")
    assert ada["geometry"]["type"] == "MultiLineString"
    assert ada["properties"]["n_points"] == 16
    assert ada["properties"]["center"]["lon"] == pytest.approx(-178.4, abs=1)


def test_the_command_writes_it(storm, tmp_path):
    path = tmp_path / "storms.geojson"
    storm.close()
    assert main(["clusters", str(storm.folder), "-o", str(path)]) == 0
    assert len(json.loads(path.read_text())["features"]) == 4


def test_a_run_without_places_is_refused(tmp_path):
    config = RunConfig(("x", "y"), Recipe(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        with pytest.raises(ValueError, match="no windows yet"):
            geojson_of(run)
        run.process(Window([[0.0, 1.0]]))
        with pytest.raises(ValueError, match="needs a longitude and a latitude in degrees"):
            geojson_of(run)
