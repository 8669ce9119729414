"""The report of results files that were measured before the engine last changed."""

import json
import shutil

import pytest

from benchmarks.pages.age import git, report

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@pytest.fixture
def repository(tmp_path):
    """A repository with a results file that names the commit of its engine."""
    git(tmp_path, "init", "-q")
    change(tmp_path, "native/step.cpp")
    results = tmp_path / "benchmarks" / "results" / "quality" / "tune.json"
    results.parent.mkdir(parents=True)
    head = git(tmp_path, "rev-parse", "--short", "HEAD")
    results.write_text(json.dumps({"machine": {"commit": head}}))
    return tmp_path


def change(root, name, text="a change"):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    git(root, "add", "-A")
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    assert git(root, *who, "commit", "-q", "-m", f"{name}: {text}") is not None


def test_a_file_measured_on_the_present_engine_is_not_named(repository):
    change(repository, "src/dynmeans/cli/app.py")
    change(repository, "src/dynmeans/engine/gpu/backend.py")
    assert report(repository) == "no results file is older than the engine"


@pytest.mark.parametrize("name", ["native/step.cpp", "src/dynmeans/engine/step.py"])
def test_a_file_measured_before_a_change_to_the_engine_is_named(repository, name):
    change(repository, name, "another change")
    assert report(repository).endswith("since: tune (1)")


def test_a_file_that_names_no_commit_is_as_old_as_its_own(repository):
    change(repository, "benchmarks/results/gpu/gpu.json", "[1]")
    assert "older" not in report(repository).removeprefix("no results file is older")
    change(repository, "src/dynmeans/engine/gpu/backend.py")
    assert report(repository).endswith("since: gpu (1)")
