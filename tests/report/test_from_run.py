"""The report of a run folder."""

import json
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dynmeans
from dynmeans import Penalties
from dynmeans.cli.app import app_for
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.batch_times import read_times
from dynmeans.report.arguments import format_parameters
from dynmeans.report.descriptions import descriptions
from dynmeans.report.from_run import run_report, title_of_columns
from dynmeans.runs.analysis.profiles import describe_clusters
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.run import Run


@pytest.fixture
def run(tmp_path):
    """Two places in three named windows, the second of them empty; a row weighs 2."""
    config = RunConfig(
        ("east", "north"),
        ModelConfig(Penalties(1.0, max_gap=5, reach=1.5), random_state=0),
        sample_size=3,
        source={"input": "/secret/place/ships.csv", "every": "1d", "truth": "ship", "sql": None},
    )
    two = [[0.0, 0.0], [9.0, 9.0], [0.1, 0.0], [9.1, 9.0]]
    batches = [
        Window(two, weights=np.full(4, 2.0), truth=np.array([5, 6, 5, 6]), name="2026-03-01"),
        Window(np.empty((0, 2)), truth=np.empty(0, dtype=int), name="2026-03-02"),
        Window(two[:2], truth=np.array([5, 6]), name="2026-03-03"),
    ]
    with Run.create(tmp_path / "run", config) as made:
        made.process(batches)
        yield made


def test_the_report_says_what_the_run_found(run):
    data = run_report(run)
    assert data.batches.n_seen.tolist() == [2, 0, 2]
    assert data.batches.n_points.tolist() == [4, 0, 2]
    assert data.points.sizes.tolist() == [3, 0, 2]
    assert [axis.name for axis in data.axes] == ["east", "north"]
    assert data.batches.is_dated
    assert np.diff(data.batches.times).tolist() == [86400.0, 86400.0]


def test_windows_and_their_samples_are_read_once(run, monkeypatch):
    expected = descriptions(describe_clusters(run))
    reads = []
    for name in ("history", "samples"):
        read = getattr(Run, name)

        def counted(self, *args, _name=name, _read=read, **options):
            reads.append(_name)
            return _read(self, *args, **options)

        monkeypatch.setattr(Run, name, counted)
    assert run_report(run).descriptions == {k: tuple(told) for k, told in expected.items()}
    assert sorted(reads) == ["history", "samples"]


def test_windows_that_the_page_has_no_room_for_are_counted(run, tmp_path, monkeypatch):
    monkeypatch.setattr("dynmeans.report.build.MAX_BATCHES", 1)
    asked = ["report", str(run.folder), "-o", str(tmp_path / "page.html"), "--json"]
    result = CliRunner().invoke(app_for(["report"]), asked, catch_exceptions=False)
    found = json.loads(result.stdout)
    assert "Of 3 batches the last 1 are shown." in found["notes"]
    assert (found["n_batches"], found["n_points"]) == (3, 6)  # rows, whatever they weigh


