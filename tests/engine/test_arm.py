"""ARM: the engine, compiled for another processor and emulated, gives the same bits."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    ROOT / "tests" / "native" / "streams.cpp",
    *(ROOT / "native" / "engine").glob("*.cpp"),
    *(ROOT / "native" / "passes").glob("*.cpp"),
)
NEEDED = ("g++", "aarch64-linux-gnu-g++", "qemu-aarch64")


@pytest.mark.slow
def test_neon_gives_the_bits_of_the_baseline(tmp_path):
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: make system-deps-arm")
    here = subprocess.check_output([_built("g++", tmp_path)], text=True)
    emulated = _built("aarch64-linux-gnu-g++", tmp_path)
    on_arm = subprocess.check_output(["qemu-aarch64", emulated], text=True)
    assert on_arm.splitlines() == here.splitlines()
    assert len(here.splitlines()) == 96


def _built(compiler, folder):
    program = folder / compiler
    flags = ("-std=c++17", "-O2", "-ffp-contract=off", "-static", "-pthread", "-Inative")
    subprocess.run([compiler, *flags, *SOURCES, "-o", program], cwd=ROOT, check=True)
    return program
