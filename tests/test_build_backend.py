"""The build backend prints its progress where a person can see it."""

import os
import subprocess
import sys
from pathlib import Path

_BACKEND = Path(__file__).parents[1] / "tools" / "build_backend"
_BUILD = """
import os, sys, time
if terminal := sys.argv[2:]:
    os.open(terminal[0], os.O_RDWR)  # the first one that a session opens controls it
sys.path.insert(0, sys.argv[1])
import dynmeans_build
dynmeans_build.SECONDS_BETWEEN_LINES = 0.05
with dynmeans_build.progress_on_terminal():
    time.sleep(0.3)
"""
_STAGES = ("building the compiled engine, 0 s", "compiling C++", "built")


def _run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", _BUILD, _BACKEND, *arguments],
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
    )


def test_stages_and_seconds_are_printed_to_the_terminal():
    shown, terminal = os.openpty()
    done = _run(os.ttyname(terminal))
    lines = os.read(shown, 10_000).decode()
    assert all(stage in lines for stage in _STAGES)
    assert done.stderr == ""


def test_without_a_terminal_they_are_printed_to_standard_error():
    assert all(stage in _run().stderr for stage in _STAGES)
