"""Families and confirmed clusters on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

from dynmeans import Run
from dynmeans.cli.__main__ import main

USUAL = ["-f", "x,y", "--window-column", "window", "--new-penalty", "0.3"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A ring that is cut to pieces, a round cluster far away, and one stray row in window 3."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frames = []
    for window in range(6):
        angles = rng.uniform(0, 2 * np.pi, 100)
        ring = np.column_stack([np.cos(angles), np.sin(angles)])
        points = np.vstack([ring, rng.normal([9, 0], 0.1, (20, 2))])
        points = np.vstack([points, [[0, 50]]]) if window == 3 else points
        what = np.repeat(["ring", "round", "stray"], [100, 20, len(points) - 120])
        columns = {"window": window, "x": points[:, 0], "y": points[:, 1], "what": what}
        frames.append(pd.DataFrame(columns))
    pd.concat(frames).to_parquet("rows.parquet", index=False)
    return "rows.parquet"


@pytest.fixture
def run(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run"]) == 0
    capsys.readouterr()
    return "run"


def test_pieces_of_a_ring_are_one_family_of_a_finished_run(run, capsys):
    assert main(["families", run]) == 0
    assert " in 2 families at level " in capsys.readouterr().out
    assert main(["families", run, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["clusters"]
    assert len({row["family_id"] for row in rows}) == 3


def test_level_below_all_joins_leaves_every_cluster_by_itself(run, capsys):
    assert main(["families", run, "--family-level", "-8", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n_families"] == len(found["clusters"]) - 1 > 3  # the stray row is an outlier


def test_cluster_finds_families_too(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run", "--families"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("6 windows, 721 rows in ")
    assert " in 2 families at level " in second


def test_json_of_cluster_has_the_families_of_the_run(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run", "--families", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["families"]["n_families"] == 2


@pytest.mark.parametrize("alone", [[], ["--labels-only"]])
def test_labels_have_the_family_of_every_row(run, alone):
    assert main(["labels", run, "-o", "out.parquet", "--families", *alone]) == 0
    out = pd.read_parquet("out.parquet")
    what = pd.read_parquet("rows.parquet")["what"]
    assert out.groupby(what)["family_id"].nunique().tolist() == [1, 1, 1]
    assert out.groupby(what)["cluster_id"].nunique()["ring"] > 1


def test_labels_without_families_have_no_such_column(run):
    assert main(["labels", run, "-o", "out.csv"]) == 0
    assert "family_id" not in pd.read_csv("out.csv")


@pytest.mark.parametrize("option", [["--min-batches", "2"], ["--min-cluster-size", "2"]])
def test_stray_row_is_unconfirmed(run, option):
    assert main(["labels", run, "-o", "out.csv", *option]) == 0
    out = pd.read_csv("out.csv")
    assert out["what"][out["cluster_id"] == -1].tolist() == ["stray"]


def test_confirmed_labels_are_those_of_the_history(run):
    assert main(["labels", run, "-o", "out.parquet", "--min-batches", "4"]) == 0
    with Run.open(run) as opened:
        expected = np.concatenate(opened.history().confirmed_labels(min_batches=4))
    np.testing.assert_array_equal(pd.read_parquet("out.parquet")["cluster_id"], expected)


def test_labels_are_confirmed_as_the_run_was_told_when_it_was_made(rows):
    assert main(["cluster", rows, *USUAL, "-o", "strict", "--min-batches", "2", "-q"]) == 0
    assert main(["labels", "strict", "-o", "out.csv"]) == 0
    out = pd.read_csv("out.csv")
    assert out["what"][out["cluster_id"] == -1].tolist() == ["stray"]
    for option in (["--raw-labels"], ["--min-batches", "1"]):
        assert main(["labels", "strict", "-o", "out.csv", *option]) == 0
        assert (pd.read_csv("out.csv")["cluster_id"] >= 0).all()
