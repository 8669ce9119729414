"""The queue of due dates by itself: who is due comes out, and nobody else does."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_queue_gives_those_who_are_due_however_little_the_clock_went_on(tmp_path):
    compiler, program = shutil.which("c++"), tmp_path / "radix_heap"
    if compiler is None:
        pytest.skip("no C++ compiler")
    source = ROOT / "tests" / "native" / "radix_heap.cpp"
    command = [compiler, "-std=c++17", "-O1", f"-I{ROOT / 'native'}", source, "-o", program]
    subprocess.run(command, check=True)
    n_wrong = subprocess.check_output([program], text=True)
    assert n_wrong == "0\n"
