"""dynmeans cluster and its companions, as a user calls them."""

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import run_cases

from dynmeans import Run
from dynmeans.cli import cluster_result  # noqa: F401  (loaded while every file may be read)
from dynmeans.cli.__main__ import main

CUT = ["--time", "when", "--every", "1min"]
STRICT = ["--on-missing", "error"]
USUAL = ["-f", "x,y", *CUT, "--new-penalty", "1"]


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A CSV file in the current folder."""
    monkeypatch.chdir(tmp_path)
    run_cases.moving_table(8).to_csv("rows.csv", index=False)
    return "rows.csv"


@pytest.fixture
def run(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run"]) == 0
    capsys.readouterr()
    return "run"


def error_of(capsys, *arguments):
    """Run a command that must fail, and return its one line."""
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert code == 1
    assert captured.out == ""
    assert captured.err.startswith("dynmeans: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_a_table_becomes_a_run_and_one_line_says_so(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("8 windows, 96 rows in ")
    assert captured.out.endswith("Run: run\n")
    assert captured.err == ""


def test_json_tells_machines_all(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_windows"], found["n_new_rows"], found["is_finished"]) == (8, 96, True)


def test_quiet_prints_nothing(rows, capsys):
    assert main(["cluster", rows, *USUAL, "-o", "run", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_the_same_command_again_has_nothing_left_to_do(run, capsys):
    assert main(["cluster", "rows.csv", *USUAL, "-o", run, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["is_resumed"], found["n_new_windows"], found["n_windows"]) == (True, 0, 8)


def test_a_growing_file_is_followed_with_its_last_window_held(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = run_cases.moving_table(9)
    for n_rows in (50, 90, len(frame)):
        frame[:n_rows].to_csv("rows.csv", index=False)
        hold = ["--keep-last-open"] if n_rows < len(frame) else []
        assert main(["cluster", "rows.csv", *USUAL, "-o", "run", *hold]) == 0
    assert main(["cluster", "rows.csv", *USUAL, "-o", "whole"]) == 0
    parts, whole = run_cases.contents(Path("run")), run_cases.contents(Path("whole"))
    for name in ("labels", "memory", "events", "clusters"):
        assert parts[name] == whole[name], name


def test_all_parameters_reach_the_run(rows):
    more = ["--max-gap", "9", "--reach", "1.7", "--n-init", "2", "--random-state", "5"]
    more += ["--revival", "exact", "--space", "standard", "--id", "truth", "--weight", "x"]
    assert main(["cluster", rows, *USUAL, *more, "-o", "run", "-q"]) == 0
    with Run.open("run") as run:
        model_config, source, penalties = run.config.model_config, run.config.source, run.penalties
    assert (penalties.max_gap, penalties.reach, penalties.revival) == (9.0, 1.7, "exact")
    assert (model_config.n_init, model_config.random_state, model_config.space) == (
        2,
        5,
        "standard",
    )
    assert (source["id"], source["weight"]) == ("truth", "x")


def test_the_other_parameterisation_is_taken(rows):
    more = ["--revival-penalty", "0.25", "--drift", "0.5"]
    assert main(["cluster", rows, *USUAL, *more, "-o", "run", "-q"]) == 0
    with Run.open("run") as run:
        assert run.penalties.max_gap == pytest.approx(4.0)


def test_lines_on_standard_input_become_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = run_cases.moving_table(5)
    text = "\n".join(json.dumps(row, default=str) for row in frame.to_dict("records"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["cluster", "-", *USUAL, "-o", "live", "-q"]) == 0
    frame.to_csv("rows.csv", index=False)
    assert main(["cluster", "rows.csv", *USUAL, "-o", "table", "-q"]) == 0
    live, table = run_cases.contents(Path("live")), run_cases.contents(Path("table"))
    assert live["labels"] == table["labels"]
    assert live["memory"] == table["memory"]


def test_penalties_are_chosen_unless_they_are_given(rows, capsys):
    assert main(["cluster", rows, "-f", "x,y", *CUT, "-o", "run"]) == 0
    assert "--new-penalty" in capsys.readouterr().err
    with Run.open("run") as run:
        assert run.config.model_config.is_auto
        assert run.penalties.new_penalty > 0


def test_a_missing_column_makes_no_run(rows, capsys):
    message = error_of(capsys, "cluster", rows, "-f", "z", *CUT, "--new-penalty", "1", "-o", "run")
    assert "no column 'z'; the input has 'when', 'x', 'y', 'truth'" in message
    assert not Path("run").exists()


def test_times_nobody_can_read_make_no_run(rows, capsys):
    frame = pd.read_csv(rows, dtype=str)
    frame.loc[3, "when"] = "soon"
    frame.to_csv(rows, index=False)
    message = error_of(capsys, "cluster", rows, *USUAL, *STRICT, "-o", "run")
    assert "row 3 of the input (from 0) has 'soon' in column 'when'" in message
    assert not Path("run").exists()


def test_missing_values_stop_the_run_or_are_counted(rows, capsys):
    frame = pd.read_csv(rows)
    frame.loc[40, "x"] = np.nan
    frame.to_csv(rows, index=False)
    message = error_of(capsys, "cluster", rows, *USUAL, *STRICT, "-o", "stopped")
    assert "row 40 of the input" in message
    assert main(["cluster", rows, *USUAL, "-o", "run"]) == 0
    assert "1 without a value for x" in capsys.readouterr().err


def test_what_came_before_a_missing_value_is_kept(rows, capsys):
    frame = pd.read_csv(rows)
    frame.loc[40, "x"] = np.nan
    frame.to_csv(rows, index=False)
    # One chunk is read whole, so the error comes before the first window of it.
    error_of(capsys, "cluster", rows, *USUAL, *STRICT, "-o", "run")
    run_cases.moving_table(8).to_csv(rows, index=False)
    assert main(["cluster", rows, *USUAL, "-o", "run", "-q"]) == 0
    with Run.open("run") as run:
        assert run.status().n_rows == 96


def test_a_changed_option_is_told_and_changes_nothing(run, capsys):
    before = run_cases.contents(Path(run))
    message = error_of(capsys, "cluster", "rows.csv", *USUAL, "--n-init", "9", "-o", run)
    assert "--n-init was 3, is 9" in message
    assert run_cases.contents(Path(run)) == before


def test_a_run_that_failed_before_its_first_window_is_replaced_by_other_options(rows, capsys):
    frame = pd.read_csv(rows)
    frame.loc[40, "x"] = np.nan
    frame.to_csv(rows, index=False)
    error_of(capsys, "cluster", rows, *USUAL, *STRICT, "-o", "run")
    assert main(["cluster", rows, *USUAL, "-o", "run", "-q"]) == 0
    with Run.open("run") as run:
        assert (run.config.source["on_missing"], run.status().n_rows) == ("drop", 95)


def test_overwrite_starts_over(run, capsys):
    again = ["cluster", "rows.csv", *USUAL, "--n-init", "9", "-o", run, "--overwrite", "-q"]
    assert main(again) == 0
    with Run.open(run) as found:
        assert (found.config.model_config.n_init, found.status().n_windows) == (9, 8)


def test_resume_needs_a_run_and_no_resume_needs_none(run, capsys):
    message = error_of(capsys, "cluster", "rows.csv", *USUAL, "-o", "other", "--resume")
    assert "there is no run 'other'" in message
    message = error_of(capsys, "cluster", "rows.csv", *USUAL, "-o", run, "--no-resume")
    assert "already contains a run" in message


def test_a_damaged_run_is_told_in_one_line(run, capsys):
    Path(run, "run.sqlite").write_bytes(b"rubbish" * 999)
    for command in (["status", run], ["cluster", "rows.csv", *USUAL, "-o", run]):
        assert "the run is damaged" in error_of(capsys, *command)


def test_a_place_that_cannot_be_written_is_told_in_one_line(rows, capsys):
    assert "/proc" in error_of(capsys, "cluster", rows, *USUAL, "-o", "/proc/run")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("header.csv", "x,y,when\n", "'header.csv' holds no rows, only a header."),
        ("empty.csv", "", "'empty.csv' holds no rows."),
        ("blank.csv", "\n\n", "'blank.csv' holds no rows."),
        ("short.parquet", "hello", "'short.parquet' is not a Parquet file."),
        ("long.parquet", "hello " * 99, "'long.parquet' is not a Parquet file."),
    ],
)
def test_a_file_without_a_table_is_told_in_one_line(
    tmp_path, monkeypatch, capsys, name, text, message
):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    assert error_of(capsys, "cluster", name, *USUAL, "-o", "run").endswith(f"{message}\n")
    assert not Path("run").exists()


def test_a_wrong_query_is_told_without_ours(rows, capsys):
    query = ["--sql", "SELECT nothing FROM source"]
    message = error_of(capsys, "cluster", rows, *USUAL, *query, "-o", "run")
    assert 'column "nothing" not found' in message
    assert "LINE" not in message
    assert "VIEW" not in message


def test_an_input_without_permission_is_told_in_one_line(rows, capsys):
    os.chmod(rows, 0o000)
    user = os.geteuid()
    if user == 0:  # who may read everything
        os.seteuid(65534)
    try:
        message = error_of(capsys, "cluster", rows, *USUAL, "-o", "run")
    finally:
        os.seteuid(user)
    assert "ermission denied" in message
    assert not Path("run").exists()


def test_status_says_how_far_a_run_is(run, capsys):
    assert main(["status", run, "--verify"]) == 0
    shown = capsys.readouterr().out
    assert "run (complete)" in shown
    assert "96 (0 dropped, 0 late)" in shown
    assert main(["status", run, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_rows"] == 96


def test_events_are_listed_and_filtered(run, capsys):
    assert main(["events", run, "--kind", "born", "--json"]) == 0
    born = json.loads(capsys.readouterr().out)
    assert {row["kind"] for row in born} == {"born"}
    assert main(["events", run, "--cluster", "0", "--last", "1"]) == 0
    assert capsys.readouterr().out.count("\n") == 1
    assert "--kind must be one of born" in error_of(capsys, "events", run, "--kind", "eaten")


def test_events_of_a_cluster_that_is_not_there_are_an_error(run, capsys):
    message = error_of(capsys, "events", run, "--cluster", "999")
    assert "cluster 999 does not exist. Use `dynmeans clusters RUN`" in message


def test_events_of_a_cluster_without_such_events_are_none(run, capsys):
    assert main(["events", run, "--cluster", "0", "--kind", "merged"]) == 0
    assert capsys.readouterr().out == ""


def test_one_of_a_thing_is_told_in_the_singular(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("one.csv").write_text("x,when\n1.5,2024-01-01\n")
    one = ["cluster", "one.csv", "-f", "x", *CUT, "--new-penalty", "1", "-o", "run"]
    told = []
    for command in (one, one, ["status", "run"], ["labels", "run", "-o", "labels.csv"]):
        assert main(command) == 0
        told.append(capsys.readouterr().out)
    assert told[0].startswith("1 window, 1 row in ")
    assert (
        "; 1 cluster in the last window, 1 in total; new clusters start beyond distance 1."
        in told[0]
    )
    assert told[1] == "already complete: 1 window. Run: run\n"
    assert "windows   1 (1 step)" in told[2]
    assert "labels    1 file, " in told[2]
    assert told[3] == "1 row: labels.csv\n"


def test_labels_are_written_beside_the_rows(run, capsys):
    assert main(["labels", run, "-o", "out.csv"]) == 0
    assert capsys.readouterr().out == "96 rows: out.csv\n"
    assert pd.read_csv("out.csv")["cluster_id"].notna().all()


def test_scores_compare_with_a_column_of_the_input(run, capsys):
    assert main(["score", run, "--truth", "truth", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["accuracy_per_step"] > 0.9
    assert "no column 'who'" in error_of(capsys, "score", run, "--truth", "who")


def test_scores_need_no_column_where_the_run_knows_it(rows, capsys):
    assert main(["cluster", rows, *USUAL, "--truth", "truth", "-o", "run", "-q"]) == 0
    assert main(["score", "run", "--json"]) == 0
    by_itself = capsys.readouterr().out
    assert main(["score", "run", "--truth", "truth", "--json"]) == 0
    assert capsys.readouterr().out == by_itself


def test_scores_without_a_column_anywhere_say_what_is_missing(run, capsys):
    assert "--truth is needed: the run was made without" in error_of(capsys, "score", run)


@pytest.mark.parametrize("kind", ["all", "tracks", "timeline", "numbers"])
def test_pictures_are_drawn(run, capsys, kind):
    assert main(["plot", run, "--kind", kind, "-o", "run.png"]) == 0
    assert Path("run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["cluster", "status", "events", "labels", "score", "plot"])
def test_help_teaches_with_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"dynmeans {command} " in capsys.readouterr().out


def test_wrong_usage_has_exit_code_two(rows, capsys):
    assert main(["cluster", rows]) == 2


@pytest.mark.slow
def test_a_terminal_sees_a_bar_and_a_table_of_clusters(tmp_path):
    run_cases.moving_table(600).to_parquet(tmp_path / "rows.parquet")
    command = [sys.executable, "-m", "dynmeans.cli", "cluster", "rows.parquet", *USUAL, "-o", "run"]
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=slave, stderr=slave, env={**os.environ, "COLUMNS": "120"}
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(master)
    assert process.wait() == 0
    assert b"rows/s" in seen
    assert b"clusters" in seen
    assert b"600 windows" in seen


def test_suggested_penalties_are_kept_when_the_run_goes_on(rows, capsys):
    suggest = ["cluster", rows, "-f", "x,y", *CUT, "--max-gap", "4", "-o", "run"]
    assert main(suggest) == 0
    with Run.open("run") as run:
        penalties = run.penalties
    assert penalties.max_gap == 4.0
    assert 0.01 < penalties.new_penalty < 100
    assert main([*suggest, "--resume"]) == 0
    with Run.open("run") as run:
        assert run.penalties == penalties


def test_a_number_of_clusters_is_refused_beside_the_penalty_it_would_choose(rows, capsys):
    message = error_of(capsys, "cluster", rows, *USUAL, "--n-clusters", "4", "-o", "run")
    assert "--n-clusters cannot be combined with --new-penalty" in message


def test_local_dates_are_read_where_their_form_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("Day (local),x\n31.12.2024,1\n01.01.2025,2\n")
    options = ["-f", "x", "--time", "Day (local)", "--every", "1d", "--new-penalty", "1"]
    assert main(["cluster", "rows.csv", *options, "--time-format", "%d.%m.%Y", "-o", "run"]) == 0
    capsys.readouterr()
    assert main(["labels", "run", "-o", "labels.csv"]) == 0
    assert Path("labels.csv").read_text().splitlines()[1] == "31.12.2024,1,0,0,0.0"


def test_dates_nobody_can_read_are_told_with_the_option_that_helps(rows, capsys):
    frame = pd.read_csv(rows, dtype=str)
    frame["when"] = "31st of March"
    frame.to_csv(rows, index=False)
    message = error_of(capsys, "cluster", rows, *USUAL, "-o", "run")
    assert "set --time-format, for example to '%d.%m.%Y %H:%M'" in message


def test_labels_never_replace_the_rows_they_are_for(run, capsys):
    before = Path("rows.csv").read_bytes()
    message = error_of(capsys, "labels", run, "-o", "rows.csv")
    assert "'rows.csv' is among the rows of the run" in message
    assert Path("rows.csv").read_bytes() == before


def test_labels_are_not_put_among_the_files_of_a_folder_of_rows(rows, capsys):
    Path("days").mkdir()
    Path(rows).rename("days/1.csv")
    assert main(["cluster", "days", *USUAL, "-o", "run", "-q"]) == 0
    message = error_of(capsys, "labels", "run", "-o", "days/labels.csv")
    assert "is among the rows of the run" in message


def test_weights_that_are_no_numbers_are_told(rows, capsys):
    message = error_of(capsys, "cluster", rows, *USUAL, "--weight", "when", "-o", "run")
    assert "--weight must be a numeric column, but 'when' is TIMESTAMP" in message


def test_a_picture_without_a_folder_is_refused_before_the_work(capsys):
    options = ["rows.csv", "-f", "x", "--rows-per-window", "9", "--plot", "nowhere/picture.png"]
    message = error_of(capsys, "suggest", *options)
    assert "--plot must be in an existing folder" in message


def test_a_missing_run_is_told_before_anything_else(capsys):
    message = error_of(capsys, "plot", "run", "--output", "nowhere/picture.png")
    assert "'run' is not a run folder: it does not exist" in message


def test_a_run_among_its_own_rows_is_refused(rows, capsys):
    message = error_of(capsys, "cluster", ".", *USUAL, "-o", "run")
    assert "--output must not lie in the folder of the rows, '.'" in message
    assert not Path("run").exists()


def exploding_table(folder, n_rows):
    path = folder / "outliers.csv"
    path.write_text("x\n" + "".join(f"{1000 * i}\n" for i in range(n_rows)))
    return path


def test_max_clusters_stops_a_run_with_a_line_and_keeps_what_was_committed(tmp_path, capsys):
    table = exploding_table(tmp_path, 60)
    words = ["cluster", str(table), "--rows-per-window", "10", "-f", "x", "--new-penalty", "1"]
    words += ["--max-gap", "inf", "-o", str(tmp_path / "run")]
    assert main([*words, "--max-clusters", "35"]) == 1
    error = capsys.readouterr().err.strip().splitlines()
    assert error[-1].startswith(
        "dynmeans: error: --max-clusters: this batch would leave 40 clusters remembered, more than "
    )
    assert "raise --new-penalty or lower --max-gap, or raise --max-clusters" in error[-1]
    assert main([*words, "--quiet"]) == 0


@pytest.mark.filterwarnings("default")
def test_growth_of_clusters_is_one_line_of_warning(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("dynmeans.engine.guard.MANY_CLUSTERS", 20)
    table = exploding_table(tmp_path, 30)
    words = [
        "cluster",
        str(table),
        "--rows-per-window",
        "10",
        "-f",
        "x",
        "--new-penalty",
        "1",
        "--quiet",
    ]
    assert main([*words, "--max-gap", "inf", "-o", str(tmp_path / "run")]) == 0
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(
        "dynmeans: warning: 20 clusters are remembered, and the number is growing."
    )
    assert line.endswith("--max-clusters sets a limit.")
