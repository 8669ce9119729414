"""CPU dispatch: the compiled module for this machine, of several that give the same results.

``make demo`` builds only the module that this machine runs best; a wheel has them all.
"""

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dynmeans import _native_cpu

# From narrow to wide.
INSTRUCTION_SETS = {
    "baseline": "dynmeans._native",
    "avx2": "dynmeans._native_avx2",
    "avx512": "dynmeans._native_avx512",
}


def usable_instruction_sets() -> list[str]:
    """Return the instruction sets that were built and that this machine runs, narrow to wide."""
    names = list(INSTRUCTION_SETS)
    runnable = names[: names.index(_native_cpu.instruction_set()) + 1]
    usable = [name for name in runnable if find_spec(INSTRUCTION_SETS[name])]
    if not usable:
        raise ImportError(
            f"dynmeans was built for other machines: this one runs {' and '.join(runnable)}. "
            "Build it here: pip install --force-reinstall --no-binary dynmeans dynmeans."
        )
    return usable


INSTRUCTION_SET = usable_instruction_sets()[-1]

if TYPE_CHECKING:
    import dynmeans._native as baseline

    compiled = baseline
else:
    compiled = importlib.import_module(INSTRUCTION_SETS[INSTRUCTION_SET])
