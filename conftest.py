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


def pytest_addoption(parser):
    """Let a run in which everything should be installed fail if something was skipped."""
    parser.addoption("--no-skips", action="store_true", help="fail if a test is skipped")


def pytest_sessionfinish(session):
    """Fail after skipped tests, if asked to."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips") and reporter and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
