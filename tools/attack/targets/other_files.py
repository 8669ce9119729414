"""JSON lines, plain and packed, damaged: rows, or a refusal of one line."""

import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from attack.held import REFUSALS, refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.windows import Windows

NAMES = ("t", "x", "y", "b")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for the file of a case."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield lambda rng: _attack(rng, Path(folder))


def _attack(rng: random.Random, folder: Path) -> None:
    path = folder / f"rows{rng.choice(['.jsonl', '.jsonl.gz'])}"
    _lines(rng, path)
    if rng.random() < 0.7:
        path.write_bytes(damaged(path.read_bytes(), rng, []))
    reading = ReadingOptions(
        decimal=rng.choice([".", ".", ","]),
        encoding=rng.choice(["utf-8", "utf-8", "utf-8", "utf-16", "cp1252"]),
    )
    options = WindowOptions(
        features=rng.choice([("x",), ("x", "y"), ("*",)]),
        on_missing=rng.choice(["error", "drop"]),
        **rng.choice(
            [{"time": "t", "every": "10"}, {"rows_per_window": 3}, {"window_column": "b"}]
        ),
    )

    def read() -> None:
        with Source(str(path), reading=reading) as source:
            for _ in islice(Windows(source, options, None), 1_000):
                pass

    refused(read, *REFUSALS, OSError)  # a packed file that ends early is told as one
    path.unlink()


def _rows(rng: random.Random) -> list[list[object]]:
    rows: list[list[object]] = []
    for row in range(rng.randint(0, 9)):
        values: list[object] = [row, rng.uniform(0, 9), rng.randint(0, 5), row // 3]
        if rng.random() < 0.2:
            values[rng.randrange(4)] = rng.choice([*TEXTS, *INTEGERS, *FLOATS, None])
        rows.append(values)
    return rows


def _lines(rng: random.Random, path: Path) -> None:
    rows = (json.dumps(dict(zip(NAMES, row, strict=True)), default=str) for row in _rows(rng))
    data = "\n".join(rows).encode("utf-8", "surrogatepass")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
