"""A slice of `make attack`: a moment of each target, and the harness itself."""

import json
import subprocess
from pathlib import Path

import pytest
from attack import __main__ as attack
from attack import campaign, results
from attack.journal import Journal
from attack.targets import TARGETS, Loaded, Target

# Those that start processes of their own, or need a card, are for `make attack`.
ALONE = {
    "kills", "kills-redis", "kills-kafka", "kills-mqtt", "kills-postgresql", "dask", "dask-borders",
    "spark", "gpu", "gpu-borders", "gpu-sphere", "gpu-threads",
}  # fmt: skip
N_CASES = {
    "state": 300, "mixture": 300, "groups-file": 300, "history": 300, "lines": 500, "times": 500,
    "csv": 5, "other-files": 20, "run-folder": 20, "engine": 30, "shuffles": 50, "groups": 20,
    "bad-frames": 100, "anytime": 30, "server": 60, "run-tables": 10, "edits": 5, "exports": 3,
    "messages": 5, "alerts": 200, "frames": 3, "river": 50, "message-kinds": 50,
    "accelerations": 25, "large-batches": 1,
    "watermarks": 50, "secrets": 300, "memory": 100, "alert-groups": 1, "mixed-zones": 1,
    "positions": 100, "texts": 30, "word-tables": 50, "sphere": 40, "page": 20,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # what is looked for are failures
@pytest.mark.parametrize("name", N_CASES)
def test_a_moment_of_each_target_is_held(name):
    target = Loaded(name)  # in this process: a start of one for each takes longer than its cases
    with target.ready() as attack:
        for case in range(N_CASES[name]):
            attack(target.rng(0, case))


def test_no_target_is_left_out():
    assert {*N_CASES} | ALONE == {*TARGETS}


def test_the_page_of_attacks_names_every_target():
    page = (
        Path(__file__)
        .parents[1]
        .joinpath("benchmarks", "results", "tables", "attacks.md")
        .read_text()
    )
    page = page[: page.index("## The last campaign")]
    assert [name for name in TARGETS if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", sorted(ALONE))
def test_targets_that_are_not_run_here_can_be_imported(name):
    assert callable(Loaded(name).ready)


@pytest.fixture
def weak(monkeypatch, tmp_path):
    """A target that fails in case 3, hangs in case 5 and dies in case 7."""
    (tmp_path / "weak_target.py").write_text(
        "import os, random, signal, time, contextlib\n"
        "CASES = {random.Random(f'0 weak {i}').random(): i for i in range(100)}\n"
        "@contextlib.contextmanager\n"
        "def ready(name):\n"
        "    yield attack\n"
        "def attack(rng):\n"
        "    number = CASES[rng.random()]\n"
        "    if number == 3: raise AssertionError('not held')\n"
        "    if number == 5: time.sleep(60)\n"
        "    if number == 7: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TARGETS, "weak", Target("weak_target", 1.0, 0.5))
    return "weak"


def test_failures_hangs_and_crashes_are_counted_and_survived(weak):
    outcome = campaign.run_slice(weak, seed=0, first_case=0, seconds=600.0, n_cases=9)
    assert [(failure.case, failure.summary) for failure in outcome.failures] == [
        (3, "AssertionError: not held"),
        (5, "no end within 0.5 seconds"),
        (7, "the process died of SIGKILL"),
    ]
    assert (outcome.next_case, outcome.n_tried) == (9, 9)


def test_the_next_run_goes_on_where_the_last_one_stopped(tmp_path):
    first = campaign.Outcome(next_case=5, n_tried=5, failures=[campaign.Failure(3, "not held", "")])
    Journal(tmp_path, seed=0).add("state", first)
    journal = Journal(tmp_path, seed=0)
    assert journal.next_case("state") == 5
    assert Journal(tmp_path, seed=1).next_case("state") == 0
    journal.add("state", campaign.Outcome(next_case=9, n_tried=4))
    assert journal.summary() == "in all: tried 9, failed 1; this run failed 0."
    (line,) = (tmp_path / "failures.jsonl").read_text().splitlines()
    assert json.loads(line)["case"] == 3


def test_a_failure_is_seen_in_the_exit_code(weak, tmp_path, monkeypatch):
    failed = campaign.Outcome(1, 1, failures=[campaign.Failure(0, "not held", "")])
    monkeypatch.setattr(attack, "run_slice", lambda *arguments: failed)
    assert attack.main(["--target", "state", "--journal", str(tmp_path / "journal")]) == 1


def test_journals_become_a_results_file_for_each_target(tmp_path):
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "attacked"]):
        who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True)
    for seed in (0, 1):
        journal = Journal(tmp_path / "journals", seed)
        journal.add("state", campaign.Outcome(next_case=5, n_tried=7))
        journal.add("gpu", campaign.Outcome(next_case=0, note="skipped: no GPU"))
    assert results.write_results(tmp_path / "journals", tmp_path / "results") == ["state"]
    found = json.loads((tmp_path / "results" / "state.json").read_text())
    assert {name: found[name] for name in ("cases", "inputs", "failures")} == {
        "cases": 10,
        "inputs": 14,
        "failures": 0,
    }
    head = subprocess.check_output(
        ["git", "-C", str(tmp_path), "rev-parse", "--short", "HEAD"], text=True
    )
    assert found["commit"] == head.strip()
