"""Messages of a stream that is stopped and read again: the run is that of one unbroken pass.

`messages` makes runs of them; `message-kinds` and `watermarks` look at the windows alone, which is
much faster, and know which messages are odd.
"""

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
    """A folder for the runs of a case, where there are any."""
    if name != "messages":
        yield _kinds if name == "message-kinds" else _watermarks
        return
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
            "letters": [(letter["position"], letter["body"]) for letter in run.dead_letters()],
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

    def poll(self, seconds: float) -> list[Message] | None:
        begin, self._next = self._next, min(self._next + 3, len(self._bodies))
        if self._stop_after is not None and self._next >= self._stop_after:
            self._next = max(begin, self._stop_after)
            self._stop.set()
        found = [Message("all", i, i, self._bodies[i]) for i in range(begin, self._next)]
        return None if self._stop.is_set() and not found else found  # stopped, and not at its end

    def behind(self) -> set[str]:
        return set() if self._next >= len(self._bodies) else {"all"}

    def position_of(self, partition: str, offset: Any) -> str:
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


_YEAR = 366 * 86400


def _kinds(rng: random.Random) -> None:
    """Times of another kind than the first are letters, and nothing else changes."""
    is_number = rng.random() < 0.5
    moments = [1_700_000_000 + 3 * i for i in range(rng.randint(3, 16))]
    bodies, odd = [], set()
    for i, moment in enumerate(moments):
        if i and rng.random() < 0.15:
            odd.add(i)
        written = moment if is_number != (i in odd) else f"2024-05-01T00:{moment % 3600 // 60:02d}"
        row = {"t": written, "x": rng.uniform(0, 20), "y": 0.0, "b": i // 4}
        row |= {f"z{rng.randint(0, 9)}": 1.0} if rng.random() < 0.2 else {}
        bodies.append(json.dumps(row))
    cut = rng.choice([{"count": rng.randint(1, 5)}, {"batch": "b"}])
    options = WindowOptions(("x", "y"), time="t", **cut)
    whole = _windows(rng, bodies, options, n_stops=0)
    broken = _windows(rng, bodies, options, n_stops=rng.randint(1, 4))
    assert broken == whole, f"{broken} after stops, {whole} in one pass"
    assert {place for place, _ in whole["letters"]} == {f"message {i}" for i in odd}, whole


def _watermarks(rng: random.Random) -> None:
    """A row far ahead and alone is a letter; one after a gap that all rows make is none."""
    now, bodies, n_odd, last = 1_700_000_000.0, list[str](), 0, 0
    for i in range(rng.randint(4, 24)):
        now += rng.uniform(0, 9)
        is_odd, is_gap = rng.random() < 0.1 and i - last > 2, rng.random() < 0.03 and i - last > 2
        if is_odd or is_gap:
            last, n_odd = i, n_odd + is_odd
        if is_gap and not is_odd:
            now += rng.uniform(0.1, 30) * _YEAR
        t = now + rng.uniform(1.1, 90) * _YEAR if is_odd else now
        bodies.append(json.dumps({"t": t, "x": float(i), "y": 0.0}))
    # After the last message nothing says whether it is odd.
    bodies += [json.dumps({"t": now + 1 + j, "x": 0.0, "y": 0.0}) for j in range(2)]
    options = WindowOptions(
        ("x", "y"), time="t", every="10s", time_unit="s", lateness=rng.choice(["0", "5s"])
    )
    whole = _windows(rng, bodies, options, n_stops=0)
    broken = _windows(rng, bodies, options, n_stops=rng.randint(1, 5))
    assert broken == whole, f"{broken} after stops, {whole} in one pass"
    told = [reason for _, reason in whole["letters"]]
    assert all("max_ahead" in reason for reason in told), told
    assert len(told) == n_odd, f"{len(told)} letters, {n_odd} odd rows"
    n_rows = sum(len(names) for _, names, _ in whole["windows"])
    assert n_rows + len(told) == len(bodies), f"{n_rows} rows and {len(told)} letters of all"


class _Kept:
    """Stands for a run: what is committed with each window, and given back after a stop."""

    def __init__(self) -> None:
        self.position: Any = None
        self.letters: list[Any] = []
        self.windows: dict[int, Any] = {}

    def inbox(self) -> None:
        return None

    def note_letters(self, position: Any, letters: Any) -> bool:
        self.commit(position, letters)
        return True

    def commit(self, position: Any, letters: Any) -> None:
        self.position = json.loads(json.dumps(position))
        self.letters += [(letter.position, letter.reason) for letter in letters]


def _windows(
    rng: random.Random, bodies: list[Any], options: WindowOptions, *, n_stops: int
) -> dict[str, Any]:
    """Read all messages, and forget what was not committed at some of them."""
    kept, n_windows = _Kept(), 0
    for k in range(n_stops + 1):
        stop, is_killed = threading.Event(), k < n_stops and rng.random() < 0.5
        after = None if k == n_stops else rng.randint(1, len(bodies))
        stream = _Given(bodies, stop, None if is_killed else after)
        windows = StreamWindows(stream, options, kept, stop=stop, until_idle=0.0)
        try:
            for window in windows:
                if is_killed and n_windows >= rng.randint(0, 9):
                    break  # as if by SIGKILL before the commit
                kept.commit(window.position, window.dead_letters)
                names = window.row_ids.tolist()
                kept.windows[n_windows] = window.name, names, window.points.tolist()
                n_windows += 1
        except StoppedError:
            continue
    return {"windows": list(kept.windows.values()), "letters": sorted(kept.letters)}
