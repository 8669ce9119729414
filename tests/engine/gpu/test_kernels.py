"""Kernels compile for old and new cards without one, keep to registers, and were measured."""

import hashlib
import json
import re
from pathlib import Path

import pytest
from nvrtc import compile_kernels, find_compiler, to_assembly

from dynmeans.engine.gpu.sources import FAMILIES, digest, source_of

RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "gpu" / "gpu.json"
WIDTHS = ((1, 2), (2, 15), (2, 0), (8, 0), (0, 0))
CONSTANTS = {
    "rows": [{}],
    "sums": [{"N_BINS": bins, "WIDTH": width} for bins, width in ((3, 2), (8, 32), (1, 8))],
    "grid": [{"D": d} for d in (1, 2, 3)],
    "exact": [{"R": r, "FEW": few} for r, few in WIDTHS],
    "births": [{"R": r, "FEW": few} for r, few in WIDTHS],
    "pairs": [{"R": r, "FEW": few} for r, few in WIDTHS],
    "border": [{"R": r, "FEW": few} for r, few in WIDTHS],
    "filter": [{"KC": kept, "PLAIN": p} for kept in (2, 4, 6, 8, 0) for p in (1, 0)],
}
CASES = [(family, constants) for family in FAMILIES for constants in CONSTANTS[family]]


@pytest.fixture(scope="module")
def compiler():
    library = find_compiler()
    if library is None:
        pytest.skip("needs nvidia-cuda-nvrtc")
    return library


def _options(card, row, constants):
    """As CuPy compiles them."""
    options = [f"--gpu-architecture={card}", "-std=c++17", f"-DROW={row}", "-ftz=true"]
    return options + [f"-D{name}={value}" for name, value in constants.items()]


def _check(compiler, family, constants, row, card, most_bytes=0):
    options = [*_options(card, row, constants), "-Xptxas", "-v"]
    succeeded, log = compile_kernels(compiler, source_of(family), options)
    assert succeeded, log
    spills = re.findall(r"(\d+) bytes spill", log)
    assert spills, "the compiler said nothing of registers"
    assert max(map(int, spills)) <= most_bytes, log


@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_compile_without_spills(compiler, family):
    _check(compiler, family, CONSTANTS[family][0], "double", "sm_90a")


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "filter"])
def test_no_coordinate_below_the_normal_floats_is_taken_for_zero(compiler, family):
    """The filter may: its bound on the error has room for it."""
    for constants in CONSTANTS[family]:
        options = _options("compute_90", "float", constants)
        assembly = to_assembly(compiler, source_of(family), options)
        assert "cvt.ftz.f64.f32" not in assembly
        assert "cvt.f64.f32" in assembly


@pytest.mark.slow
@pytest.mark.parametrize(("card", "most_bytes"), [("sm_80", 8), ("sm_90a", 0)])
@pytest.mark.parametrize("row", ["float", "double"])
@pytest.mark.parametrize(("family", "constants"), CASES, ids=str)
def test_every_kernel_keeps_to_registers_on_new_cards_and_all_but_two_on_old_ones(
    compiler, family, constants, row, card, most_bytes
):
    _check(compiler, family, constants, row, card, most_bytes)


def test_every_bit_was_equal_where_results_were_measured():
    results = json.loads(RESULTS.read_text())
    assert results["commit"]
    assert results["card"]
    steps = [case["step"] for case in results.values() if isinstance(case, dict) and "step" in case]
    assert steps
    assert all(step["bits_equal"] for step in steps)


def test_results_were_measured_with_these_kernels():
    measured = json.loads(RESULTS.read_text())["kernels"]
    if measured != digest():
        pytest.skip(
            "the kernels are newer than benchmarks/results/gpu/gpu.json: run pytest -m gpu and "
            "python -m benchmarks.gpu.kernels on a machine with a GPU"
        )


def test_the_digest_names_the_source():
    whole = "".join(map(source_of, FAMILIES))
    assert digest() == hashlib.sha256(whole.encode()).hexdigest()[:16]
