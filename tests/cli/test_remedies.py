"""What messages of the command advise can be typed, and is typed here."""

import ast
import json
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

import dynmeans
from dynmeans.cli.__main__ import main
from dynmeans.cli.app import COMMANDS, app_for
from dynmeans.follow.model_config import ModelConfig
from dynmeans.inputs.argument_text import ArgumentText, as_cli_options
from dynmeans.report.from_run import run_report
from dynmeans.runs.run import Run

SPEAKERS = ("InputError", "ArgumentText", "ValueError", "TypeError", "UserWarning")
PYTHON_ONLY = {
    "cluster_function",
    "estimators",
    "plots",
    "mixture",
    "spark",
    "anytime",
    "groups",
    "batch_times",
}
RECIPE = {one.name: one.metadata["type"] for one in fields(ModelConfig)}
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
        if path.parts[-2] not in ("cluster_function",):
            found |= set(re.findall(r"(?<!f)\{{1,2}([a-z_]+)=[^{}\n]*\}", path.read_text()))
    return sorted(found)


@pytest.mark.parametrize("name", advised_names())
def test_every_argument_that_is_advised_is_an_option(name):
    assert any(name in options_of(command) for command in COMMANDS), name


def literal_texts(speakers=None):
    """Every text of the library that may reach the command, f-strings with 1 for their values."""
    for path in PACKAGE.rglob("*.py"):
        if {*path.parts, path.stem} & PYTHON_ONLY:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(getattr(node, "func", None), "id", "")
            if name in speakers if speakers else isinstance(node, ast.JoinedStr | ast.Constant):
                for one in ast.walk(node):
                    if isinstance(one, ast.JoinedStr):
                        parts = [getattr(part, "value", "1") for part in one.values]
                        yield "".join(p if isinstance(p, str) else "1" for p in parts)
                    elif isinstance(one, ast.Constant) and isinstance(one.value, str):
                        yield one.value


def test_every_value_that_is_advised_is_taken_by_an_option():
    advised = {
        found for text in literal_texts() for found in re.findall(r"\{([a-z_]+)=([^{}]+)\}", text)
    }
    assert ("method", "'hdbscan'") in advised
    assert ("families", "True") in advised
    for name, value in advised:
        line = ArgumentText(f"{{{name}={value}}}").render(as_cli_options())
        words = shlex.split(line)
        if words[0] == "dynmeans":
            command = typer.main.get_command(app_for(words[1:2]))
            assert words[1] in getattr(command, "commands", {words[1]: 0}), line
        elif value not in ("...", "True", "False", "1") and name in RECIPE:
            ModelConfig(**{name: RECIPE[name](words[1])})


def test_no_message_of_the_command_names_an_argument_of_python():
    found = [
        text
        for text in literal_texts(SPEAKERS)
        if re.search(r"(?<![{\w?&])[a-z]+[a-z_]*=['\dTF]", text)
    ]
    assert found == [], found


