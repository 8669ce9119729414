"""Penalties in the unit of the space, a space proposed, and means that know no seam."""

import re

import numpy as np
import pandas as pd
import pytest

import dynmeans
from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.records.suggestion import SuggestionWarning
from dynmeans.runs import ModelConfig, RunConfig, Window
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.analysis.space_messages import new_cluster_distance, suggest_space


@pytest.fixture
def quakes():
    """Either side of the date line, at midnight."""
    rng = np.random.default_rng(0)
    lon = (180.0 + rng.normal(0, 0.5, 60) + 180.0) % 360.0 - 180.0
    lat, hour = rng.normal(-17.0, 0.5, 60), rng.normal(0.0, 0.5, 60) % 24.0
    return pd.DataFrame({"lat": lat, "lon": lon, "hour": hour, "day": np.repeat(range(6), 10)})


def options(**more):
    return {"window_column": "day", "features": ["lat", "lon"], "random_state": 0, **more}


def test_the_call_tells_lambda_in_kilometers_and_proposes_geo_elsewhere(quakes):
    found = dynmeans.cluster(quakes, **options(space="geo", new_penalty=500.0**2))
    assert "new clusters start beyond 500 km" in found.summary()
    assert "seem to be degrees" not in found.summary()
    plain = dynmeans.cluster(quakes, **options(new_penalty=9.0))
    assert "lat and lon seem to be degrees on the Earth: space geo" in plain.summary()
    assert plain.labels.nunique() > 1, "proposed, never taken"
    with pytest.warns(SuggestionWarning, match="one cluster"):
        chosen = dynmeans.cluster(quakes, **options(space="geo"))
    assert " km from every cluster starts a new one" in chosen.summary()


def test_the_command_does_too(quakes, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quakes.to_csv("quakes.csv", index=False)
    ask = [
        "cluster",
        "quakes.csv",
        "-f",
        "lat,lon,hour",
        "--window-column",
        "day",
        "--new-penalty",
        "9",
    ]
    assert main([*ask, "--output", "plain"]) == 0
    told = capsys.readouterr()
    assert "new clusters start beyond distance 3." in told.out
    assert "--space 'geo(lat,lon) + standard(hour)'" in told.err
    assert main([*ask, "--space", "0.01*geo(lat,lon) + cyclic:24(hour)", "--output", "mixed"]) == 0
    told = capsys.readouterr()
    assert "new clusters start beyond 300 km or 3 h." in told.out
    assert told.err == ""


def test_nothing_is_proposed_for_other_columns(tmp_path):
    config = RunConfig(("x", "y"), ModelConfig(new_penalty=1.0, random_state=0))
    with Run.create(tmp_path / "run", config) as run:
        assert suggest_space(run) is None
        assert new_cluster_distance(run) == ""
        run.process(Window([[0.0, 1.0]]))
        assert suggest_space(run) is None


def test_means_go_the_short_way_round(quakes):
    space = "geo(lat,lon) + cyclic:24(hour)"
    asked = options(space=space, features=["lat", "lon", "hour"], new_penalty=1e5)
    found = dynmeans.cluster(quakes, **asked)
    assert found.labels.nunique() == 1
    with found.open_run() as run:
        profiles = describe_clusters(run)
    lat, lon, hour = profiles.means[0]
    assert lat == pytest.approx(quakes.lat.mean(), abs=1e-5)
    assert abs(lon) == pytest.approx(180.0, abs=0.3)
    assert min(hour, 24.0 - hour) < 0.3
    assert profiles.deviations[0].max() < 1.0
    assert np.isnan(profiles.differences[0, 1:]).all()


def test_events_tell_how_far_in_the_unit_of_the_space(quakes, tmp_path, capsys):
    quakes.to_csv(tmp_path / "rows.csv", index=False)
    words = ["cluster", str(tmp_path / "rows.csv"), "--window-column", "day", "-f", "lat,lon", "-o"]
    words += [str(tmp_path / "run"), "--space", "geo", "--new-penalty", "250000", "--quiet"]
    assert main(words) == 0
    assert main(["events", str(tmp_path / "run"), "--kind", "moved"]) == 0
    assert re.search(r"moved +0, by [\d.]+ km\n", capsys.readouterr().out)
