"""A run that is killed, or whose disk is full, resumes to the very result of an unbroken one."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest
import run_cases

from dynmeans import Run
from dynmeans.runs.store import label_files

DRIVER = Path(__file__).parents[1] / "support" / "kill_driver.py"


def killed(table: Path, folder: Path, n_kills: int, mode: str) -> tuple[int, int]:
    """Follow the table with so many kills on the way; return them and the places they hit."""
    command = [sys.executable, str(DRIVER), str(table), str(folder), str(n_kills), "7", mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kills, places = done.stdout.split()
    return int(kills), int(places)


def both_runs(folder: Path, n_windows: int, n_kills: int, mode: str) -> tuple[int, int]:
    """Make the same run unbroken and with kills, and compare all they hold."""
    table = folder / "moving.parquet"
    run_cases.moving_table(n_windows).to_parquet(table, index=False)
    run_cases.follow(table, folder / "unbroken", has_levels=mode == "levels")
    counts = killed(table, folder / "killed", n_kills, mode)
    if mode == "levels":
        run_cases.show_level_of(folder / "killed", folder / "unbroken")
    expected, found = (run_cases.contents(folder / name) for name in ("unbroken", "killed"))
    for part in expected:
        assert found[part] == expected[part], part
    rows = found["labels"]["row_id"]
    assert sorted(rows) == list(range(len(rows)))
    return counts


@pytest.mark.slow
def test_a_run_killed_a_hundred_times_is_the_unbroken_run(quick_path):
    kills, places = both_runs(quick_path, n_windows=1500, n_kills=100, mode="random")
    assert kills >= 100
    assert places >= 20


def test_a_run_killed_a_few_times_is_the_unbroken_run(quick_path):
    kills, places = both_runs(quick_path, n_windows=200, n_kills=6, mode="random")
    assert kills >= 6
    assert places >= 2


def test_kills_leave_levels_that_were_chosen_by_hand(quick_path):
    kills, places = both_runs(quick_path, n_windows=60, n_kills=8, mode="levels")
    assert kills >= 8
    assert places >= 2


@pytest.mark.slow
def test_kills_between_the_parquet_write_and_the_commit_lose_and_repeat_nothing(quick_path):
    kills, places = both_runs(quick_path, n_windows=100, n_kills=20, mode="commit")
    assert kills >= 20
    assert places >= 10


def test_a_part_without_its_commit_is_ignored_and_put_away_on_resume(table, tmp_path, monkeypatch):
    folder = tmp_path / "run"

    class StoppedError(BaseException):
        pass

    def stop(*arguments):
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr("dynmeans.runs.store.store.insert_commit", stop)
        with pytest.raises(StoppedError):
            run_cases.follow(table, folder)
    left = list((folder / label_files.FOLDER).iterdir())
    assert len(left) == 1
    with Run.open(folder) as run:
        assert run.status().n_rows == 0
        assert len(run.labels()) == 0
        run._store.lock_for_writing()
    assert list((folder / label_files.FOLDER).iterdir()) == []


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte; needs the right to mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no right to mount a small tmpfs: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_a_clear_error_and_the_run_resumes_when_there_is_room(table, small_disk):
    folder = small_disk / "run"
    run_cases.follow(table, folder)
    expected = run_cases.contents(folder)
    subprocess.run(["rm", "-r", str(folder)], check=True)
    filler = small_disk / "filler"
    filler.write_bytes(b"0" * 700_000)
    with pytest.raises(OSError, match=r"no space.*run the same command to resume"):
        run_cases.follow(table, folder, commit_seconds=0.0)
    with Run.open(folder) as run:
        reached = run.status().n_windows
        assert len(run.labels()) == run.status().n_rows
    assert 0 < reached < 30
    filler.unlink()
    run_cases.follow(table, folder)
    assert run_cases.contents(folder) == expected


def test_a_file_that_may_not_grow_is_a_clear_error_and_the_run_resumes(table, finished, tmp_path):
    # The log of the database outgrows the limit: as with a quota, and without root.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        with pytest.raises(OSError, match="no space"):
            run_cases.follow(table, tmp_path / "run", commit_seconds=0.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with Run.open(tmp_path / "run") as run:
        assert 0 < run.status().n_windows < 30
    run_cases.follow(table, tmp_path / "run")
    assert run_cases.contents(tmp_path / "run") == run_cases.contents(finished)


@pytest.mark.slow
def test_kills_while_parts_are_joined_lose_and_repeat_nothing(quick_path):
    kills, places = both_runs(quick_path, n_windows=400, n_kills=60, mode="join")
    assert kills >= 25
    assert places >= 10
