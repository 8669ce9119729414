"""Compilers and processors: whoever compiles the engine, and for whichever, gives the same bits."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    ROOT / "tests" / "native" / "streams.cpp",
    *(ROOT / "native" / "engine").glob("*.cpp"),
    *(ROOT / "native" / "moves").glob("*.cpp"),
    *(ROOT / "native" / "passes").glob("*.cpp"),
)
# gcc tells at the end of a file, where numeric/compilers.hpp cannot say no, how wide vectors pass.
FLAGS = ("-std=c++17", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-Wno-psabi")
FLAGS += ("-Inative",)
ZIG = (sys.executable, "-m", "ziglang", "c++")
# Compiler, and what runs the program it makes.
RUNNABLE = {
    "clang": (("clang++", "-pthread"), ()),
    "clang for AVX2": (("clang++", "-pthread", "-mavx2"), ()),
    "without vectors of the compiler": (("clang++", "-pthread", "-DDYNMEANS_PLAIN_LANES"), ()),
    "gcc for ARM": (("aarch64-linux-gnu-g++", "-static", "-pthread"), ("qemu-aarch64",)),
    "zig for ARM": ((*ZIG, "-target", "aarch64-linux-musl"), ("qemu-aarch64",)),
}
COMPILED_ONLY = ["x86_64-macos", "aarch64-macos", "x86_64-windows-gnu", "aarch64-linux-gnu.2.28"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bits_of_gcc(tmp_path_factory):
    lines = _printed(("g++", "-pthread"), (), tmp_path_factory.mktemp("gcc"))
    assert len(lines) == 96
    return lines


@pytest.mark.parametrize("name", RUNNABLE)
def test_other_compilers_and_processors_give_the_bits_of_gcc(name, bits_of_gcc, tmp_path):
    assert _printed(*RUNNABLE[name], tmp_path) == bits_of_gcc


@pytest.mark.parametrize("target", COMPILED_ONLY)
def test_zig_compiles_the_engine_for_systems_that_are_not_here(target, tmp_path):
    assert _built((*ZIG, "-target", target), tmp_path).stat().st_size > 100_000


def _printed(compiler, runner, folder):
    _need(*runner)
    return subprocess.check_output([*runner, _built(compiler, folder)], text=True).splitlines()


def _built(compiler, folder):
    _need(compiler[0])
    program = folder / "streams"
    subprocess.run([*compiler, *FLAGS, *SOURCES, "-o", program], cwd=ROOT, check=True)
    return program


def _need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} not installed: make system-deps system-deps-arm")
        if program == sys.executable and find_spec("ziglang") is None:
            pytest.skip("ziglang not installed: make platforms")
