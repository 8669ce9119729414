"""What messages of the command advise can be typed, and is typed here."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer

import dynmeans
from dynmeans.cli.__main__ import main
from dynmeans.cli.app import COMMANDS, app_for

PACKAGE = Path(dynmeans.__file__).parent
ROWS = "at,x,y\n" + "".join(
    f"2026-03-{1 + i // 8:02d} {i % 8:02d}:00,{i % 2 * 9},{i}\n" for i in range(40)
)
DAYS = "at,x\n" + "".join(f"2026-03-{1 + i:02d},{i % 2 * 9}\n" for i in range(20))


def options_of(name):
    command = typer.main.get_command(app_for([name]))
    command = getattr(command, "commands", {name: command})[name.replace("_", "-")]
    return {p.name for p in command.params}


def advised_names():
    """Every argument that some text of the library gives with a value, as in {overwrite=True}."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        if path.parts[-2] not in ("one_call",):
            found |= set(re.findall(r"(?<!f)\{{1,2}([a-z_]+)=[^{}\n]*\}", path.read_text()))
    return sorted(found)


@pytest.mark.parametrize("name", advised_names())
def test_every_argument_that_is_advised_is_an_option(name):
    assert any(name in options_of(command) for command in COMMANDS), name


@pytest.mark.parametrize(
    ("rows", "words", "told", "remedy"),
    [
        (
            "at,x\n2026-03-01,1\n2026-03-02,\n2026-03-03,2\n",
            "-t at --every 1d -f x --new-penalty 1 --on-missing error",
            "--on-missing drop",
            "--on-missing drop",
        ),
        (
            "at;x\n2026-03-01;1,5\n2026-03-02;2,5\n",
            "-t at --every 1d -f x --new-penalty 1",
            "--decimal",
            "--decimal ,",
        ),
        (
            "at,x\n01/02/2024,1\n02/03/2024,2\n",
            "-t at --every 1d -f x --new-penalty 1",
            "--time-format",
            "--time-format '%d/%m/%Y'",
        ),
        (ROWS, "-f x --every 1d --new-penalty 1", "--time", "--time at"),
        (ROWS, "-t at --every 1d", "--text", "-f x --new-penalty 1"),
        (ROWS, "-t at -f x --new-penalty 1", "--every", "--every 1d"),
        (ROWS, "-t at --every 1d -f x --new-penalty 1 --no-resume", "--overwrite", "--overwrite"),
    ],
    ids=["missing", "comma", "dates", "time", "features", "windows", "overwrite"],
)
def test_the_remedy_of_a_message_is_typed_and_helps(tmp_path, capsys, rows, words, told, remedy):
    path = tmp_path / "rows.csv"
    path.write_text(rows)
    command = ["cluster", str(path), "-o", str(tmp_path / "run")]
    if "--no-resume" in words:
        assert main([*command, *shlex.split(words.replace("--no-resume", ""))]) == 0
        capsys.readouterr()
    assert main([*command, *shlex.split(words)]) == 1
    error = capsys.readouterr().err
    assert told in error
    assert not re.search(r"\b[a-z]+_[a-z]+=|\w+=\.\.\.", error), "a Python argument is named"
    again = shlex.split(words)
    if "--on-missing" in again:
        again = again[: again.index("--on-missing")]
    if "--no-resume" in again:
        again.remove("--no-resume")
    assert main([*command, *again, *shlex.split(remedy)]) == 0, capsys.readouterr().err


@pytest.mark.filterwarnings("default")
def test_dates_without_hours_hint_at_empty_windows_and_the_hint_helps(tmp_path, capsys):
    path = tmp_path / "days.csv"
    path.write_text(DAYS)
    words = ["cluster", str(path), "-t", "at", "-f", "x", "--new-penalty", "1", "-o"]
    assert main([*words, str(tmp_path / "a"), "--every", "6h"]) == 0
    told = capsys.readouterr().err
    assert "3 of 4 windows of a day are empty; --every 1d makes windows of days" in told
    assert main([*words, str(tmp_path / "b"), "--every", "1d"]) == 0
    assert "empty" not in capsys.readouterr().err


def test_one_unreadable_time_among_good_ones_is_left_out_and_counted(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS.replace("2026-03-02 03:00", "soon"))
    words = ["cluster", str(path), "-t", "at", "--every", "1d", "-f", "x", "--new-penalty", "1"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    assert "1 row was left out" in capsys.readouterr().err


@pytest.fixture
def run(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS)
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1d", "-f", "x"]
    assert main([*words, "--new-penalty", "1", "-o", str(tmp_path / "run"), "--quiet"]) == 0
    return str(tmp_path / "run")


def test_sql_answers_over_labels_clusters_and_events(run, capsys):
    joined = "FROM clusters JOIN labels USING (cluster_id)"
    query = f"SELECT cluster_id, count(*) AS n {joined} GROUP BY ALL ORDER BY 1"
    assert main(["sql", run, query]) == 0
    assert capsys.readouterr().out == "cluster_id,n\n0,20\n1,20\n"
    assert main(["sql", run, "DELETE FROM events"]) == 1
    assert "must be one SELECT" in capsys.readouterr().err
    assert main(["sql", run, "SELECT * FROM read_csv('/etc/passwd')"]) == 1


def test_alert_rules_are_tried_on_the_past_and_nobody_is_told(run, tmp_path, capsys):
    marker = tmp_path / "told"
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "new"\nwhen = "born"\ncommand = ["touch", "{marker}"]\n')
    assert main(["alerts", run, "--test", str(rules), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(alert["rule"], alert["cluster_id"], alert["step"]) for alert in found] == [
        ("new", 0, 0),
        ("new", 1, 0),
    ]
    assert not marker.exists()


def test_logs_are_json_if_asked(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text(ROWS)
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1d", "-f", "z"]
    assert main([*words, "--log-json", "-o", str(tmp_path / "run")]) == 1
    line = json.loads(capsys.readouterr().err)
    assert line["level"] == "error"
    assert line["message"].startswith("--features: there is no column 'z'")


def test_the_version_is_told_without_the_packages_of_the_command():
    code = (
        "import sys; sys.modules['typer'] = None; "
        "from dynmeans.cli.__main__ import main; sys.exit(main(['--version']))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == f"dynmeans {dynmeans.__version__}\n"


def test_penalties_with_another_gap_go_into_the_one_call():
    frame = pd.DataFrame(
        {"at": pd.date_range("2026-03-01", periods=40, freq="h"), "x": [0.0, 9.0] * 20}
    )
    first = dynmeans.cluster(
        frame, features="x", time="at", every="4h", max_gap=5, reach=1.5, n_clusters=2
    )
    assert (first.penalties.max_gap, first.penalties.reach) == (5, 1.5)
    changed = first.penalties.with_(max_gap=30)
    again = dynmeans.cluster(frame, features="x", time="at", every="4h", penalties=changed)
    assert (again.penalties.max_gap, again.penalties.reach) == (30, 1.5)
    with pytest.raises(TypeError, match="there is no penalty 'gap'"):
        changed.with_(gap=1)
