"""SIGTERM: the command ends by itself, and what was complete is committed."""

import json
import signal
import subprocess
import sys
import time

from dynmeans import Run


def test_a_command_that_waits_for_rows_ends_at_once_and_resumes(tmp_path):
    options = ["-f", "x", "-t", "t", "--every", "10", "--new-penalty", "1", "--json"]
    command = [sys.executable, "-m", "dynmeans.cli", "cluster", "-", *options]
    command += ["-o", str(tmp_path / "run")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    lines = [json.dumps({"t": t, "x": 0.01 * t}) + "\n" for t in range(0, 60, 2)]
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.writelines(lines[:13])  # two windows, and a part of the third
        process.stdin.flush()
        database, end = tmp_path / "run" / "run.sqlite", time.monotonic() + 120
        while time.monotonic() < end:
            if database.exists():
                with Run.open(tmp_path / "run") as run:
                    if run.status().n_windows == 2:
                        break
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert json.loads(told)["is_stopped"]
    assert json.loads(told)["n_windows"] == 2
    again = subprocess.run(
        command, input="".join(lines), capture_output=True, text=True, check=True
    )
    assert json.loads(again.stdout)["n_rows"] == 30
