"""CSV files as windows and through the command line: rows, or a refusal of one line."""

import contextlib
import io
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans.cli.__main__ import main
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for the file and the run of a case."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        count = iter(range(10**9))
        yield lambda rng: _attack(rng, Path(folder), next(count))


def _attack(rng: random.Random, folder: Path, number: int) -> None:
    path = folder / rng.choice(["rows.csv", "rows.tsv", "r[1].csv", "a b.csv"])
    path.write_bytes(_table(rng))
    if rng.random() < 0.9:
        _attack_windows(rng, path)
    else:
        _attack_command(rng, path, folder / f"run{number}")
    path.unlink()


def _attack_windows(rng: random.Random, path: Path) -> None:
    """Read the windows alone, which is much quicker than a run."""
    cut = rng.choice(
        [
            {"time": "t", "every": rng.choice(["1", "10", "1h", "1e-9", "1d"])},
            {"rows_per_window": 3},
            {"window_column": "b"},
            {"time": "t", "every": "1s", "time_unit": "s"},
        ]
    )
    features = rng.choice([("x",), ("x",), ("x", "y"), ("*",), ("z",)])
    options = WindowOptions(features=features, on_missing=rng.choice(["error", "drop"]), **cut)

    def read() -> int:
        with Source(str(path)) as source:
            windows = islice(Windows(source, options, None), 10_000)
            return sum(len(window.points) for window in windows)

    _, n_rows = refused(read, *REFUSALS)
    if n_rows is not None and n_rows > path.stat().st_size:
        raise AssertionError(f"{n_rows} rows from {path.stat().st_size} bytes")


def _attack_command(rng: random.Random, path: Path, folder: Path) -> None:
    """Cluster the file as a user would."""
    words = ["cluster", str(path), "--new-penalty", rng.choice(["1", "1", "1", "0.5", "-1", "nan"])]
    words += ["--output", str(folder)]
    words += rng.choice(
        [
            ["--time", "t", "--every", rng.choice(["1", "10", "1h", "1e-9", "1d"])],
            ["--rows-per-window", "3"],
            ["--batch", "b"],
            ["--rows-per-window", "2", "--id", "y"],
            ["--time", "t", "--every", "1s", "--time-unit", "s"],
            ["--rows-per-window", "4", "--on-missing", "drop"],
        ]
    )
    words += ["--features", rng.choice(["x", "x", "x,y", "*", "z"])]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    if code not in (0, 1, 2):
        raise AssertionError(f"exit code {code} of {words[3:]}")
    errors = [line for line in err.getvalue().splitlines() if "dynmeans: warning: " not in line]
    if code == 1 and len(errors) != 1:
        raise AssertionError(f"one line of error was expected, got {err.getvalue()!r}")
    shutil.rmtree(folder, ignore_errors=True)


def _table(rng: random.Random) -> bytes:
    names = rng.choice(
        ["t,x,y,b", "t,x,y,b", "t,x,y,b", "t,x,x,b", "t,x,dynmeans row,b", "t;x;y;b"]
    )
    rows = [names]
    for row in range(rng.randint(0, 9)):
        values = [str(row), f"{rng.uniform(0, 9):.3f}", str(rng.randint(0, 5)), str(row // 3)]
        if rng.random() < 0.2:
            wild = str(rng.choice(rng.choice([TEXTS, INTEGERS, FLOATS])))
            values[rng.randrange(4)] = wild
        rows.append(",".join(values))
    data = rng.choice(["\n", "\n", "\r\n"]).join(rows).encode()
    return damaged(data, rng, []) if rng.random() < 0.5 else data
