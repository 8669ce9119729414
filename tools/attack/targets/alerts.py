"""Files of alert rules: read and matched, or refused in one line; nobody is told.

`alert-groups` takes the same windows in with other groups to a commit, and stops between them: the
alerts are the same, as of a file and of a stream. Once windows are really committed in groups; then
the run of single windows is looked at as if groups of it were there, which is much faster.
"""

import json
import random
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import DynamicMeans, Run
from dynmeans.alerts import monitor
from dynmeans.alerts.evaluate import Alert, evaluate_rule, lookback
from dynmeans.alerts.rules import KINDS, Rule, read_rules
from dynmeans.follow.model_config import ModelConfig
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.configuration import RunConfig
from dynmeans.runs.reading.window import Window
from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.schema import N_ALERTS

_FEATURES = ("x", "y")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a history with births, returns and gaps for rules to look at."""
    if name == "alert-groups":
        yield _groups
        return
    rng = np.random.default_rng(0)
    batches = [rng.normal(0, 4, size=(n, 2)) for n in (9, 3, 0, 12, 5, 5)]
    history = DynamicMeans(1.0, random_state=0).fit_sequence(batches)[1]
    records = list(history)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        path = Path(folder) / "rules.toml"

        def attack(rng: random.Random) -> None:
            text = "".join(_rule(rng, n) for n in range(rng.choice((1, 1, 2, 3)))).encode()
            path.write_bytes(damaged(text, rng, []) if rng.random() < 0.6 else text)
            is_refused, rules = refused(lambda: read_rules(path, _FEATURES))
            if is_refused:
                return
            assert lookback(rules) <= 1001
            found = [alert for rule in rules for alert in _alerts(rule, records)]
            assert len({alert.id for alert in found}) == len(found), "an alert came twice"
            json.dumps([alert.fields for alert in found], allow_nan=False)

        yield attack


def _alerts(rule: Rule, records: list[StepRecord]) -> list[Alert]:
    found, kept = list[Alert](), dict[int, float]()
    for end in range(1, len(records) + 1):
        new, kept = evaluate_rule(rule, records[:end], _FEATURES, kept, 5.0)
        found += new
    return found


def _rule(rng: random.Random, number: int) -> str:
    values = {
        "name": json.dumps(f"r{number}"),
        "event": json.dumps(rng.choice(KINDS)),
        "command": '["true"]',
    }
    more = {
        "percent": "50", "over_windows": "2", "box": "{x = [-1, 1], y = [-inf, 3.5]}",
        "min_points": "1", "webhook": '"http://localhost/x"', "stream": '"redis://h/0?stream=s"',
    }  # fmt: skip
    for name in rng.sample(sorted(more), rng.randint(0, 4)):
        values[name] = more[name]
    if rng.random() < 0.5:
        values[rng.choice([*values, "other", '"a b"'])] = _wild(rng)
    lines = "\n".join(f"{name} = {value}" for name, value in values.items())
    return f"[[rule]]\n{lines}\n"


def _wild(rng: random.Random) -> str:
    number = str(rng.choice(rng.choice([INTEGERS, FLOATS])))
    text = json.dumps(rng.choice(TEXTS))
    return rng.choice(
        [number, text, f"[{number}, {text}]", f"{{x = [{number}, {number}]}}", f"[{text}]", "true",
         "2024-01-01", "[" * 2000, "9" * 400, "{x = [0, " + "9" * 400 + "]}", f"{{{text} = 1}}"]
    )  # fmt: skip


_WHEN = (
    'event = "born"', 'event = "born"\nmin_points = 3', 'event = "returned"',
    'event = "returned"\nmin_points = 2', 'event = "entered"\nbox = {x = [0, 6]}',
    'event = "entered"\nbox = {x = [-2, 3], y = [0, inf]}\nmin_points = 2',
    'event = "unseen"\nover_windows = 2', 'event = "grown"\npercent = 50\nover_windows = 2',
)  # fmt: skip


_N_VEILED = 40


def _groups(rng: random.Random) -> int:
    numbers = np.random.default_rng(rng.randrange(2**32))
    places = numbers.uniform(0, 9, (4, 2))
    windows = []
    for _ in range(rng.randint(3, 12)):
        places += numbers.normal(0, 0.4, places.shape)
        rows = places[numbers.integers(0, 4, rng.randint(1, 9))]
        windows.append(
            Window(rows + numbers.normal(0, 0.2, rows.shape), elapsed=rng.choice((1, 2)))
        )
    chosen = rng.sample(_WHEN, rng.randint(1, 4))
    rules = "".join(
        f'[[rule]]\nname = "r{k}"\n{when}\ncommand = ["true"]\n' for k, when in enumerate(chosen)
    )
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=memory) as place, _no_couriers():
        folder = Path(place)
        (folder / "rules.toml").write_text(rules)
        read = read_rules(folder / "rules.toml", _FEATURES)
        ones = [1] * len(windows)
        with _alerts_of(folder / "ones", windows, ones, read, is_stopped=False) as (run, expected):
            for _ in range(_N_VEILED):
                _check(rng, expected, windows, partial(_veiled, run, read))
        _check(rng, expected, windows, partial(_committed, folder / "groups", windows, read))
    return _N_VEILED + 1


def _check(rng: random.Random, expected: list[Any], windows: list[Window], take: Any) -> None:
    groups = [rng.randint(1, 5) for _ in windows]
    found = take(groups, is_stopped=rng.random() < 0.5)
    assert found == expected, f"{found} in groups of {groups}, {expected} one by one"


@contextmanager
def _no_couriers() -> Iterator[None]:
    """Nobody is told."""
    kept = monitor.make_delivery_workers
    monitor.make_delivery_workers = lambda *_: []
    try:
        yield
    finally:
        monitor.make_delivery_workers = kept


@contextmanager
def _alerts_of(
    folder: Path, windows: list[Window], groups: list[int], rules: Any, *, is_stopped: bool
) -> Iterator[tuple[Run, list[Any]]]:
    """Take windows in by groups, and look after each; give the run and what is to be told."""
    config = RunConfig(
        _FEATURES, ModelConfig(new_penalty=1.0, max_gap=3, reach=1.5, random_state=0)
    )
    run, done, stop = Run.create(folder, config), 0, threading.Event()
    try:
        look = monitor.AlertMonitor(run, rules, stop).look
        for n in groups:
            if is_stopped:
                run.close()
                run = Run.open(folder)
                run.lock()
                look = monitor.AlertMonitor(run, rules, stop).look
            run.process(windows[done : done + n], commit_seconds=1e9)
            done += n
            look()
        yield run, _stored(run)
    finally:
        run.close()


def _committed(
    folder: Path, windows: list[Window], rules: Any, groups: list[int], *, is_stopped: bool
) -> list[Any]:
    with _alerts_of(folder, windows, groups, rules, is_stopped=is_stopped) as (_, found):
        return found


class _Veiled(monitor.AlertMonitor):
    """Sees the first windows of a run only."""

    n_seen = 0

    def _records(self, first: int, last: int | None = None) -> list[StepRecord]:
        end = self.n_seen - 1
        return super()._records(first, end if last is None else min(last, end))


def _veiled(run: Run, rules: Any, groups: list[int], *, is_stopped: bool) -> list[Any]:
    """Look at a whole run again, as if it had come in groups."""
    with run.store.transaction() as connection:
        connection.execute("DELETE FROM alerts")
        rules_before = {
            r.name: {"meaning": monitor._rule_fingerprint(r), "kept": {}} for r in rules
        }
        sent = {"alerts": 0}
        write_manifest(connection, {N_ALERTS: 0, "alert_rules": rules_before, "sent": sent})
    look, n_windows = _Veiled(run, rules, threading.Event()), run.status().n_windows
    for n in groups:
        n_seen = min(look.n_seen + n, n_windows)
        if is_stopped:
            look = _Veiled(run, rules, threading.Event())
        look.n_seen = n_seen
        look.look()
    return _stored(run)


def _stored(run: Run) -> list[Any]:
    columns = "id, target, step, number, rule, body"
    return [tuple(row) for row in run.store.query(f"SELECT {columns} FROM alerts ORDER BY id")]
