"""Tracks as GeoJSON: what RFC 7946 asks for, across the date line."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.runs import ModelConfig, RunConfig, Window
from dynmeans.runs.export.geojson import (
    geojson_of,
    track_geometry,
    write_geojson,
)

places = st.tuples(st.floats(-180, 180), st.floats(-85, 85)).map(np.array)


def lines_in(geometry):
    parts = geometry["coordinates"]
    return {"Point": [[parts]], "LineString": [parts], "MultiLineString": parts}[geometry["type"]]


def check_geometry(geometry):
    """What the standard asks of a geometry."""
    for line in lines_in(geometry):
        values = np.array(line)
        assert np.abs(values[:, 0]).max() <= 180.0
        assert np.abs(values[:, 1]).max() <= 90.0
        assert np.abs(np.diff(values[:, 0])).max(initial=0) <= 180.0
        if "LineString" in geometry["type"]:
            assert len(line) >= 2


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


@pytest.fixture
def storm(tmp_path):
    """Two storms, of which one crosses the date line."""
    config = RunConfig(
        ("lat", "lon"), ModelConfig(new_penalty=300.0**2, space="geo", random_state=0)
    )
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


def test_a_run_becomes_a_collection_of_tracks(storm, tmp_path):
    path = write_geojson(storm, tmp_path / "storms.geojson")
    found = json.loads(path.read_text())
    assert found == json.loads(json.dumps(geojson_of(storm)))
    assert found["type"] == "FeatureCollection"
    told = [feature["properties"] for feature in found["features"]]
    assert sorted(one["cluster_id"] for one in told) == [0, 1]
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
    assert len(json.loads(path.read_text())["features"]) == 2


def test_a_run_without_places_is_refused(tmp_path):
    config = RunConfig(("x", "y"), ModelConfig(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        with pytest.raises(ValueError, match="no windows yet"):
            geojson_of(run)
        run.process(Window([[0.0, 1.0]]))
        with pytest.raises(ValueError, match="needs a longitude and a latitude in degrees"):
            geojson_of(run)
