"""The compiled module for this machine: one for each instruction set, all of the same results."""

import importlib
from typing import TYPE_CHECKING

import dynmeans._native as baseline

INSTRUCTION_SETS = {
    "baseline": "dynmeans._native",
    "avx2": "dynmeans._native_avx2",
    "avx512": "dynmeans._native_avx512",
}

if TYPE_CHECKING:
    compiled = baseline
else:
    compiled = importlib.import_module(INSTRUCTION_SETS[baseline.instruction_set()])
