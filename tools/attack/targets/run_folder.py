"""Run folders with a damaged file: what is read is what was written, or is refused in one line."""

import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attack.held import refused
from attack.mutate import damaged
from attack.targets import Case
from dynmeans import Run

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "runs"))
import run_cases


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make one run; a case damages a file of a copy of it."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        table, original = Path(folder) / "table.parquet", Path(folder) / "original"
        run_cases.moving_table(12, n_rows=6).to_parquet(table, index=False)
        run_cases.follow(table, original, commit_seconds=0.0)
        expected, copy = _contents(original), Path(folder) / "copy"
        files = sorted(path.relative_to(original) for path in original.rglob("*") if path.is_file())
        data = {path: (original / path).read_bytes() for path in files}
        shutil.copytree(original, copy)

        def attack(rng: random.Random) -> None:
            path = rng.choice(files)
            wounded = damaged(data[path], rng, [])
            if rng.random() < 0.03:
                (copy / path).unlink()
            else:
                (copy / path).write_bytes(wounded)
            try:
                _read(copy, expected)
            finally:
                _restore(copy, original, data)

        yield attack


def _read(copy: Path, expected: dict[str, Any]) -> None:
    for name, part in _PARTS.items():
        is_refused, found = refused(lambda: _open(copy, part), ValueError, FileNotFoundError)  # noqa: B023
        if not is_refused and found != expected[name]:
            raise AssertionError(f"{name} of a damaged run are read as something else")


def _restore(copy: Path, original: Path, data: dict[Path, bytes]) -> None:
    for path in list(copy.rglob("*")):
        if path.is_file() and path.relative_to(copy) not in data:
            path.unlink()
    for path, content in data.items():
        target = copy / path
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _open(folder: Path, part: Any) -> Any:
    with Run.open(folder) as run:
        return part(run)


def _contents(folder: Path) -> dict[str, Any]:
    return {name: _open(folder, part) for name, part in _PARTS.items()}


_PARTS = {
    "labels": lambda run: run.labels(frame="arrow").to_pydict(),
    "clusters": lambda run: repr(run.clusters(frame="arrow").to_pydict()),
    "events": lambda run: repr(run.events(frame="arrow").to_pydict()),
    "state": lambda run: repr([getattr(run.state, n).tolist() for n in ("ids", "centers", "ages")]),
    "position": lambda run: repr(run.position),
}
