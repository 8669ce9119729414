"""Messages of a stream that is stopped and read again: the run is that of one unbroken pass."""

import json
import random
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import Penalties, Run
from dynmeans.follow.recipe import Recipe
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.message import Message
from dynmeans.runs.streams.watermark import StreamWindows

_PENALTIES = Penalties(1.0, max_gap=5, reach=1.5)


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """A folder for the runs of a case."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None

    def attack(rng: random.Random) -> None:
        with tempfile.TemporaryDirectory(dir=memory) as folder:
            _attack(rng, Path(folder))

    yield attack


def _attack(rng: random.Random, folder: Path) -> None:
    bodies = _bodies(rng)
    options = _options(rng)
    space = rng.choice(("raw", "raw", "raw", "standard"))
    whole, broken = folder / "whole", folder / "broken"
    expected = _read(whole, options, bodies, space, [])
    stops = sorted(rng.sample(range(1, len(bodies) + 1), min(len(bodies), rng.randint(1, 4))))
    found = _read(broken, options, bodies, space, stops)
    for name, value in expected.items():
        assert found[name] == value, f"{name}: {found[name]} after stops, {value} in one pass"


def _read(
    folder: Path, options: WindowOptions, bodies: list[Any], space: str, stops: list[int]
) -> dict[str, Any]:
    """Read all messages, stopping after some of them; return what the run holds at the end."""
    config = RunConfig(("x", "y"), Recipe(_PENALTIES, space=space, random_state=0))
    Run.create(folder, config).close()
    for stop_after in [*stops, None]:
        stop = threading.Event()
        with Run.open(folder) as run:
            stream = _Given(bodies, stop, stop_after)
            windows = StreamWindows(stream, options, run, stop=stop, until_idle=0.0)
            try:
                is_refused, _ = refused(
                    lambda: run.process(windows, commit_seconds=0.0)  # noqa: B023
                )
            except StoppedError:
                is_refused = False
            if is_refused:
                return {"refused": True}
    with Run.open(folder) as run:
        run.verify()
        labels, status = run.labels(frame="arrow"), run.status()
        return {
            "refused": False,
            "labels": [labels[name].to_pylist() for name in ("step", "row_id", "cluster_id")],
            "letters": [(letter["place"], letter["body"]) for letter in run.dead_letters()],
            "counts": (status.n_rows, status.n_dropped, status.n_late, status.n_dead_letters),
        }


class _Given:
    """Messages in memory, numbered from 0."""

    def __init__(self, bodies: list[Any], stop: threading.Event, stop_after: int | None) -> None:
        self._bodies, self._stop, self._stop_after = bodies, stop, stop_after
        self._next = 0

    def open(self, after: Mapping[str, Any], inbox: Any) -> None:
        place = after.get("all")
        self._next = 0 if place is None else place + 1

    def poll(self, seconds: float) -> list[Message]:
        begin, self._next = self._next, min(self._next + 3, len(self._bodies))
        if self._stop_after is not None and self._next >= self._stop_after:
            self._next = max(begin, self._stop_after)
            self._stop.set()
        return [Message("all", i, i, self._bodies[i]) for i in range(begin, self._next)]

    def behind(self) -> set[str]:
        return set() if self._next >= len(self._bodies) else {"all"}

    def place_of(self, partition: str, offset: Any) -> str:
        return f"message {offset}"

    def close(self) -> None:
        pass


def _options(rng: random.Random) -> WindowOptions:
    cut = rng.choice([{"time": "t", "every": "10", "lateness": rng.choice(["0", "5", "50"])},
                      {"count": 4}, {"batch": "b"}])  # fmt: skip
    more: dict[str, Any] = {
        "on_missing": rng.choice(["error", "drop"]),
        "on_late": rng.choice(["error", "drop"]),
    }
    if rng.random() < 0.3:
        more |= {"id": "name", "unique_ids": rng.random() < 0.5}
    return WindowOptions(("x", "y"), **cut, **more)


def _bodies(rng: random.Random) -> list[Any]:
    bodies = []
    for i in range(rng.randint(5, 40)):
        row: dict[str, Any] = {
            "t": i * 3 + rng.choice([0, 0, 0, -8, -60]), "x": rng.uniform(0, 20), "y": 0.0,
            "b": i // 7, "name": f"n{rng.randint(0, 30)}",
        }  # fmt: skip
        if i and rng.random() < 0.15:
            row[rng.choice([*row])] = rng.choice(rng.choice([FLOATS, INTEGERS, TEXTS, (None, [])]))
        body: Any = json.dumps(row)
        if i and rng.random() < 0.1:
            body = damaged(body.encode(), rng, [])
        bodies.append(body if rng.random() < 0.8 or isinstance(body, bytes) else row)
    return bodies
