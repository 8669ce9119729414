"""What is installed and run to build and test this package is fixed, and named in one place."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements/*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def name_of(requirement):
    return re.match(r"[A-Za-z0-9-]+", requirement)[0].lower()


def locked_names(lock):
    return {name_of(line) for line in lock.read_text().splitlines() if re.match(r"\w", line)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_locked_package_has_one_version_and_hashes(lock):
    packages = lock.read_text().replace("\\\n", " ").splitlines()
    packages = [line for line in packages if not line.startswith("#")]
    assert packages
    for line in packages:
        assert re.match(r"[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", line), line


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_locks_do_not_say_where_packages_were_downloaded(lock):
    assert not re.search(r"://|index-url|find-links|@ ", lock.read_text())


@pytest.mark.parametrize(("lock", "extra"), [("demo", "runs"), ("dev", "dev"), ("docs", "docs")])
def test_the_lock_has_what_its_extra_asks_for(lock, extra):
    extras = PROJECT["project"]["optional-dependencies"]
    asked = {name_of(requirement) for requirement in extras[extra]} - {"dynmeans"}
    assert asked <= locked_names(ROOT / f"requirements/{lock}.txt"), "run make lock"


def test_the_oldest_lock_has_the_oldest_versions_that_users_may_have():
    lock = (ROOT / "requirements/oldest.txt").read_text()
    extras = PROJECT["project"]["optional-dependencies"]
    names = ("frames", "plots", "runs", "redis", "kafka", "mqtt", "serve", "dask", "spark")
    asked = [*PROJECT["project"]["dependencies"], *(r for name in names for r in extras[name])]
    for requirement in asked:
        found = re.fullmatch(r"([a-z-]+)(?:\[[a-z,]+\])?>=([0-9.]+)", requirement)
        if name_of(requirement) != "dynmeans":
            assert found, requirement
            assert re.search(rf"^{found[1]}=={re.escape(found[2])}(\.\d+)* ", lock, re.M), (
                requirement
            )


def test_builds_in_the_environment_have_what_isolated_builds_have():
    lines = (ROOT / "requirements/build.in").read_text().splitlines()
    assert set(PROJECT["build-system"]["requires"]) <= set(lines)


@pytest.mark.parametrize("lock", ["demo", "dev"])
def test_packages_installed_beside_the_compiler_leave_alone_what_it_uses(lock):
    compiles, runs = ((ROOT / f"requirements/{name}.txt").read_text() for name in ("build", lock))
    pinned = set(re.findall(r"^[a-z].*", compiles, re.MULTILINE))
    assert {name_of(line) for line in pinned} >= {"cmake", "nanobind", "ninja", "numpy"}
    assert pinned <= set(re.findall(r"^[a-z].*", runs, re.MULTILINE)), "run make lock"


def test_workflow_actions_are_pinned_by_commit():
    used = [
        action
        for workflow in ROOT.glob(".github/workflows/*.yml")
        for action in re.findall(r"uses: (.*)", workflow.read_text())
    ]
    assert used
    for action in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_no_test_installs_system_packages():
    installer = "apt" + "-get"
    for path in (ROOT / "tests").rglob("*.py"):
        assert installer not in path.read_text(), f"{path} installs packages; use make system-deps"
