"""JSON lines as a live source sends them: batches, or a refusal that names the line."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans.runs.reading.live_windows import LiveWindows
from dynmeans.runs.reading.window import WindowOptions

_MAX_BATCHES = 10_000


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a few lines and the options to read them with."""
    yield _attack


def _attack(rng: random.Random) -> None:
    lines = [_line(rng) for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.3:
        place = rng.randrange(len(lines))
        lines[place] = damaged(lines[place], rng, lines)
    is_refused, options = refused(lambda: WindowOptions(**_options(rng)))
    if is_refused:
        return
    is_refused, found = refused(lambda: _read(lines, options))
    if not is_refused and found > len(lines):
        raise AssertionError(f"{found} rows from {len(lines)} lines")


def _read(lines: list[bytes], options: WindowOptions) -> int:
    n_rows = 0
    for number, batch in enumerate(LiveWindows(lines, options)):
        if number > _MAX_BATCHES:
            raise AssertionError("more batches than a few lines can make")
        n_rows += len(batch.points)
    return n_rows


def _options(rng: random.Random) -> dict[str, Any]:
    cut = rng.choice(
        [
            {"time": "t", "every": rng.choice(["1", "10", "1e-12", "1min", "1d", "1mo", "0.5"])},
            {"time": "t", "every": rng.choice(["1s", "1h"]), "time_unit": rng.choice(["s", "ms"])},
            {"rows_per_window": rng.randint(1, 3)},
            {"window_column": "b"},
        ]
    )
    extra = {
        "allowed_lateness": rng.choice(["0", "5", "5s"]),
        "on_late": rng.choice(["error", "drop"]),
        "on_missing": rng.choice(["error", "drop"]),
    }
    others = {name: rng.choice([None, name[0]]) for name in ("weight", "id", "truth")}
    return {"features": ("x",), **cut, **{k: v for k, v in others.items() if v}, **extra}


def _line(rng: random.Random) -> bytes:
    record: dict[str, Any] = {"t": rng.randint(0, 60), "x": rng.uniform(0, 9), "b": 1, "w": 1}
    record |= {"i": rng.randrange(9), "t": rng.choice([rng.randint(0, 60), "2024-03-01T00:00:05"])}
    if rng.random() < 0.5:
        record[rng.choice(list(record))] = _value(rng)
    if rng.random() < 0.1:
        record.pop(rng.choice(list(record)))
    if rng.random() < 0.05:
        return rng.choice(
            [
                b"[" * 5000 + b"]" * 5000,
                b"[]",
                b"7",
                b"",
                b"\xff\xfe",
                b'{"t": 1' + b"0" * 5000 + b"}",
            ]
        )
    return json.dumps(record).encode()


def _value(rng: random.Random) -> Any:
    pool = rng.choice([TEXTS, INTEGERS, FLOATS, (None, True, [], {}, [[]]), _TIMES])
    return rng.choice(pool)


_TIMES = (
    "9999-12-31T23:59:59", "0001-01-01", "2024-02-30", "2024-03-01T00:00:05+14:00", "24:00",
    "2024-03-31T02:30:00", 1e18, 10**30, -1e18, 253402300800, 1.7e12,
)  # fmt: skip
