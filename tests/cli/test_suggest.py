"""dynmeans suggest: parameters from a table."""

import json

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.main import get_command

from dynmeans import DynamicMeans, cluster, suggest_penalties
from dynmeans.cli.__main__ import main
from dynmeans.cli.app import app_for
from dynmeans.datasets.moving_gaussians import moving_gaussians
from dynmeans.records.suggestion import SuggestionWarning
from dynmeans.runs.reading.window import Window
from dynmeans.runs.warm_up import read_warm_up

STREAM = moving_gaussians(
    12, 3, rng=np.random.default_rng(0), spread=0.02, motion=0.01, points_per_cluster=6
)


@pytest.fixture
def table(tmp_path):
    rows = np.vstack(STREAM.batches)
    step = np.repeat(np.arange(12), [len(batch) for batch in STREAM.batches])
    frame = pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "step": step, "hour": step + 0.5})
    frame.to_parquet(tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


def printed(capsys, *arguments):
    assert main(["suggest", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_it_prints_options_for_cluster_and_an_explanation(table, capsys):
    p = suggest_penalties(STREAM.batches)
    lines = printed(capsys, table, "-f", "x,y", "--window-column", "step").splitlines()
    assert lines[0] == (
        f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}"
    )
    assert lines[2].startswith(f"--new-penalty {p.new_penalty:.4g}: a point farther than")
    assert "12 windows (216 points)" in lines[-1]


def test_json_holds_the_choice_and_all_candidates(table, capsys):
    found = json.loads(printed(capsys, table, "-f", "x,y", "--window-column", "step", "--json"))
    assert found["new_penalty"] == suggest_penalties(STREAM.batches).new_penalty
    assert {"description_bits", "n_clusters_per_batch", "n_clusters_total", "penalties"} == set(
        found["candidates"][0]
    )


@pytest.mark.parametrize(
    ("size", "n_windows"), [(400, 30), (80, 50), (84, 48), (1, 60)], ids="{}".format
)
def test_small_windows_are_taken_until_they_hold_four_thousand_points(size, n_windows):
    windows = [Window(np.zeros((size, 2))) for _ in range(60)]
    assert read_warm_up(windows) == windows[:n_windows]


def test_empty_windows_are_not_counted():
    windows = [Window(np.zeros((400 * (k % 2), 2))) for k in range(80)]
    assert read_warm_up(windows) == windows[:60]


def test_standardized_features_are_chosen_on(table, capsys):
    options = ("-f", "x,y", "--window-column", "step", "--space", "standard", "--json")
    found = json.loads(printed(capsys, table, *options))
    rows = np.vstack(STREAM.batches)
    scaled = [(batch - rows.mean(axis=0)) / rows.std(axis=0) for batch in STREAM.batches]
    expected = suggest_penalties(scaled).new_penalty
    assert found["new_penalty"] == pytest.approx(expected, rel=0.42)  # other visiting orders


def test_the_picture_is_written(table, tmp_path, capsys):
    picture = tmp_path / "choice.png"
    text = printed(capsys, table, "-f", "x,y", "--window-column", "step", "--plot", picture)
    assert f"Picture: {picture}" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--window-column", "step", "--plot", "choice.gif"), "--plot must end in .png"),
        ((), "exactly one of --every"),
        (("--window-column", "nothing"), "nothing"),
    ],
)
def test_wrong_usage_is_one_line(table, capsys, options, message):
    assert main(["suggest", str(table), "-f", "x,y", *options]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.fixture
def lone_ships(tmp_path):
    """A database of ships that are seen once in every batch, at times in milliseconds."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 100, size=(10, 2))
    rows = np.vstack([places + rng.normal(0, 0.2, size=places.shape) for _ in range(6)])
    path = str(tmp_path / "ships.duckdb")
    with duckdb.connect(path) as connection:
        ships = pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "ms": np.arange(60) // 10 * 60_000})
        connection.execute("CREATE TABLE ships AS SELECT * FROM ships")
        connection.execute("CREATE TABLE other AS SELECT 1 AS x")
    return path, len(ships)


WINDOWS = (
    "-f",
    "x,y",
    "--time",
    "ms",
    "--every",
    "1min",
    "--time-unit",
    "ms",
    "--sql",
    "SELECT * FROM ships",
)


def test_it_reads_what_cluster_reads(lone_ships, capsys):
    path, n_rows = lone_ships
    assert f"6 windows ({n_rows} points)" in printed(capsys, path, *WINDOWS)


def test_a_choice_that_should_not_be_trusted_is_warned_of(lone_ships, capsys):
    assert main(["suggest", lone_ships[0], *WINDOWS]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("--new-penalty ")
    (line,) = captured.err.splitlines()
    assert line.startswith("dynmeans: warning: 60 of 60 clusters in all windows have a single")
    assert "or, if every row is one object, --method detections" in line


def test_json_holds_the_doubts(lone_ships, capsys):
    told = json.loads(printed(capsys, lone_ships[0], *WINDOWS, "--json"))
    assert [doubt.split(",")[0] for doubt in told["warnings"]] == [
        "60 of 60 clusters in all windows have a single point"
    ]


def test_both_commands_describe_their_options_alike():
    commands = {name: get_command(app_for()).commands[name] for name in ("cluster", "suggest")}
    helps = {
        name: {option.opts[0]: option.help for option in command.params if option.name != "input"}
        for name, command in commands.items()
    }
    shared = helps["cluster"].keys() & helps["suggest"].keys() - {"--json", "--help"}
    assert len(shared) == 24
    # Only `cluster` reads streams, which have defaults of their own.
    told = [{o: helps[c][o].split(" By default")[0] for o in shared} for c in helps]
    assert all(one == told[0] for one in told)


@pytest.fixture
def untraceable(tmp_path):
    """Every window lies elsewhere: there is nothing to follow."""
    rng = np.random.default_rng(0)
    places = [rng.uniform(0, 100, (8, 2)) + 5000 * rng.uniform(-1, 1, 2) for _ in range(8)]
    rows = np.vstack([np.repeat(at, 8, axis=0) + rng.normal(0, 0.3, (64, 2)) for at in places])
    frame = pd.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "step": np.repeat(np.arange(8), 64)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    return ["cluster", str(tmp_path / "table.csv"), "-f", "x,y", "--window-column", "step"]


@pytest.mark.filterwarnings("ignore:the suggested penalties may be poor")
def test_a_choice_that_follows_nothing_is_an_answer_with_a_warning(untraceable, tmp_path, capsys):
    assert main([*untraceable, "-o", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().err
    assert "clusters that last longer than one window" in told
    assert "Set the number of clusters in a window with --n-clusters" in told
    table = pd.read_csv(untraceable[1])
    with pytest.warns(SuggestionWarning, match="last longer than one window"):
        found = cluster(table, window_column="step", features=["x", "y"], random_state=0)
    model = DynamicMeans(random_state=0)
    groups = [rows[["x", "y"]].to_numpy() for _, rows in table.groupby("step")]
    with pytest.warns(SuggestionWarning):
        labels, _ = model.fit_sequence(groups)
    assert found.labels.tolist() == np.concatenate(labels).tolist()
