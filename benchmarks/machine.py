"""What a measurement depends on, the machine and the versions, and the file it goes to."""

import hashlib
import json
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.engine.compiled import INSTRUCTION_SET, compiled

RESULTS = Path(__file__).parent / "results"
# What the figures depend on, besides data and versions.
_CODE = ("src", "native", "benchmarks", ":!benchmarks/results", ":!benchmarks/pages")
_PACKAGES = ("dynmeans", "numpy", "scipy", "scikit-learn")


def describe_machine() -> dict[str, Any]:
    """Return processor, cores, instruction set, load, and the versions of what computes."""
    return {
        "processor": processor_name(),
        "n_cores": n_cores(),
        "instruction_set": INSTRUCTION_SET,
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


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    sha256 = hashlib.sha256(Path(compiled.__file__).read_bytes()).hexdigest()[:12]
    return {**describe_machine(), "compiled_sha256": sha256, "commit": commit()}


def commit() -> str | None:
    """Return the commit of the code that is measured; None outside of a repository."""
    command = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True)
    return found.stdout.strip() or None


@cache
def is_unchanged_since(begin: str | None) -> bool:
    """Whether the code of a commit is what runs now: what it measured need not be repeated."""
    if begin is None:
        return False
    command = ["git", "-C", str(RESULTS.parents[1]), "diff", "--quiet", begin, "--", *_CODE]
    return begin == commit() or subprocess.run(command, capture_output=True).returncode == 0


def write_results(name: str, results: dict[str, Any], folder: Path = RESULTS) -> None:
    """Write <folder>/<name>.json."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(_rounded(results), indent=1) + "\n")
    print(f"written: {path.relative_to(folder.parents[1])}")


def _rounded(value: Any) -> Any:
    """Keep four digits of every number: more is noise."""
    if isinstance(value, dict):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.4g}")
    return int(value) if isinstance(value, np.integer) else value
