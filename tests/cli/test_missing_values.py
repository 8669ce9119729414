"""Rows that lack a value: one rule for the command line and `dynmeans.cluster`, and all is told."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
import run_cases

import dynmeans
from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.cli.progress import while_clustering
from dynmeans.cluster_function.cluster import DroppedRowsWarning
from dynmeans.runs.reading.window import Window


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Rows as text, and the current folder to write them to."""
    monkeypatch.chdir(tmp_path)
    frame = run_cases.moving_table(8).astype(str)
    for name in ("x", "y"):
        frame[name] = frame[name].str.replace(".", ",")
    return frame


def write(frame, **cells):
    """Write the rows with some cells of row 40 and after changed."""
    for name, values in cells.items():
        frame.loc[40 : 39 + len(values), name] = values
    frame.to_csv("rows.csv", index=False, sep=";")
    return "rows.csv"


USUAL = ["-f", "x,y", "--time", "when", "--every", "1min", "--new-penalty", "1"]
COMMA = ["--decimal", ","]


def error_of(capsys, *arguments):
    """Run a command that must fail, and return its one line."""
    assert main(list(arguments)) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    return message


def test_an_odd_word_among_numbers_leaves_its_row_out(table, capsys):
    rows = write(table, x=["k.A.", "", "#DIV/0!"])
    assert main(["cluster", rows, *USUAL, *COMMA, "-o", "run"]) == 0
    told = capsys.readouterr().err
    assert "3 rows were left out and have no label: 3 without a value for x." in told
    with Run.open("run") as run:
        assert (run.status().n_rows, run.status().n_dropped_rows) == (93, 3)


def test_the_command_line_and_cluster_leave_the_same_rows_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = run_cases.moving_table(8)
    frame.loc[[3, 50], "x"] = np.nan
    frame.to_csv("rows.csv", index=False)
    assert main(["cluster", "rows.csv", *USUAL, "-o", "run", "-q"]) == 0
    assert main(["labels", "run", "-o", "labels.csv"]) == 0
    with pytest.warns(DroppedRowsWarning, match="2 rows were left out"):
        found = dynmeans.cluster(
            "rows.csv", time="when", every="1min", features=["x", "y"], penalties=1.0
        )
    written = pd.read_csv("labels.csv")["cluster_id"].astype("Int64")
    assert found.labels.tolist() == written.tolist()
    assert written.isna().sum() == 2


def test_asked_to_refuse_missing_values_the_command_names_the_row(table, capsys):
    rows = write(table, x=["k.A."])
    options = [*USUAL, *COMMA, "--on-missing", "error", "-o", "run"]
    message = error_of(capsys, "cluster", rows, *options)
    assert "row 40 of the input (from 0) has 'k.A.' in column 'x'" in message
    assert "--on-missing drop leaves such rows out" in message


@pytest.mark.parametrize("number", ["1.5", "1.234,5", "12 345", "1_5", "50%", "3 km"])
def test_a_number_written_another_way_is_never_taken_for_a_missing_one(table, capsys, number):
    rows = write(table, x=[number])
    message = error_of(capsys, "cluster", rows, *USUAL, *COMMA, "-o", "run")
    assert f"features must be numbers, but row 40 of the input (from 0) has {number!r}" in message


def test_decimal_commas_are_not_dropped_as_missing_values(table, capsys):
    table.loc[::2, "x"] = "3"
    message = error_of(capsys, "cluster", write(table), *USUAL, "-o", "run")
    assert "If the comma is a decimal comma, set --decimal" in message


def test_a_column_without_any_number_is_refused(table, capsys):
    table["x"] = "k.A."
    rows = write(table)
    message = error_of(capsys, "cluster", rows, *USUAL, *COMMA, "-o", "run")
    assert "has 'k.A.' in column 'x'" in message


def test_rows_that_all_lack_a_value_are_an_error_that_counts_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = run_cases.moving_table(2)
    frame["x"] = np.nan
    frame.to_parquet("rows.parquet")
    message = error_of(capsys, "cluster", "rows.parquet", *USUAL, "-o", "run")
    assert f"every row of the input lacks a value: {len(frame)} lack 'x'" in message


def test_an_odd_word_among_weights_leaves_its_row_out(table, capsys):
    table["w"] = "2"
    rows = write(table, w=["unknown"])
    options = [*USUAL, *COMMA, "--weight", "w", "-o", "run"]
    assert main(["cluster", rows, *options]) == 0
    assert (
        "1 row was left out and has no label: 1 without a value for w." in capsys.readouterr().err
    )


