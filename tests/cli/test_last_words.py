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
from dynmeans.cli.resuming import last_words, stamp_of_old_run
from dynmeans.parameters.suggest import suggest_details
from dynmeans.runs.cluster_job import ClusterJob
from dynmeans.runs.configuration import RunConfig


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
    words = ["cluster", "no such rows.csv", "-f", "x", "--count", "5"]
    assert main([*words, "-o", str(tmp_path / "mine")]) == 1
    assert "is not a run, and holds other files" in capsys.readouterr().err


def test_a_report_without_a_folder_is_refused_before_the_run_is_read(finished, capsys):
    begin = time.monotonic()
    assert main(["report", str(finished), "-o", "no/such/report.html"]) == 1
    assert "must lie in a folder that exists" in capsys.readouterr().err
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize("given", [["-o", "{}"], ["--out={}"], ["--out", "{}"], ["-o{}"]])
def test_the_last_words_say_what_is_safe_and_how_to_resume(finished, given):
    words = ["cluster", "my rows.csv", "--overwrite", *(w.format(finished) for w in given)]
    told = last_words(words)
    assert "Safe: 30 windows, " in told
    assert "To resume: dynmeans cluster 'my rows.csv' " in told
    assert "--overwrite" not in told


def test_an_old_run_that_was_not_replaced_yet_is_not_called_safe(finished):
    words = ["cluster", "rows.csv", "--overwrite", "-o", str(finished)]
    told = last_words(words, stamp_of_old_run(words))
    assert told.startswith("interrupted before the first window was stored; the old run in ")
    assert told.endswith(f"is as it was. To start: dynmeans {' '.join(words)}")


def test_ctrl_c_before_an_old_run_is_replaced_says_that_it_is_as_it_was(
    finished, capsys, monkeypatch
):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClusterJob, "open_source", interrupted)
    words = ["cluster", "rows.csv", "-f", "x", "--count", "5", "--new-penalty", "1"]
    assert main([*words, "--overwrite", "-o", str(finished)]) == 130
    assert "is as it was. To start: " in capsys.readouterr().err


def test_a_stream_stopped_before_its_first_window_keeps_its_messages_and_says_so(tmp_path):
    with Run.create(tmp_path / "run", RunConfig(("x",))):
        pass
    told = last_words(["cluster", "mqtt://host/rows", "-o", str(tmp_path / "run")])
    assert "messages received from a stream are kept. To resume: dynmeans cluster mqtt" in told
    assert "nothing" not in told


def test_every_choice_that_is_tried_is_logged(caplog):
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [4.0, 4.0]], 20, axis=0)
    batches = [places + rng.normal(scale=0.3, size=places.shape) for _ in range(6)]
    with caplog.at_level(logging.INFO, logger="dynmeans.parameters.trials"):
        suggest_details(batches)
    assert [record.args[0] for record in caplog.records] == list(range(1, len(caplog.records) + 1))
    assert len(caplog.records) > 5


def test_ctrl_c_says_what_is_safe(tmp_path):
    run = tmp_path / "run"
    words = f"cluster - -t t --every 1 -f x --new-penalty 1 -o {run}".split()
    lines = b"".join(b'{"t": %d, "x": 1.0}\n' % second for second in range(50))
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-m", "dynmeans.cli", *words], **pipes) as process:
        process.stdin.write(lines)
        process.stdin.flush()
        end = time.monotonic() + 60
        while "Safe" not in last_words(words) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130
    assert "interrupted. Safe: " in told
    assert f"To resume: dynmeans cluster - -t t --every 1 -f x --new-penalty 1 -o {run}" in told
