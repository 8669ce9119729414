"""The committed module belongs to the sources beside it."""

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version

import pytest
import wasm_module

from dynmeans.engine.wasm import WASM_MODULE

RECORD = json.loads(wasm_module.RECORD.read_text())


def test_the_module_is_the_one_that_was_recorded():
    assert hashlib.sha256(WASM_MODULE.read_bytes()).hexdigest() == RECORD["module"]


def test_the_sources_are_those_of_the_module():
    assert wasm_module.digest_of_sources() == RECORD["sources"], "run make wasm, and commit"


def test_the_locked_compiler_built_the_module():
    locked = (wasm_module.ROOT / "requirements" / "platforms.txt").read_text()
    assert RECORD["compiler"].replace(" ", "==") in locked


def test_the_same_compiler_builds_the_same_bytes(tmp_path):
    try:
        compiler = f"ziglang {version('ziglang')}"
    except PackageNotFoundError:
        pytest.skip("ziglang is not installed: make compilers")
    assert compiler == RECORD["compiler"]
    wasm_module.compile_module(tmp_path / "engine.wasm")
    assert (tmp_path / "engine.wasm").read_bytes() == WASM_MODULE.read_bytes()
