"""The README's examples run in a folder of their own; the last lines say what was skipped."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

# Modules that need CuPy are not searched for examples where it is not installed.
collect_ignore = (
    []
    if find_spec("cupy")
    else [
        str(path)
        for path in Path(__file__).parent.glob("src/dynmeans/engine/gpu/*.py")
        if "import cupy" in path.read_text() or "gpu.kernels import" in path.read_text()
    ]
)


@pytest.fixture(autouse=True)
def _readme_in_its_own_folder(request, monkeypatch, tmp_path):
    if request.path.name == "README.md":
        monkeypatch.chdir(tmp_path)


def pytest_terminal_summary(terminalreporter):
    """Count what was skipped by its reason."""
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason}", yellow=True)
