"""Runs that are killed over and over: at the end they hold what an unbroken run holds."""

import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attack.targets import Case

_TESTS = Path(__file__).parents[3] / "tests" / "support"
sys.path.insert(0, str(_TESTS))
import run_cases  # noqa: E402


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder on a real disk: what a kill leaves there is what counts."""
    yield _attack


def _attack(rng: random.Random) -> int:
    """Kill a run many times, and compare; return how many kills there were."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        kind = rng.choice(["parquet", "csv"])
        table = folder / f"moving.{kind}"
        frame = run_cases.moving_table(rng.randint(20, 300), seed=rng.randrange(1000))
        if kind == "parquet":
            frame.to_parquet(table, index=False)
        else:
            frame.to_csv(table, index=False)
        mode = rng.choice(["random", "random", "commit", "join", "levels"])
        n_kills = rng.randint(5, 40)
        run_cases.follow(table, folder / "unbroken", has_levels=mode == "levels")
        command = [sys.executable, str(_TESTS / "kill_driver.py"), str(table)]
        command += [str(folder / "killed"), str(n_kills), str(rng.randrange(10**6)), mode]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"a resumed run failed: {done.stderr.strip()[-300:]}")
        if mode == "levels":
            run_cases.show_level_of(folder / "killed", folder / "unbroken")
        expected, found = (run_cases.contents(folder / name) for name in ("unbroken", "killed"))
        for part in expected:
            if found[part] != expected[part]:
                raise AssertionError(f"{part} differ after {n_kills} kills ({mode}, {kind})")
        return int(done.stdout.split()[0])
