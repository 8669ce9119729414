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
from dynmeans.follow.model_config import ModelConfig
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.streams.message import Message
from dynmeans.runs.streams.stream_windows import StreamWindows

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
    config = RunConfig(("x", "y"), ModelConfig(_PENALTIES, space=space, random_state=0))
    Run.create(folder, config).close()
    for stop_after in [*stops, None]:
        stop = threading.Event()
        with Run.open(folder) as run:
            stream = Given(bodies, stop, stop_after)
            windows = StreamWindows(stream, options, run, stop=stop, idle_timeout=0.0)
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
            "counts": (
                status.n_rows,
                status.n_dropped_rows,
                status.n_late_rows,
                status.n_dead_letters,
            ),
        }


class Given:
    """Messages in memory, numbered from 0, in the partitions that letters name."""

    def __init__(
        self, bodies: list[Any], stop: threading.Event, stop_after: int | None, letters: str = ""
    ) -> None:
        self._bodies, self._stop, self._stop_after = bodies, stop, stop_after
        self._partitions = letters or "a" * len(bodies)
        # With several, what is behind must not depend on where a poll begins.
        self._n_most = 3 if len(set(self._partitions)) == 1 else 1
        self._next, self._after = 0, dict[str, int]()

    def open(self, after: Mapping[str, Any], inbox: Any) -> None:
        """Begin after the given number of each partition."""
        self._after = {p: place for p, place in after.items() if place is not None}
        self._next = min((self._after.get(p, -1) + 1 for p in set(self._partitions)), default=0)

    def poll(self, seconds: float) -> list[Message] | None:
        """Give the next messages; None where it is not at its end."""
        begin, self._next = self._next, min(self._next + self._n_most, len(self._bodies))
        if self._stop_after is not None and self._next >= self._stop_after:
            self._next = max(begin, self._stop_after)
            self._stop.set()
        parts = self._partitions
        chosen = [i for i in range(begin, self._next) if i > self._after.get(parts[i], -1)]
        found = [Message(parts[i], i, i, self._bodies[i]) for i in chosen]
        if not found and (self._stop.is_set() or self._next < len(self._bodies)):
            return None  # stopped, or read before, and not at its end
        return found

    def behind(self) -> set[str]:
        """Name the partitions that have more."""
        return set(self._partitions[self._next :])

    def position_of(self, partition: str, offset: Any) -> str:
        """Name a message by its number."""
        return f"message {offset}"

    def close(self) -> None:
        """There is nothing to close."""


def _options(rng: random.Random) -> WindowOptions:
    cut = rng.choice([{"time": "t", "every": "10",
                       "allowed_lateness": rng.choice(["0", "5", "50"])},
                      {"rows_per_window": 4}, {"window_column": "b"}])  # fmt: skip
    more: dict[str, Any] = {
        "on_missing": rng.choice(["error", "drop"]),
        "on_late": rng.choice(["error", "drop"]),
    }
    if rng.random() < 0.3:
        more |= {"id": "name", "deduplicate": rng.random() < 0.5}
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
    cut = rng.choice([{"rows_per_window": rng.randint(1, 5)}, {"window_column": "b"}])
    options = WindowOptions(("x", "y"), time="t", **cut)
    whole = _windows(rng, bodies, options, n_stops=0)
    broken = _windows(rng, bodies, options, n_stops=rng.randint(1, 4))
    assert broken == whole, f"{broken} after stops, {whole} in one pass"
    assert {place for place, _ in whole["letters"]} == {f"message {i}" for i in odd}, whole


def _watermarks(rng: random.Random) -> None:
    """A few rows far ahead are letters; those after a gap that all rows make are none."""
    parts = rng.choice(("a", "a", "ab", "aab"))
    now, bodies, letters, n_odd, n_bad = 1_700_000_000.0, list[str](), "", 0, 0
    since = dict.fromkeys(parts, 0)  # rows of a partition after which nothing was odd
    for i in range(rng.randint(4, 90)):
        now += rng.uniform(0, 9)
        part = rng.choice(parts)
        if rng.random() < 0.05:
            n_bad += 1
            letters += part
            bodies.append("no row")
            continue
        if rng.random() < 0.03 and min(since.values()) > _SETTLED:
            now += rng.choice([0.01, 0.1, 1, 30]) * rng.random() * _YEAR
            since = dict.fromkeys(parts, 0)
        times = [now]
        if rng.random() < 0.1 and since[part] > _SETTLED:
            times = _odd_times(rng, now)
            n_odd += len(times)
            since[part] = 0
        since[part] += 1
        letters += part * len(times)
        bodies += [json.dumps({"t": t, "x": float(i), "y": 0.0}) for t in times]
    # After the last message of a partition nothing says whether it is odd.
    ends = [part for _ in range(_SETTLED) for part in sorted(since)]
    letters += "".join(ends)
    bodies += [json.dumps({"t": now + 1 + j, "x": 0.0, "y": 0.0}) for j in range(len(ends))]
    options = WindowOptions(
        ("x", "y"),
        time="t",
        every="10s",
        time_unit="s",
        allowed_lateness=rng.choice(["0", "5s", "60s"]),
    )
    whole = _windows(rng, bodies, options, n_stops=0, letters=letters)
    broken = _windows(rng, bodies, options, n_stops=rng.randint(1, 5), letters=letters)
    assert broken == whole, f"{broken} after stops, {whole} in one pass"
    told = [reason for _, reason in whole["letters"] if "not JSON" not in reason]
    assert all("ahead of all other rows" in reason for reason in told), told
    assert len(whole["letters"]) == n_odd + n_bad, f"{whole}, {n_odd} odd rows, {n_bad} bad"
    n_rows = sum(len(names) for _, names, _ in whole["windows"])
    assert n_rows + n_odd + n_bad == len(bodies), f"{n_rows} rows and {n_odd}, {n_bad} of all"


_SETTLED = 12  # so many rows after a gap, it is gone over


def _odd_times(rng: random.Random, now: float) -> list[float]:
    """Fewer rows than must agree, beyond the bound of 100 windows; each may be further ahead."""
    far = rng.choice([2000 / _YEAR, 0.01, rng.uniform(1.1, 90), rng.uniform(2100, 6000)])
    step = rng.choice([0.0, 1.0, 900.0, 1e6])
    return [now + far * _YEAR + step * k for k in range(rng.randint(1, 9))]


class Kept:
    """Stands for a run: what is committed with each window, and given back after a stop."""

    def __init__(self) -> None:
        self.position: Any = None
        self.letters: list[Any] = []
        self.windows: dict[int, Any] = {}

    def inbox(self) -> None:
        """All can be read twice."""

    def store_dead_letters(self, position: Any, letters: Any) -> bool:
        """Commit between two windows."""
        self.commit(position, letters)
        return True

    def commit(self, position: Any, letters: Any) -> None:
        """Keep what a stop must not lose."""
        self.position = json.loads(json.dumps(position))
        self.letters += [(letter.position, letter.reason) for letter in letters]


def _windows(
    rng: random.Random,
    bodies: list[Any],
    options: WindowOptions,
    *,
    n_stops: int,
    letters: str = "",
) -> dict[str, Any]:
    """Read all messages, and forget what was not committed at some of them."""
    kept, n_windows = Kept(), 0
    for k in range(n_stops + 1):
        stop, is_killed = threading.Event(), k < n_stops and rng.random() < 0.5
        after = None if k == n_stops else rng.randint(1, len(bodies))
        stream = Given(bodies, stop, None if is_killed else after, letters)
        windows = StreamWindows(stream, options, kept, stop=stop, idle_timeout=0.0)
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
