"""dynmeans suggest: parameters from a table."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dynmeans import suggest_penalties
from dynmeans.cli.__main__ import main
from dynmeans.cli.first_windows import first_windows
from dynmeans.datasets.moving_gaussians import moving_gaussians

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
    lines = printed(capsys, table, "-f", "x,y", "--batch", "step").splitlines()
    assert lines[0] == (
        f"--new-penalty {p.new_penalty:.6g} --max-gap {p.max_gap:.6g} --reach {p.reach:.6g}"
    )
    assert lines[2].startswith(f"new_penalty {p.new_penalty:.4g}: a point farther than")
    assert "12 batches given (216 points)" in lines[-1]


def test_json_holds_the_choice_and_all_candidates(table, capsys):
    found = json.loads(printed(capsys, table, "-f", "x,y", "--batch", "step", "--json"))
    assert found["new_penalty"] == suggest_penalties(STREAM.batches).new_penalty
    assert {"bits", "n_clusters", "n_identities", "penalties"} == set(found["candidates"][0])


def test_the_first_batches_decide(table, capsys):
    options = ("-f", "x,y", "--time", "hour", "--every", "1", "--batches", "5", "--json")
    found = json.loads(printed(capsys, table, *options))
    assert found["new_penalty"] == suggest_penalties(STREAM.batches[:5]).new_penalty


@pytest.mark.parametrize(
    ("size", "n_windows"), [(100, 30), (20, 50), (21, 48), (1, 60)], ids="{}".format
)
def test_small_windows_are_taken_until_they_hold_a_thousand_points(size, n_windows):
    windows = [SimpleNamespace(points=np.zeros((size, 2))) for _ in range(60)]
    assert first_windows(windows) == windows[:n_windows]


def test_standardised_features_are_chosen_on(table, capsys):
    options = ("-f", "x,y", "--batch", "step", "--standardise", "12", "--json")
    found = json.loads(printed(capsys, table, *options))
    rows = np.vstack(STREAM.batches)
    scaled = [(batch - rows.mean(axis=0)) / rows.std(axis=0) for batch in STREAM.batches]
    expected = suggest_penalties(scaled).new_penalty
    assert found["new_penalty"] == pytest.approx(expected, rel=0.42)  # other visiting orders


def test_the_picture_is_written(table, tmp_path, capsys):
    picture = tmp_path / "choice.png"
    text = printed(capsys, table, "-f", "x,y", "--batch", "step", "--picture", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"Picture: {picture}" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--batch", "step", "--picture", "choice.gif"), "--picture must end in .png"),
        ((), "exactly one of every"),
        (("--batch", "nothing"), "nothing"),
    ],
)
def test_wrong_usage_is_one_line(table, capsys, options, message):
    assert main(["suggest", str(table), "-f", "x,y", *options]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