def bar_and_heap():
    """A long bar, which is cut, beside a dense heap."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 30, (40, 60)), rng.normal(40, 0.05, (40, 30))], axis=1)
    rows = [f"{i},{v},{rng.normal()}" for i, line in enumerate(x) for v in line]
    return "\n".join(["at,x,y", *rows])


def _typed_again(words, advice):
    """Return the command with one piece of advice, less what it takes the place of."""
    flag, _, rest = advice.partition(" ")
    replaced = re.findall(r"instead of (--[a-z-]+)(?: and (--[a-z-]+))?", rest)
    kept = [w for w in words if w.split("=")[0] not in [p for pair in replaced for p in pair]]
    value = rest.split(" instead of")[0]
    return [*kept, flag, *([value] if value else [])]


@pytest.mark.parametrize("given", ["", "--n-clusters=4", "--families", "--n-clusters=9"])
def test_what_a_doubt_advises_is_typed(tmp_path, capsys, given):
    (tmp_path / "rows.csv").write_text(bar_and_heap())
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1", "-f", "x,y"]
    words += ["-o", str(tmp_path / "run"), "--overwrite", *given.split()]
    assert main(words) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert told
    values = {"--new-penalty": "4", "--n-clusters": "4", "--reach": "2"}
    form = (
        r"--method hdbscan(?: instead of --[a-z-]+(?: and --[a-z-]+)?)?|--space standard|--[a-z-]+"
    )
    advised = {one for line in told for one in re.findall(form, line)}
    advised = {one for one in advised if f"{one}=" not in given and f"of {one}" not in str(told)}
    assert "--space standard" in advised
    if "9" in given:
        assert any(one.startswith("--method hdbscan") for one in advised)
    for one in advised:
        again = _typed_again(words, f"{one} {values[one]}" if one in values else one)
        if one == "--new-penalty" and "--families" not in words:
            again = [word for word in again if not word.startswith("--n-clusters")]
        assert main(again) == 0, (one, capsys.readouterr().err)
        capsys.readouterr()


def test_another_number_than_asked_for_is_told_and_the_remedy_joins(tmp_path, capsys):
    rng = np.random.default_rng(0)
    places = [(0, 0), (9, 0), (0, 9), (9, 9), (5, 0)]
    rows = [
        f"{t},{x + 0.2 * rng.normal()},{y + 0.2 * rng.normal()}"
        for t in range(40)
        for x, y in places
        for _ in range(9)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["at,x,y", *rows]))
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1", "-f", "x,y"]
    assert main([*words, "-o", str(tmp_path / "five"), "--n-clusters", "5"]) == 0
    assert "asked for" not in capsys.readouterr().err
    words += ["-o", str(tmp_path / "joined"), "--families", "--n-clusters"]
    assert main([*words, "4"]) == 0
    told = re.search(r"You requested.* has 5\. dynmeans (.*) merges", capsys.readouterr().err)
    assert main(shlex.split(told[1])) == 0
    assert "5 identities in 4 families" in capsys.readouterr().out
    assert main([*words, "5", "--overwrite"]) == 0
    assert "asked for" not in capsys.readouterr().err


def test_a_number_that_changes_after_the_choice_is_told(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        f"{t},{9 * k + 0.2 * rng.normal()}"
        for t in range(200)
        for k in range(2 if t < 100 else 5)
        for _ in range(30)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["at,x", *rows]))
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1", "-f", "x"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().err
    assert "have 2 clusters on average, 2 clusters over all time" in told
    assert "windows, which have 2 clusters on average; all 200 have 3.5." in told


def test_doubts_in_the_story_are_spelled_as_they_are_typed(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text(bar_and_heap())
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1", "-f", "x,y"]
    assert main([*words, "-o", str(tmp_path / "run")]) == 0
    assert main(["summary", str(tmp_path / "run")]) == 0
    told = capsys.readouterr().out
    assert "--space standard" in told
    assert "space='standard'" not in told
    with Run.open(tmp_path / "run") as run:
        assert any("space='standard'" in warned.text for warned in run_report(run).warnings)


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


def test_alert_rules_are_tried_on_the_past_and_nobody_is_told(run, tmp_path, capsys):
    marker = tmp_path / "told"
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\nname = "new"\nevent = "born"\ncommand = ["touch", "{marker}"]\n')
    assert main(["test-alerts", run, str(rules), "--json"]) == 0
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


def test_doubts_and_notes_are_json_too_if_asked(tmp_path, capsys):
    (tmp_path / "rows.csv").write_text(bar_and_heap())
    words = ["cluster", str(tmp_path / "rows.csv"), "-t", "at", "--every", "1", "-f", "x,y"]
    assert main([*words, "--n-clusters", "4", "--log-json", "-o", str(tmp_path / "run")]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {"info", "warning"} <= {line["level"] for line in lines}


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
    changed = dynmeans.Penalties(first.penalties.new_penalty, max_gap=30, reach=1.5)
    again = dynmeans.cluster(frame, features="x", time="at", every="4h", penalties=changed)
    assert (again.penalties.max_gap, again.penalties.reach) == (30, 1.5)


def test_a_time_that_cannot_be_read_is_shown_and_many_of_them_are_warned_of(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    words = ["cluster", str(path), "-t", "at", "--every", "1d", "-f", "x", "--new-penalty", "1"]
    path.write_text(ROWS.replace("2026-03-02 03:00", "soon"))
    assert main([*words, "-o", str(tmp_path / "few")]) == 0
    told = capsys.readouterr().err
    assert "1 with a missing or unreadable at (such as 'soon'; set --time-format" in told
    assert "warning" not in told
    path.write_text(re.sub(r"2026-03-0[12] (\d\d)", r"0\1. 03. 2026", ROWS))
    assert main([*words, "-o", str(tmp_path / "many")]) == 0
    told = capsys.readouterr().err
    assert "warning: 16 rows were left out" in told
    assert "such as '000. 03. 2026:00'" in told
    assert main(["summary", str(tmp_path / "many")]) == 0
    assert "16 rows dropped because a value is missing or cannot be read" in capsys.readouterr().out
