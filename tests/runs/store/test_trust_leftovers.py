"""What killed processes leave behind is swept; what living ones hold is not."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import pyarrow as pa
import pytest

from dynmeans.files.atomic_write import atomic_write
from dynmeans.files.stale_files import hold
from dynmeans.runs.reading.sources.source import Source

KILLED = """
import os, signal, tempfile
import pyarrow as pa
from dynmeans.files.atomic_write import atomic_write
from dynmeans.runs.reading.sources.source import Source
tempfile.tempdir = {folder!r}
source = Source(pa.table({{"x": [1.0]}}))
with atomic_write({path!r}) as temporary:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def age(path):
    an_hour_ago = time.time() - 3600
    os.utime(path, (an_hour_ago, an_hour_ago))


def test_temporary_files_of_a_killed_process_are_swept_by_the_next(folder):
    path = folder / "out.csv"
    program = KILLED.format(folder=str(folder), path=str(path))
    assert (
        subprocess.run([sys.executable, "-c", program], check=False).returncode == -signal.SIGKILL
    )
    left = sorted(folder.iterdir())
    assert len(left) == 2
    for item in left:
        age(item)
    with atomic_write(path) as temporary, Source(pa.table({"x": [1.0]})):
        open(temporary, "w").close()
    assert sorted(folder.iterdir()) == [path]


def test_temporary_files_in_use_are_left_alone(folder):
    mine = folder / ".out.csv.0123abcd"
    mine.write_text("half of it")
    handle = hold(mine)
    age(mine)
    with atomic_write(folder / "out.csv") as temporary:
        open(temporary, "w").close()
    assert mine.exists()
    os.close(handle)


def test_files_of_other_names_are_never_swept(folder):
    others = [folder / name for name in (".out.csv.bak", ".other.csv.0123abcd", "dynmeans-notes")]
    for other in others:
        other.write_text("precious")
        age(other)
    with atomic_write(folder / "out.csv") as temporary, Source(pa.table({"x": [1.0]})):
        open(temporary, "w").close()
    assert all(other.exists() for other in others)
