"""What people type at first, and what they read then: other spellings, patterns, dates, names."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from dynmeans import DynamicMeans, Run, cluster
from dynmeans.cli.__main__ import main
from dynmeans.report.from_run import run_report

ROWS = "at,n,x,place\n" + "".join(f"2026-03-{1 + i:02d},{i},{i % 2 * 9},here\n" for i in range(20))


@pytest.fixture
def rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    return ["cluster", "rows.csv", "--new-penalty", "1", "-o", "run", "--quiet"]


@pytest.mark.parametrize(
    ("as_cli_options", "meant"), [("D", "1d"), ("1dy", "1d"), ("week", "1w"), ("2 weaks", "2w")]
)
def test_another_spelling_of_a_length_is_answered_with_the_one_that_was_meant(
    rows, capsys, as_cli_options, meant
):
    words = [*rows, "-t", "at", "-f", "x"]
    assert main([*words, "--every", as_cli_options]) == 1
    assert f"Did you mean '{meant}'?" in capsys.readouterr().err
    assert main([*words, "--every", meant]) == 0


def test_a_length_like_no_other_has_no_guess(rows, capsys):
    assert main([*rows, "-t", "at", "-f", "x", "--every", "soon"]) == 1
    assert "Did you mean" not in capsys.readouterr().err


def test_all_features_are_the_numbers_that_were_not_named_for_something_else(rows, capsys):
    assert main([*rows, "-t", "n", "--every", "1", "-f", "*"]) == 0
    assert main(["clusters", "run", "--json"]) == 0
    told = capsys.readouterr().out
    assert "mean_x" in told
    assert "mean_n" not in told
    assert "mean_place" not in told


@pytest.mark.parametrize(
    ("first", "second", "form"),
    [
        ("31.12.2026 14:05", "01.12.2026 08:00", "--time-format '%d.%m.%Y %H:%M'"),
        ("10/Oct/2000:13:55:36 -0700", "11/Oct/2000:13:55:36 +0200", "%d/%b/%Y:%H:%M:%S %z"),
        ("Mar 1 2026", "Mar 2 2026", "--time-format '%b %d %Y'"),
    ],
)
def test_the_form_of_times_is_told_and_typed(tmp_path, capsys, first, second, form):
    path = tmp_path / "rows.csv"
    path.write_text(f"at,x\n{first},1\n{second},2\n")
    words = ["cluster", str(path), "-t", "at", "--every", "1d", "-f", "x", "--new-penalty", "1"]
    words += ["-o", str(tmp_path / "run"), "--quiet"]
    assert main(words) == 1
    told = capsys.readouterr().err
    assert form in told
    advised = re.search(r"It may be (--time-format '[^']+')", told)
    assert main([*words, *shlex.split(advised[1])]) == 0


def test_labels_on_the_screen_are_those_of_a_file(rows, capfd):
    assert main([*rows, "-t", "at", "--every", "1d", "-f", "x"]) == 0
    capfd.readouterr()
    assert main(["labels", "run", "-o", "-"]) == 0
    head, first, *_ = capfd.readouterr().out.splitlines()
    assert head == "at,n,x,place,step,cluster_id,distance"
    assert first == "2026-03-01,0,0,here,0,0,0.0"


def test_an_option_that_is_missing_comes_with_an_example(rows, capsys):
    assert main([*rows, "-t", "at", "--every", "1d", "-f", "x"]) == 0
    capsys.readouterr()
    assert main(["labels", "run"]) == 2
    told = capsys.readouterr().err
    example = re.search(r"For example: dynmeans (.*)", told)[1]
    assert main(shlex.split(example)) == 0


def test_a_picture_is_named_as_its_run(rows, capsys, tmp_path):
    assert main([*rows, "-t", "at", "--every", "1d", "-f", "x"]) == 0
    assert main(["plot", "run", "--kind", "numbers"]) == 0
    assert (tmp_path / "run.png").exists()
    assert capsys.readouterr().out == "run.png\n"


def test_a_word_of_sql_as_a_column_is_explained(rows, capsys):
    words = [*rows, "-t", "at", "--every", "1d", "-f", "x", "--sql"]
    assert main([*words, "SELECT at, x FROM source"]) == 1
    assert 'needs quotes: "at"' in capsys.readouterr().err
    assert main([*words, 'SELECT "at", x FROM source']) == 0


def test_dates_of_the_story_are_written_for_people(rows, capsys):
    assert main([*rows, "-t", "at", "--every", "6h", "-f", "x", "--timezone", "Asia/Tokyo"]) == 0
    capsys.readouterr()
    assert main(["summary", "run"]) == 0
    assert "from 1 Mar 2026 00:00 +0900 to 20 Mar 2026 00:00 +0900" in capsys.readouterr().out


def test_missing_values_are_refused_with_a_way_out_of_our_own():
    frame = pd.DataFrame({"x": [1.0, np.nan]})
    for rows in (frame, frame.to_numpy(), [[1.0], [np.nan]]):
        with pytest.raises(ValueError, match=r"NaN\. Leave rows that lack a value out") as told:
            DynamicMeans(1.0).partial_fit(rows)
        assert "HistGradient" not in str(told.value)


def test_a_run_keeps_as_many_rows_of_a_window_as_it_is_told(rows):
    assert main([*rows, "-t", "n", "--every", "10", "-f", "x", "--sample-size", "4"]) == 0
    with Run.open("run") as run:
        assert [len(sample.points) for sample in run.samples()] == [4, 4]
        assert run_report(run).points.sizes.tolist() == [4, 4]
    frame = pd.read_csv("rows.csv")
    found = cluster(frame, time="n", every=10, features="x", penalties=1.0, sample_size=0)
    with pytest.raises(ValueError, match="sample_size must be at least 1"):
        found.describe()
