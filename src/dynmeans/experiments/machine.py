"""What a measurement depends on: the machine and the versions."""

import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dynmeans.engine.native import instruction_set

_PACKAGES = ("dynmeans", "numpy", "scipy", "scikit-learn")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, instruction set, load, and the versions of what computes."""
    return {
        "processor": processor_name(),
        "n_cores": n_cores(),
        "instruction_set": instruction_set(),
        "load_average_at_start": round(os.getloadavg()[0], 2),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
    }


def n_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_name() -> str:
    """Return what the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
