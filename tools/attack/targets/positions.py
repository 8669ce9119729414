"""The position of a stream: any rows, late, repeated or no rows at all, with any breaks.

The windows, letters, counts and the position at the end are those of one unbroken pass. A break is
a stop, a kill before a commit, or a callback that fails.
"""

import json
import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attack.targets import Case
from attack.targets.messages import Given, Kept
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.stream_windows import StreamWindows

START = 1_700_000_000
Break = tuple[str, int]  # what breaks, and where
Message = tuple[dict[str, Any], int, str]  # fields, name of the row, partition
_FAR = (400, 3 * 10**4, 10**9)


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a stream."""
    yield _attack


def _attack(rng: random.Random) -> None:
    messages = [_message(rng) for _ in range(rng.choice((5, 20, 60, 120)))]
    cut = rng.choice([{"every": "10s"}, {"every": "10s"}, {"rows_per_window": 4}])
    options = WindowOptions(
        ("x",), time="t", time_unit="s", allowed_lateness=rng.choice(["0", "20s"]), id="n",
        on_late=rng.choice(["error", "drop"]), on_missing=rng.choice(["error", "drop"]),
        deduplicate=rng.random() < 0.5, keep_last_open=rng.random() < 0.5, **cut,
    )  # fmt: skip
    kinds = ("stop", "kill", "fail")
    breaks = [(rng.choice(kinds), rng.randint(1, 60)) for _ in range(rng.randint(1, 6))]
    bodies, partitions = bodies_of(messages), "".join(place for *_, place in messages)
    whole = read(bodies, partitions, options, [])
    broken = read(bodies, partitions, options, breaks)
    assert broken == whole, f"{broken} after {breaks}, {whole} in one pass"


def _message(rng: random.Random) -> Message:
    kind = rng.random()
    fields: dict[str, Any] = {"step": rng.randint(0, 9)}
    if kind < 0.2:
        fields = {"step": -rng.randint(0, 400)}
    elif kind < 0.3:
        fields = {"step": rng.choice(_FAR)}
    elif kind < 0.36:
        fields = {"text": "no row"}
    elif kind < 0.42:
        fields = {"step": 1, "x": None}
    return fields, rng.randint(0, 9), rng.choice("aab")


def bodies_of(messages: Sequence[Message]) -> list[str]:
    """Steps forward move the clock on; those back, and the far ones, are one row's alone."""
    now, bodies = START, []
    for fields, name, _ in messages:
        if "text" in fields:
            bodies.append(fields["text"])
            continue
        step = fields["step"]
        now += step if 0 <= step < 10 else 0
        row = {"t": now if 0 <= step < 10 else now + step, "x": fields.get("x", 0.5), "n": name}
        bodies.append(json.dumps(row))
    return bodies


def read(
    bodies: list[Any], partitions: str, options: WindowOptions, breaks: Sequence[Break]
) -> tuple[list[Any], list[Any], Any]:
    """Read with breaks; return the windows, letters and position that are committed."""
    kept, windows = Kept(), []
    for kind, after in [*breaks, ("end", 0)]:
        stop = threading.Event()
        stream = Given(bodies, stop, after if kind == "stop" else None, partitions)
        reader = StreamWindows(stream, options, kept, stop=stop, idle_timeout=0.0)
        try:
            for n, window in enumerate(reader):
                if kind == "kill" and n >= after % 7:
                    break
                if kind == "fail" and n >= after % 7:
                    raise StoppedError
                kept.commit(window.position, window.dead_letters)
                counts = window.n_late_rows, window.n_dropped_rows
                windows.append((window.name, window.row_ids.tolist(), counts))
        except StoppedError:
            continue
    return windows, sorted(kept.letters), kept.position