def test_json_counts_missing_values_by_column(table, capsys):
    rows = write(table, x=["k.A.", ""])
    assert main(["cluster", rows, *USUAL, *COMMA, "-o", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing_counts"] == {"x": 2, "y": 0, "when": 0}


def test_a_run_that_refused_missing_values_is_resumed_without_them(table):
    write(table.iloc[:48].copy())
    options = [*USUAL, *COMMA, "--keep-last-open", "-q", "-o", "run"]
    assert main(["cluster", "rows.csv", *options, "--on-missing", "error"]) == 0
    table.loc[90, "x"] = "k.A."
    write(table)
    assert main(["cluster", "rows.csv", *options]) == 0
    with Run.open("run") as run:
        assert run.status().n_dropped_rows == 0  # still in the window that is held
    assert main(["cluster", "rows.csv", *[o for o in options if o != "--keep-last-open"]]) == 0
    with Run.open("run") as run:
        assert run.status().n_dropped_rows == 1


def test_the_report_tells_rows_that_were_left_out(table):
    rows = write(table, x=["k.A.", "-"])
    assert main(["cluster", rows, *USUAL, *COMMA, "-o", "run", "-q"]) == 0
    assert main(["report", "run", "-o", "report.html"]) == 0
    with open("report.html", encoding="utf-8") as page:
        assert "2 rows dropped because a value is missing or cannot be read." in page.read()


def test_lines_before_a_broken_one_make_a_run_while_parameters_are_chosen(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [
        json.dumps({"t": i / 40, "x": 9.0 * (i % 2) + rng.normal(0, 0.3), "y": rng.normal(0, 0.3)})
        for i in range(2000)
    ]
    text = "\n".join([*lines, "{broken", *lines]).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    options = ["-t", "t", "--every", "1", "-f", "x,y", "-o", "run"]
    assert main(["cluster", "-", *options]) == 1
    assert "line 2001 of the input is not JSON" in capsys.readouterr().err
    with Run.open("run") as run:
        assert run.status().n_rows == 1960  # the last window was still open


def test_a_number_sent_as_text_is_not_dropped_as_a_missing_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = b'{"x": 1.0}\n{"x": "k.A."}\n{"x": "2.5"}\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    options = ["--rows-per-window", "1", "-f", "x", "--new-penalty", "1", "-o", "run"]
    message = error_of(capsys, "cluster", "-", *options)
    assert "features: line 3 has '2.5' for 'x', which is text. Send it as a number." in message


@pytest.mark.parametrize("seconds", ["", " 10:00:00"])
def test_dates_that_may_begin_with_day_or_month_are_refused_until_told(
    tmp_path, monkeypatch, capsys, seconds
):
    monkeypatch.chdir(tmp_path)
    rows = [f"{day:02}/02/2024{seconds},1.0" for day in (1, 2, 3)]
    options = ["-t", "when", "--every", "1d", "-f", "x", "--new-penalty", "1", "-o", "run"]
    with open("rows.csv", "w") as file:
        file.write("\n".join(["when,x", *rows]))
    message = error_of(capsys, "cluster", "rows.csv", *options)
    assert "dates such as 01/02/2024" in message
    assert "Give --time-format: '%d/%m/%Y" in message
    form = "%m/%d/%Y" + (" %H:%M:%S" if seconds else "")
    assert main(["cluster", "rows.csv", *options, "--time-format", form, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["last_window"].startswith("2024-03-02")


def test_dates_that_can_only_begin_with_the_day_are_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with open("rows.csv", "w") as file:
        file.write("when,x\n01/02/2024,1.0\n13/02/2024,1.0\n")
    options = ["-t", "when", "--every", "1d", "-f", "x", "--new-penalty", "1", "-o", "run"]
    assert main(["cluster", "rows.csv", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["first_window"].startswith("2024-02-01")


def test_a_first_line_without_a_time_leaves_only_itself_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    times = [None, 0, 0.5, 1.5]
    text = "\n".join(json.dumps({"t": t, "x": 1.0}) for t in times).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    options = ["-t", "t", "--every", "1", "-f", "x", "--new-penalty", "1", "-o", "run"]
    assert main(["cluster", "-", *options]) == 0
    captured = capsys.readouterr()
    assert "2 windows, 3 rows" in captured.out
    assert "1 row was left out and has no label: 1 with a missing or unreadable t" in captured.err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_told_how_far_the_work_is(tmp_path, monkeypatch):
    rows = run_cases.moving_table(3)
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    run_cases.follow(tmp_path / "rows.parquet", tmp_path / "run")
    monkeypatch.setattr("sys.stderr", Terminal())
    with Run.open(tmp_path / "run") as run, while_clustering(9, 0, []) as on_window:
        on_window(next(iter(run.history())), Window([[0.0, 0.0]], name="\x1b[31m[red]"))
        progress = sys.stderr
    assert "\\x1b[31m[red]: 4 clusters, 4 remembered" in progress.getvalue()
