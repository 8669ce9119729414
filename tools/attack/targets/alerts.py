"""Files of alert rules: read and matched, or refused in one line; nobody is told."""

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS, damaged
from attack.targets import Case
from dynmeans import DynamicMeans
from dynmeans.alerts.matching import Alert, lookback, matches
from dynmeans.alerts.rules import KINDS, Rule, read_rules
from dynmeans.records.step_record import StepRecord

_FEATURES = ("x", "y")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Make a history with births, returns and gaps for rules to look at."""
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
        if rule.when != "family-splits":  # which looks at a run
            new, kept = matches(rule, records[:end], _FEATURES, kept, 5.0)
            found += new
    return found


def _rule(rng: random.Random, number: int) -> str:
    values = {
        "name": json.dumps(f"r{number}"),
        "when": json.dumps(rng.choice(KINDS)),
        "command": '["true"]',
    }
    more = {
        "percent": "50", "windows": "2", "box": "{x = [-1, 1], y = [-inf, 3.5]}", "level": "0.5",
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
