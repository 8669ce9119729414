"""Run folders with a damaged file: what is read is what was written, or is refused in one line."""

import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import Run
from dynmeans.runs.analysis.run_families import families_of_run
from dynmeans.runs.store.dead_letters import dead_letter
from dynmeans.runs.store.sink_offsets import commit_offset, next_unsent_step

sys.path.insert(0, str(Path(__file__).parents[3] / "tests" / "support"))
import run_cases

# A hint for the estimate of time left, and what only MQTT keeps for itself: without digests.
_WITHOUT_DIGEST = ("pace", "packets", "inbox_end")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make one run; a case damages a file of a copy of it, or a table."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        table, original = Path(folder) / "table.parquet", Path(folder) / "original"
        run_cases.moving_table(12, n_rows=6).to_parquet(table, index=False)
        run_cases.follow(table, original, commit_seconds=0.0)
        _add_to(original)
        expected, copy = _contents(original), Path(folder) / "copy"
        files = sorted(path.relative_to(original) for path in original.rglob("*") if path.is_file())
        data = {path: (original / path).read_bytes() for path in files}
        shutil.copytree(original, copy)

        def attack(rng: random.Random) -> None:
            try:
                if name == "run-tables":
                    _change_table(copy / "run.sqlite", rng)
                    _check_verified(copy, expected)
                else:
                    _damage(copy, data, rng)
                    _read(copy, expected)
            finally:
                _restore(copy, data)

        yield attack


def _add_to(folder: Path) -> None:
    """Put names, a merger, letters and what was sent into the run."""
    with Run.open(folder) as run:
        run.name_cluster(0, "TUG 17")
        run.merge_clusters(1, 2)
        run.pin_cluster(0)
        run.lock()
        run.store_dead_letters(run.position or {}, [dead_letter("line 3", "no row", b"{")] * 2)
        commit_offset(run.store, "events a", 3)
        commit_offset(run.store, "labels b", 12)


def _damage(copy: Path, data: dict[Path, bytes], rng: random.Random) -> None:
    path = rng.choice(list(data))
    if rng.random() < 0.03:
        (copy / path).unlink()
    else:
        (copy / path).write_bytes(damaged(data[path], rng, []))


def _change_table(path: Path, rng: random.Random) -> None:
    """Change a table by SQL, as a hand or another program would; digests stay as they are."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        names = sorted(row[0] for row in found if row[0] not in _WITHOUT_DIGEST)
        table = rng.choice(names)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        (n_rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
        way = rng.choice(["cell", "cell", "cell", "row", "swap", "table", "drop"])
        row, key = rng.randrange(max(n_rows, 1)), f'"{columns[0]}"'
        where = f"WHERE {key} = (SELECT {key} FROM {table} LIMIT 1 OFFSET {row})"
        database.execute("PRAGMA ignore_check_constraints = ON")
        try:
            if way == "cell":
                sql = f'UPDATE OR REPLACE {table} SET "{rng.choice(columns)}" = ? {where}'
                database.execute(sql, (_cell(rng),))
            elif way == "row":
                database.execute(f"DELETE FROM {table} {where}")
            elif way == "swap":
                column = f'"{rng.choice(columns)}"'
                other = (
                    f"(SELECT {column} FROM {table} LIMIT 1 OFFSET {rng.randrange(n_rows or 1)})"
                )
                database.execute(f"UPDATE OR REPLACE {table} SET {column} = {other} {where}")
            else:
                database.execute(f"{'DELETE FROM' if way == 'table' else 'DROP TABLE'} {table}")
        except (sqlite3.IntegrityError, OverflowError):
            pass  # not a change that SQL allows


def _cell(rng: random.Random) -> Any:
    kind = rng.choice(["number", "float", "text", "blob", "none"])
    if kind == "number":
        return rng.choice([value for value in INTEGERS if -(2**63) <= value < 2**63])
    if kind == "float":
        return rng.choice(FLOATS)
    if kind == "text":
        return rng.choice(TEXTS)
    return rng.randbytes(rng.choice((0, 8, 16, 40))) if kind == "blob" else None


def _check_verified(copy: Path, expected: dict[str, Any]) -> None:
    """What verifying accepts is read as it was written; what is read first may be refused."""
    is_refused, _ = refused(lambda: _open(copy, Run.verify), ValueError, FileNotFoundError)
    if is_refused:
        for part in _PARTS.values():
            refused(lambda: _open(copy, part), ValueError, FileNotFoundError)  # noqa: B023
    else:
        _read(copy, expected)


def _read(copy: Path, expected: dict[str, Any]) -> None:
    for name, part in _PARTS.items():
        is_refused, found = refused(lambda: _open(copy, part), ValueError, FileNotFoundError)  # noqa: B023
        if not is_refused and found != expected[name]:
            raise AssertionError(f"{name} of a damaged run are read as something else")


def _restore(copy: Path, data: dict[Path, bytes]) -> None:
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
    "state": lambda run: repr(
        [getattr(run.cluster_state, n).tolist() for n in ("ids", "centers", "ages")]
    ),
    "position": lambda run: repr(run.position),
    "edits": lambda run: repr(run.edits),
    "letters": lambda run: list(run.dead_letters()),
    "families": lambda run: repr(families_of_run(run).to_frame(kind="arrow").to_pydict()),
    "sent": lambda run: [next_unsent_step(run.store, place) for place in ("events a", "labels b")],
    "counts": lambda run: repr(
        [
            getattr(run.status(), n)
            for n in ("n_windows", "n_rows", "n_dead_letters", "first_window")
        ]
    ),
}
