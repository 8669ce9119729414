"""A slice of `make attack`: a moment of each target, and the harness itself."""

import json

import pytest
from attack import __main__ as attack
from attack import campaign
from attack.targets import TARGETS, Target

# Those that start processes of their own are for `make attack`.
QUICK = [name for name in TARGETS if name not in ("kills", "dask", "spark")]


@pytest.mark.parametrize("name", QUICK)
def test_a_moment_of_each_target_is_held(name, tmp_path):
    outcome = campaign.run_slice(name, seed=0, first_case=0, seconds=1.0)
    assert outcome.failures == []
    assert outcome.n_tried > 0


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
        "    time.sleep(0.05)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TARGETS, "weak", Target("weak_target", 1.0, 1.0))
    return "weak"


def test_failures_hangs_and_crashes_are_counted_and_survived(weak, tmp_path):
    code = attack.main(
        ["--target", weak, "--minutes", "0.04", "--rounds", "1", "--journal", str(tmp_path / "j")]
    )
    assert code == 1
    lines = (tmp_path / "j" / "failures.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert [(failure["case"], failure["summary"]) for failure in found] == [
        (3, "AssertionError: not held"),
        (5, "no end within 1 seconds"),
        (7, "the process died of SIGKILL"),
    ]


def test_the_next_run_goes_on_where_the_last_one_stopped(weak, tmp_path):
    words = [
        "--target",
        weak,
        "--minutes",
        "0.04",
        "--rounds",
        "1",
        "--journal",
        str(tmp_path / "j"),
    ]
    attack.main(words)
    journal = tmp_path / "j" / "journal-0.json"
    first = json.loads(journal.read_text())[weak]
    attack.main(words)
    second = json.loads(journal.read_text())[weak]
    assert second["next_case"] > first["next_case"]
    assert second["failed"] == first["failed"] == 3