def test_the_command_that_is_copied_clusters_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"2026-03-01 00:{k // 4:02}:00,{k % 2 * 9 + k / 100},{k % 2}" for k in range(40)]
    (tmp_path / "two places.csv").write_text("when,east,north\n" + "\n".join(rows) + "\n")
    given = ["two places.csv", "--time", "when", "--every", "2min", "--features", "east,north"]
    penalties = ["--new-penalty", "4", "--max-gap", "3", "--reach", "1.5"]
    assert _cluster(*given, *penalties, "--output", "run") == 0
    with Run.open(tmp_path / "run") as made:
        command = run_report(made).trial.command
        labels = made.labels()
    words = shlex.split(command)
    assert words[:2] == ["dynmeans", "cluster"]
    assert _cluster(*words[2:], *penalties, "--output", "again") == 0
    with Run.open(tmp_path / "again") as again:
        assert again.labels().equals(labels)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A file of three places, two of them near each other, in the working folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = ["when;east;north"]
    for minute in range(20):
        for place in ((0.0, 0.0), (2.0, 0.0), (30.0, 30.0)):
            for x, y in rng.normal(place, 0.3, (6, 2)).tolist():
                lines.append(f"{minute // 60:02}:{minute % 60:02} 01.03.2026;{x:.3f};{y:.3f}")
    (tmp_path / "three places.csv").write_text("\n".join(lines) + "\n")
    options = {"min_batches": 2, "n_clusters": (2, 9), "time_format": ["%H:%M %d.%m.%Y"]}
    return dynmeans.cluster(
        "three places.csv", features=["east", "north"], time="when", every="4min",
        run_folder="a run", level="default", **options,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
def test_the_calls_that_are_copied_repeat_the_run(places):
    with Run.open("a run") as made:
        calls, labels = run_report(made).calls, made.labels()
    again = eval(calls["run"]["python"], {"dynmeans": dynmeans})
    assert again.open_run().labels().equals(labels)
    words = shlex.split(calls["run"]["command"])
    assert words[:2] == ["dynmeans", "cluster"]
    assert words[-2:] == ["-o", "a run"]
    assert calls["folder"] == "'a run'"
    assert _cluster(*words[2:-1], "again") == 0
    with Run.open("again") as made:
        assert made.labels().equals(labels)
    assert "n_clusters=(2.0, 9.0)" in calls["run"]["python"]


@pytest.mark.filterwarnings("ignore::dynmeans.records.suggestion.SuggestionWarning")
def test_the_calls_for_detections_take_every_row_for_an_object(places):
    with Run.open("a run") as made:
        calls = run_report(made).calls["detections"]
    found = eval(calls["python"], {"dynmeans": dynmeans})
    assert found.open_run().config.model_config.method == "detections"
    assert found.open_run().config.model_config.min_batches == 2
    assert _cluster(*shlex.split(calls["command"])[2:]) == 0
    with Run.open("a run-detections") as made:
        assert made.labels().equals(found.open_run().labels())


def _cluster(*words):
    return CliRunner().invoke(app_for(["cluster"]), ["cluster", *words]).exit_code


def test_the_call_for_hdbscan_uses_that_method(places):
    with Run.open("a run") as made:
        calls = run_report(made).calls["hdbscan"]
    assert calls["python"].endswith("method='hdbscan')")
    assert "new_penalty" not in calls["python"]
    assert "--method hdbscan" in calls["command"]


def test_numbers_among_the_parameters_have_four_digits(run):
    given = {"new_penalty": 5.04087651516e-05, "drift": 0.0474074074074, "seed": 12345.0}
    assert [value for _, value in format_parameters(given)] == ["5.041e-05", "0.04741", "12345"]


def test_a_page_without_another_name_is_named_after_its_columns(run, tmp_path):
    assert title_of_columns(run) == "Clusters of east, north"
    config = RunConfig(tuple("abcdefgh"), ModelConfig(Penalties(1.0, max_gap=5, reach=1.5)))
    with Run.create(tmp_path / "wide", config) as wide:
        assert title_of_columns(wide) == "Clusters of a, b, c, d and 4 more"


def test_the_first_line_of_a_warning_names_no_arguments_to_use():
    text = ArgumentText("2 new clusters appeared. {suggested_matches} lists them; {max_gap=9} ...")
    assert text.without_advice == "2 new clusters appeared."
    assert ArgumentText("Try {families=True}.").without_advice == ""
    assert ArgumentText("One {new_penalty} is one width.").without_advice.startswith("One new_")


def test_the_explanation_of_detections_is_about_points_and_remembered_clusters():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"x": rng.uniform(0, 99, 60), "y": rng.uniform(0, 99, 60)})
    rows["n"] = np.repeat(np.arange(6), 10)
    found = dynmeans.cluster(rows, features=["x", "y"], window_column="n", method="detections")
    assert "a point farther than" in found.summary()
    assert "from every remembered cluster starts a new one" in found.summary()


def test_the_stored_truth_is_scored(run):
    scores = {score.name: score.value for score in run_report(run).scores}
    assert scores["accuracy_global"] == 1.0


def test_of_the_input_only_its_name_is_told(run):
    data = run_report(run)
    parameters = dict(data.parameters)
    assert parameters["input"] == "ships.csv"
    assert data.title == "Clusters of ships.csv"
    assert "sql" not in parameters
    assert parameters["every"] == "1d"
    assert parameters["new_penalty"] == "1"


def test_the_rule_of_the_sample_is_told(run):
    first, second = run_report(run).notes
    assert first.startswith("The run keeps up to 3 rows of each batch")
    assert second.startswith("Of 6 points 5 are drawn: at most 3 of each batch.")


def test_a_run_without_windows_is_refused(tmp_path):
    config = RunConfig(("x",))
    with (
        Run.create(tmp_path / "run", config) as run,
        pytest.raises(ValueError, match="has no windows yet"),
    ):
        run_report(run)


def test_a_batch_committed_while_reading_is_left_for_the_next_report(run, monkeypatch):
    samples = list(run.samples())[:2]
    monkeypatch.setattr(run, "samples", lambda: iter(samples))
    assert len(run_report(run).batches.steps) == 2


@pytest.mark.parametrize(
    "labels",
    [
        ["2026-03-02", "2026-03-01"],  # not in order
        ["2026-03-01", "2026-03-01"],  # of one second
        ["2026-03-01T00:00:00+01:00", "2026-03-02"],  # with and without a zone
        ["7", "seven"],
    ],
)
def test_labels_that_are_no_rising_times_are_names(labels):
    assert read_times(labels) == labels


def test_windows_without_a_name_have_the_times_of_the_history():
    assert read_times(["a", None]) is None


def test_clusters_are_described_by_what_sets_them_apart(run):
    told = run_report(run).descriptions
    assert set(told) == {0, 1}
    (near,) = [texts for texts in told.values() if any("below the others" in t for t in texts)]
    assert near[0].startswith(("east 0", "north 0"))


def test_descriptions_keep_to_their_room_the_largest_clusters_first(run):
    profiles = describe_clusters(run)
    largest = int(profiles.ids[np.argmax(profiles.lifetimes.n_points)])
    whole = descriptions(profiles)
    room = 16 + sum(len(text) + 4 for text in whole[largest])
    assert list(descriptions(profiles, room)) == [largest]
