"""What a command says before long work, when it is stopped, and when nobody listens any more."""

import logging
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from dynmeans import Run
from dynmeans.cli.__main__ import main
from dynmeans.parameters.selection import suggest
from dynmeans.runs.cluster_job import ClusterJob


def test_a_missing_run_is_told_before_anything_heavy_is_loaded(tmp_path):
    code = (
        "import sys; from dynmeans.cli.__main__ import main; "
        f"assert main(['events', {str(tmp_path / 'none')!r}]) == 1; "
        "assert not {'numpy', 'pyarrow', 'duckdb'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "is not a run folder: it does not exist" in done.stderr


def test_output_that_nobody_reads_to_its_end_is_no_failure(finished):
    command = [sys.executable, "-m", "dynmeans.cli", "events", str(finished), "-k", "moved"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_folder_that_cannot_become_a_run_is_refused_before_rows_are_read(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    words = ["cluster", "no such rows.csv", "-f", "x", "--rows-per-window", "5"]
    assert main([*words, "-o", str(tmp_path / "mine")]) == 1
    assert "is not a run, and holds other files" in capsys.readouterr().err


def test_a_report_without_a_folder_is_refused_before_the_run_is_read(finished, capsys):
    begin = time.monotonic()
    assert main(["report", str(finished), "-o", "no/such/report.html"]) == 1
    assert "must be in an existing folder" in capsys.readouterr().err
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_ctrl_c_says_what_is_safe_and_how_to_resume(tmp_path, capsys, monkeypatch, more):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClusterJob, "open_source", interrupted)
    words = ["cluster", "rows.csv", "-f", "x", "--rows-per-window", "5", "--new-penalty", "1"]
    assert main([*words, *more, "-o", str(tmp_path / "run")]) == 130
    again = "run it again without --overwrite." if more else "run it again."
    assert capsys.readouterr().err.endswith(f"(see dynmeans status). To resume, {again}\n")


def test_every_choice_that_is_tried_is_logged(caplog):
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0)
    batches = [places + rng.normal(scale=0.3, size=places.shape) for _ in range(6)]
    with caplog.at_level(logging.INFO, logger="dynmeans.parameters.trials"):
        suggest(batches)
    assert [record.args[0] for record in caplog.records] == list(range(1, len(caplog.records) + 1))
    assert len(caplog.records) > 5


def n_windows(folder):
    if not (folder / "run.sqlite").exists():
        return 0
    with Run.open(folder) as run:
        return run.status().n_windows


def test_ctrl_c_keeps_what_was_committed(tmp_path):
    run = tmp_path / "run"
    words = f"cluster - -t t --every 1 -f x --new-penalty 1 -o {run}".split()
    lines = b"".join(b'{"t": %d, "x": 1.0}\n' % second for second in range(50))
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-m", "dynmeans.cli", *words], **pipes) as process:
        process.stdin.write(lines)
        process.stdin.flush()
        end = time.monotonic() + 60
        while n_windows(run) == 0 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert "interrupted; committed windows are safe" in told
    assert n_windows(run) > 0
