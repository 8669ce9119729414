"""What ``import dynmeans`` costs on top of NumPy, and how large the package is."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from dynmeans.engine import compiled as native

CODE = (
    "import numpy, time; t = time.perf_counter(); import dynmeans; {}print(time.perf_counter() - t)"
)


def milliseconds(extra: str) -> float:
    """Median of several fresh interpreters."""
    times = [
        float(subprocess.check_output([sys.executable, "-c", CODE.format(extra)]))
        for _ in range(11)
    ]
    return float(np.median(times)) * 1e3


def main() -> None:
    """Print the two figures."""
    print(f"import dynmeans: {milliseconds(''):.1f} ms on top of NumPy (to reach: under 100)")
    print(f"  and first use of step: {milliseconds('dynmeans.step; '):.1f} ms")
    folders = {Path(dynmeans_file).parent for dynmeans_file in (native.__file__,)}
    compiled = Path(native.compiled.__file__).parent.glob("_native*.so")
    sources = [f for folder in folders for f in folder.parent.rglob("*.py*") if f.is_file()]
    size = sum(f.stat().st_size for f in [*compiled, *sources] if "__pycache__" not in f.parts)
    print(f"installed size: {size / 1e6:.2f} MB (to reach: under 2)")


if __name__ == "__main__":
    main()
