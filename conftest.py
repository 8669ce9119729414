"""The README's examples run in a folder of their own; the last lines say what was skipped."""

import re
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

_SOURCE = Path(__file__).parent / "src" / "dynmeans"
# What `make system-deps compilers` cannot bring: with --no-skips these alone may skip a test.
ALLOWED_SKIPS = (
    r"No module named '(cupy|torch|jax)'",  # packages for a GPU
    r"No module named '(norfair|trackers|trackpy|bertopic)'",  # no dependencies of ours
    r"beside this checkout",  # data that are not in the repository
    r"systemd is not installed",  # it does not run in a container
    r"no right to mount a small tmpfs",
)


def _without(package: str, pattern: str, words: str) -> list[str]:
    """Modules that need a package which is not installed, and are not searched for examples."""
    if find_spec(package):
        return []
    return [str(path) for path in _SOURCE.glob(pattern) if re.search(words, path.read_text())]


collect_ignore = [
    *_without("cupy", "engine/gpu/*.py", "import cupy|gpu.kernels import"),
    *_without("anywidget", "cluster_function/*.py", "(?m)^import anywidget"),
]


@pytest.fixture(autouse=True)
def _readme_in_its_own_folder(request, monkeypatch, tmp_path):
    if request.path.name == "README.md":
        monkeypatch.chdir(tmp_path)


def pytest_terminal_summary(terminalreporter):
    """Count what was skipped by its reason, and what was not searched for examples."""
    if n := len(collect_ignore):
        terminalreporter.line(f"{n} modules not searched without CuPy or anywidget", yellow=True)
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason}", yellow=True)
    if reasons:
        terminalreporter.line("make system-deps compilers adds missing programs.", yellow=True)


def pytest_addoption(parser):
    """Let a run in which everything should be installed fail if something was skipped."""
    parser.addoption(
        "--no-skips", action="store_true", help="fail if a test is skipped without need"
    )


def find_needless_skips(reasons):
    """Return the reasons that are not in `ALLOWED_SKIPS`."""
    return [one for one in reasons if not any(re.search(rule, one) for rule in ALLOWED_SKIPS)]


def pytest_sessionfinish(session):
    """Fail after skipped tests, if asked to."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not session.config.getoption("--no-skips") or reporter is None:
        return
    reasons = [report.longrepr[2] for report in reporter.stats.get("skipped", [])]
    if find_needless_skips(reasons):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
