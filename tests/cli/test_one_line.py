"""Every failure is one line and a nonzero code; nothing in it commands a terminal."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from dynmeans.cli.__main__ import main
from dynmeans.cli.output import printable

LIVE = ["cluster", "-", "-f", "x", "--time", "t", "--every", "1", "--new-penalty", "1", "-o", "run"]
ESCAPES = "\x1b]0;owned\x07\x1b[2J"


def fails(capsys, *arguments):
    assert main(list(arguments)) == 1
    told = capsys.readouterr().err
    assert told.startswith("dynmeans: error: ")
    assert told.count("\n") == 1
    return told


@pytest.fixture
def app_raises(monkeypatch):
    def prepare(error):
        def stop(**_):
            raise error

        monkeypatch.setattr("dynmeans.cli.app.app_for", lambda words: stop)

    return prepare


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("two\nlines"), RecursionError("deep"), OverflowError(), MemoryError(),
        ZeroDivisionError("by zero"), AssertionError(), KeyError("name"), UnicodeError("text"),
    ],
)  # fmt: skip
def test_any_exception_is_one_line(capsys, app_raises, error):
    app_raises(error)
    assert "Traceback" not in fails(capsys, "status", "run")


def test_debug_shows_where_an_error_came_from(capsys, app_raises):
    app_raises(RuntimeError("the reason"))
    assert main(["status", "run", "--debug"]) == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.endswith("to see where).\n")


@pytest.mark.parametrize(
    "line",
    [
        '{"t": 1e300, "x": 1}', '{"t": 1, "x": 1e300}', '{"t": null, "x": 1}', "[" * 99_999, "{}",
        f'{{"t": {"9" * 400}, "x": 1}}', f'{{"t": {"9" * 5000}, "x": 1}}', '{"t": "x", "x": 1}',
        '{"t": 1, "x": {}}', '{"t": [], "x": 1}', '{"t": true, "x": 1}', "\ud800", "\x00",
    ],
)  # fmt: skip
def test_a_bad_line_of_a_stream_is_one_line(tmp_path, monkeypatch, capsys, line):
    monkeypatch.chdir(tmp_path)
    data = line.encode("utf-8", "surrogatepass")
    text = io.BytesIO(b'{"t": 0, "x": 0}\n' + data + b"\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(text))
    fails(capsys, *LIVE, "--on-missing", "error")


def test_escapes_in_an_error_are_shown_not_sent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x\n1\n")
    options = ["-f", f"y{ESCAPES}", "--rows-per-window", "1", "--new-penalty", "1", "-o", "run"]
    told = fails(capsys, "cluster", "rows.csv", *options)
    assert "\x1b" not in told
    assert "\\x1b]0;owned\\x07" in told


def test_escapes_in_names_of_windows_are_shown_not_sent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [{"b": f"a{ESCAPES}", "x": 1}, {"b": "b\u202e", "x": 9}]
    text = "\n".join(map(json.dumps, rows))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    options = ["-f", "x", "--window-column", "b", "--new-penalty", "1", "-o", "run"]
    assert main(["cluster", "-", *options]) == 0
    for command in (["status", "run"], ["events", "run"]):
        assert main(command) == 0
    shown = capsys.readouterr()
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)
    assert "a\\x1b]0;owned\\x07" in shown.out


def test_printable_text_is_left_alone():
    text = "Zürich, 東京, émigré, 😀, 5 °C"
    assert printable(text) == text


def test_output_that_nobody_reads_any_more_ends_quietly(tmp_path):
    (tmp_path / "rows.csv").write_text("x\n" + "\n".join(str(9 * (i % 7)) for i in range(20_000)))
    options = "-f x --rows-per-window 10 --new-penalty 1 -o run -q"
    dynmeans = f"{sys.executable} -m dynmeans.cli"
    script = (
        f"{dynmeans} cluster rows.csv {options} && {dynmeans} events run --kind moved | head -1"
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.fixture
def outliers(tmp_path, monkeypatch):
    """Rows of which each opens a cluster of its own."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x\n" + "\n".join(str(9 * i) for i in range(40)))
    return [
        "cluster",
        "rows.csv",
        "-f",
        "x",
        "--rows-per-window",
        "10",
        "--new-penalty",
        "1",
        "-o",
        "run",
    ]


def test_a_limit_of_clusters_stops_the_run_in_one_line_and_keeps_what_came_before(outliers, capsys):
    told = fails(capsys, *outliers, "--max-clusters", "25")
    assert "--max-clusters: this batch would leave 30 clusters remembered" in told
    assert "raise --new-penalty or lower --max-gap" in told
    assert main(["status", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_windows"] == 2


@pytest.mark.filterwarnings("default")
def test_a_warning_of_the_library_is_one_line_that_names_options(outliers, capsys, monkeypatch):
    monkeypatch.setattr("dynmeans.engine.guard.MANY_CLUSTERS", 16)
    assert main([*outliers, "-q"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("dynmeans: warning: 20 clusters are remembered, and the number is")
    assert told[0].endswith("--max-clusters sets a limit.")
