"""A process whose children follow a table and are killed: at random moments, or at a chosen one.

Usage: kill_driver.py TABLE FOLDER N_KILLS SEED MODE, with MODE random, commit, join or levels: with
levels somebody shows another level after each kill, which must stay.
"""

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

import run_cases

from dynmeans import Run
from dynmeans.families.levels import LEVELS
from dynmeans.runs.store import compaction, label_files, store


def main(table: Path, folder: Path, n_kills: int, seed: int, mode: str) -> int:
    """Kill until enough is enough, then let one child come to the end.

    Prints how many kills there were, and at how many different places of the run.
    """
    compaction.AT_ONCE = 4  # parts are joined all the time
    if mode == "join":
        label_files.KEPT_SECONDS = -1.0  # and their files removed
    rng = random.Random(seed)
    kills, places, level = 0, set(), None
    while True:
        is_last = kills >= n_kills
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            if not is_last:
                _choose_death(mode, rng)
            seconds = 0.0 if mode == "join" else 2.0 if is_last else rng.choice([0.0, 0.004])
            _follow_and_exit(table, folder, seconds, writer, has_levels=mode == "levels")
        os.close(writer)
        if mode == "random" and not is_last:
            _wait(rng, reader, is_by_progress=kills % 2 == 0)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(reader)
        if os.WIFSIGNALED(status):
            kills += 1
            places.add(_n_batches(folder))
            if mode == "levels":
                level = _choose_level(folder, rng, level)
        elif status != 0 or is_last or mode != "random":
            sys.stdout.write(f"{kills} {len(places)}\n")
            return status


def _wait(rng: random.Random, reader: int, *, is_by_progress: bool) -> None:
    """Wait for a few batches, so that slow machines come forward too, or for some time."""
    if not is_by_progress:
        time.sleep(rng.uniform(0.0, 0.15))
        return
    n_signs = rng.randint(2, 5)
    while n_signs > 0 and (signs := os.read(reader, n_signs)):  # none: it has come to its end
        n_signs -= len(signs)
    time.sleep(rng.uniform(0.0, 0.03))


def _n_batches(folder: Path) -> int:
    if not (folder / "run.sqlite").exists():
        return -1
    with Run.open(folder) as run:
        return run.status().n_windows


def _choose_death(mode: str, rng: random.Random) -> None:
    """Choose where the process is killed, unless that is left to time."""
    if mode == "commit":
        _die_at(store, "insert_commit", rng.randint(1, 4))
    if mode == "join":
        place = rng.choice(
            [
                (store, "_delete_parts"),
                (store.Store, "remove_files"),
                (store, "insert_part"),
                (compaction, "write_compacted_file"),
            ]
        )
        _die_at(*place, rng.randint(1, 3), is_after=rng.random() < 0.5)
    if mode == "levels":
        _die_at(store.Store, "note", rng.randint(1, 6), is_after=rng.random() < 0.5)


def _choose_level(folder: Path, rng: random.Random, before: str | None) -> str | None:
    """Show another level; the one that was chosen before must still be shown."""
    if not (folder / "run.sqlite").exists():
        return None
    with Run.open(folder) as run:
        if run.levels is None:
            return None
        if before not in (None, run.levels.chosen):
            raise AssertionError(f"level {before} was chosen, {run.levels.chosen} is shown")
        level = rng.choice(LEVELS)
        run.choose_level(level)
    return level


def _follow_and_exit(
    table: Path, folder: Path, commit_seconds: float, writer: int, *, has_levels: bool
) -> None:
    code = 1
    try:
        run_cases.follow(
            table,
            folder,
            commit_seconds=commit_seconds,
            has_levels=has_levels,
            on_window=lambda record, batch: os.write(writer, b".") if record.step % 3 == 0 else 0,
        )
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


def _die_at(module: object, name: str, number: int, *, is_after: bool = False) -> None:
    """Stop as by SIGKILL at a function: once labels are on disk and their transaction has begun."""
    work, calls = getattr(module, name), 0

    def work_or_die(*arguments):  # type: ignore[no-untyped-def]
        nonlocal calls
        calls += 1
        if calls == number and not is_after:
            os.kill(os.getpid(), signal.SIGKILL)
        done = work(*arguments)
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(module, name, work_or_die)


if __name__ == "__main__":
    table, folder, n_kills, seed, mode = sys.argv[1:]
    sys.exit(main(Path(table), Path(folder), int(n_kills), int(seed), mode))
