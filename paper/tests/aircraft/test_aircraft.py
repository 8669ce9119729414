"""The aircraft experiment in small: from messages to table and figures."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import pdist

from paper.aircraft import data as aircraft_data
from paper.aircraft import settings as settings_module
from paper.aircraft.config import ORIGINS, AircraftConfig
from paper.aircraft.data import prepare_data
from paper.aircraft.experiment import EXPERIMENT, run_aircraft, write_figures
from paper.aircraft.run import flight_places
from paper.aircraft.settings import _leading_components, settings_for
from paper.aircraft.trial import table_tasks
from paper.flights.air_traffic import air_traffic
from paper.results_file import read_results

CONFIG = AircraftConfig(
    n_flights=400,
    n_labeled=150,
    windows=(2.0,),
    features=("scaled",),
    max_points=20,
    n_components=10,
    n_trials=2,
    gibbs_trials=1,
    tuning_trials=8,
)


@pytest.fixture(scope="module")
def data():
    return prepare_data(CONFIG)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("aircraft")
    run_aircraft(CONFIG, folder)
    return folder


@pytest.fixture(scope="module")
def settings(data):
    return {
        origin: settings_for(CONFIG, data, "whole", "scaled", 2.0, origin) for origin in ORIGINS
    }


def rows_of(folder):
    return read_results(folder / "aircraft-simulated.parquet", EXPERIMENT).frame


def test_every_method_has_its_trials(folder):
    counts = rows_of(folder).groupby(["origin", "method", "choice"]).size().to_dict()
    for origin in ("recipe", "suggested", "tuned"):
        assert counts[origin, "dynamic_means", "honest"] == 2
        assert counts[origin, "dp_means", "honest"] == 2
        assert counts[origin, "gibbs", "honest"] == 1
        assert counts[origin, "gibbs", "handicap"] == 1


def test_recipe_finds_the_simulated_flows_better_than_chance(folder):
    rows = rows_of(folder).query("origin == 'recipe' and method == 'dynamic_means'")
    assert rows["accuracy"].mean() > 0.4
    assert (rows["n_scored"] == 150).all()


def test_handicap_helps_the_sampler(folder):
    rows = rows_of(folder).query("method == 'gibbs'").groupby("choice")["accuracy"].mean()
    assert rows["handicap"] > rows["honest"]


def test_second_run_adds_only_the_trials_that_are_missing(folder, tmp_path):
    before = rows_of(folder)
    run_aircraft(replace(CONFIG, n_trials=3), folder)
    after = rows_of(folder)
    new = after[len(before) :]
    assert set(new["trial"]) == {2}
    assert set(new["method"]) == {"dynamic_means", "dp_means"}
    assert (after["accuracy"][: len(before)] == before["accuracy"]).all()


def test_another_window_is_added_to_the_same_file(folder):
    before = rows_of(folder)
    run_aircraft(replace(CONFIG, windows=(6.0,), origins=("recipe",), n_trials=1), folder)
    new = rows_of(folder)[len(before) :]
    assert set(zip(new["hours"], new["method"], strict=True)) == {
        (6.0, "dynamic_means"),
        (6.0, "gibbs"),
    }


def test_rows_of_other_parameters_are_not_continued(folder, tmp_path):
    shutil.copy(folder / "aircraft-simulated.parquet", tmp_path)
    settings = json.loads((folder / "aircraft-simulated.settings.json").read_text())
    for _, of_method in settings["settings"]:
        of_method["dynamic_means"]["new_penalty"] *= 2
    (tmp_path / "aircraft-simulated.settings.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=r"trials of dynamic_means, .*, with new_penalty"):
        run_aircraft(CONFIG, tmp_path)


def test_features_that_are_not_finite_are_counted_and_named(monkeypatch):
    def spoilt(trajectories, *_, **__):
        features = np.zeros((len(trajectories), 400))
        features[1, 7] = np.nan
        return features

    monkeypatch.setattr(aircraft_data, "gp_features", spoilt)
    with pytest.raises(ValueError, match="1 trajectories have features that are not finite, the"):
        prepare_data(CONFIG)


def test_figures_and_table_are_written_from_the_files(folder):
    files, summary = write_figures(folder, CONFIG)
    assert {file.suffix for file in files} == {".png", ".svg", ".md", ".html"}
    assert "| recipe | 2 h | Dynamic Means |" in summary
    assert "recipe, 2 h windows: Dynamic Means is" in summary


def test_every_cluster_has_a_name_of_its_own(folder):
    kept = json.loads((folder / "aircraft-simulated.flows.json").read_text())
    names = list(kept["names"].values())
    assert len(set(names)) == len(names) == kept["n_clusters"]
    assert len(kept["flows"]) == 12


def test_page_draws_flights_where_they_were_after_a_third_of_their_way(data):
    flights = data.trajectories.select([0])
    (place,) = flight_places(flights)
    np.testing.assert_allclose(place[2:4], [flights.longitudes[0], flights.latitudes[0]])
    np.testing.assert_allclose(place[4:], [flights.longitudes[-1], flights.latitudes[-1]])
    flown = np.linalg.norm(place[:2] - place[2:4])
    assert flown / np.linalg.norm(place[4:] - place[2:4]) == pytest.approx(1 / 3, abs=0.05)


def test_page_has_the_map_and_the_names(folder):
    write_figures(folder, CONFIG)
    page = (folder / "aircraft-simulated.html").read_text()
    (text,) = re.findall(r'id="report-data">(.*?)</script>', page, re.DOTALL)
    header = json.loads(text)
    assert [axis["name"] for axis in header["axes"]][header["initial_axes"][0]] == "longitude"
    assert header["backdrop"]["axes"] == header["initial_axes"]
    assert " → " in header["cluster_names"]["0"]


def test_report_on_the_messages_is_kept(folder):
    text = (folder / "aircraft-simulated.messages.txt").read_text()
    assert "trajectories dropped: leaves the area" in text
    assert "scaled: length scale 2.5 degrees, noise ratio 1" in text


def test_labels_for_tuning_are_never_scored(data):
    assert not ((data.scored >= 0) & (data.tuning >= 0)).any()
    assert np.count_nonzero(data.scored >= 0) == 150
    assert np.count_nonzero(data.tuning >= 0) == round(150 * 0.2 / 0.8)


def test_recipe_and_suggestion_do_not_depend_on_labels(data, settings):
    blind = replace(
        data, scored=np.full_like(data.scored, -1), tuning=np.full_like(data.tuning, -1)
    )
    for origin in ("recipe", "suggested"):
        assert settings_for(CONFIG, blind, "whole", "scaled", 2.0, origin) == settings[origin]
    assert settings_for(CONFIG, blind, "whole", "scaled", 2.0, "tuned") is None


def test_no_course_is_looked_for(data, monkeypatch):
    """A setting has no motion: one that was found for clusters on a course would mean another."""
    motions = []
    for name in ("tune", "suggest"):
        original = getattr(settings_module, name)

        def spy(*arguments, original=original, motion=None, **options):
            motions.append(motion)
            return original(*arguments, motion=motion, **options)

        monkeypatch.setattr(settings_module, name, spy)
    for origin in ("suggested", "tuned"):
        settings_for(CONFIG, data, "whole", "scaled", 2.0, origin)
    assert motions == ["random_walk"] * 3


def test_tuned_settings_do_not_depend_on_the_scored_labels(data, settings):
    other = replace(data, scored=np.full_like(data.scored, -1))
    assert settings_for(CONFIG, other, "whole", "scaled", 2.0, "tuned") == settings["tuned"]


def test_suggestion_is_the_same_in_time_for_windows_of_any_length(data, settings):
    long = settings["suggested"]["dynamic_means"]
    short = settings_for(CONFIG, data, "whole", "scaled", 0.5, "suggested")["dynamic_means"]
    assert short["new_penalty"] == long["new_penalty"]
    assert short["max_gap"] == pytest.approx(4 * long["max_gap"])
    assert short["reach"] - 1 == pytest.approx((long["reach"] - 1) / 4)


def test_suggestion_sees_the_first_half_of_a_short_stream_only(data, settings):
    days = data.windows("whole", 24.0)
    later = np.concatenate(days[len(days) // 2 :])
    features = data.features["scaled"].copy()
    features[later] = 7.0
    other = replace(data, features={"scaled": features})
    assert settings_for(CONFIG, other, "whole", "scaled", 2.0, "suggested") == settings["suggested"]


def test_leading_components_keep_distances_where_little_is_left_out():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 8))
    kept = _leading_components(points, np.arange(20), 3)
    np.testing.assert_allclose(pdist(kept), pdist(points), rtol=1e-9)


def test_components_are_fitted_on_the_first_flights_alone(data):
    early = data.takeoffs < data.begin + 0.25 * (data.takeoffs[-1] - data.begin)
    np.testing.assert_allclose(data.features["scaled"][early].mean(axis=0), 0, atol=1e-9)
    assert np.abs(data.features["scaled"].mean(axis=0)).max() > 1e-3


def test_windows_hold_every_flight_once_and_may_be_empty(data):
    windows = data.windows("whole", 2.0)
    np.testing.assert_array_equal(np.concatenate(windows), np.arange(len(data.takeoffs)))
    assert any(len(rows) == 0 for rows in windows)
    for number, rows in enumerate(windows):
        hours = (data.takeoffs[rows] - data.begin) / 3600
        assert ((hours >= 2 * number) & (hours < 2 * number + 2)).all()


def test_dp_means_is_listed_once_for_all_windows(data):
    config = replace(CONFIG, windows=(1.0, 2.0), origins=("recipe",))
    settings = {
        ("whole", "scaled", h, "recipe"): settings_for(config, data, "whole", "scaled", h, "recipe")
        for h in config.windows
    }
    tasks = table_tasks(config, data, settings)
    assert [t["hours"] for t in tasks if t["method"] == "dp_means"] == [0.0, 0.0]
    assert len([t for t in tasks if t["method"] == "dynamic_means"]) == 4


@pytest.fixture
def files(tmp_path):
    traffic = air_traffic(120, rng=np.random.default_rng(0))
    return traffic.save(tmp_path)


def test_messages_without_labels_give_flows_but_no_table(files, tmp_path):
    config = replace(CONFIG, messages=str(files[0]), origins=("recipe",))
    run_aircraft(config, tmp_path / "out")
    written, summary = write_figures(tmp_path / "out", config)
    assert "No labels" in summary
    assert any(file.name == "aircraft-real-map.png" for file in written)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": "route"}, "has no column 'route'; it has flight, flow"),
        ({"units": {"speed": "mph"}}, "speeds are said to be in mph.*they look like kt"),
        ({"units": {"time": "ms"}}, "times are said to be in ms.*a date only in s"),
        ({"units": {"heading": "radians"}}, "headings do not fit the positions"),
        ({"area": (-60.0, -50.0, 0.0, 10.0)}, "no trajectory is left to cluster.*leaves the area"),
    ],
)
def test_data_that_cannot_be_used_are_refused_with_the_reason(files, changes, message):
    config = replace(CONFIG, messages=str(files[0]), flights=str(files[1]), **changes)
    with pytest.raises(ValueError, match=message):
        prepare_data(config)


def test_confidence_above_one_is_refused(files, tmp_path):
    table = pq.read_table(files[1])
    wrong = table.set_column(2, "confidence", pa.array([2.0] * len(table)))
    pq.write_table(wrong, files[1])
    config = replace(CONFIG, messages=str(files[0]), flights=str(files[1]), confidence="confidence")
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1, got 2"):
        prepare_data(config)


def test_labels_of_other_flights_are_refused(files, tmp_path):
    other = pa.table({"flight": ["nobody"], "flow": ["A-B"]})
    pq.write_table(other, tmp_path / "other.parquet")
    config = replace(CONFIG, messages=str(files[0]), flights=str(tmp_path / "other.parquet"))
    with pytest.raises(ValueError, match="has no label for any trajectory that was kept"):
        prepare_data(config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": ("fancy",)}, "features must be of plain, scaled"),
        ({"origins": ()}, "origins must be of recipe"),
        ({"windows": (0.0,)}, "windows must be hours above 0"),
        ({"tuning_share": 1.0}, "tuning_share must lie between 0 and 1"),
        ({"n_trials": 0}, "n_trials must be at least 1"),
        ({"flights": "x.csv"}, "flights need messages"),
    ],
)
def test_bad_configuration_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(CONFIG, **changes)


def test_gaussian_processes_may_be_trained_for_each_trajectory():
    config = replace(CONFIG, n_flights=60, n_labeled=20, features=("plain", "scaled"))
    shared, own = (prepare_data(replace(config, is_gp_own=is_own)) for is_own in (False, True))
    assert own.notes["plain"].startswith("of each trajectory, in the median: length scale")
    assert not np.allclose(own.features["plain"], shared.features["plain"])
    np.testing.assert_array_equal(own.features["scaled"], shared.features["scaled"])


def test_figure_2_is_drawn_in_the_papers_form_too(tmp_path):
    config = replace(
        CONFIG, n_flights=60, n_labeled=20, features=("plain",), origins=("recipe",), n_trials=1
    )
    run_aircraft(config, tmp_path)
    names = {file.name for file in write_figures(tmp_path, config)[0] if file.suffix == ".png"}
    kinds = ("map", "counts", "paper-map", "paper-counts")
    assert names == {f"aircraft-simulated-{kind}.png" for kind in kinds}
