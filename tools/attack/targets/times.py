"""Lengths, zones and times: each window holds the times it is found for, or the text is refused."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from attack.held import refused
from attack.mutate import FLOATS, INTEGERS, TEXTS
from attack.targets import Case
from dynmeans.runs.reading.durations import parse_lateness, parse_length, parse_zone
from dynmeans.runs.reading.time_bounds import TimeBounds
from dynmeans.runs.reading.window import WindowOptions

_ZONES = ("UTC", "Europe/Zurich", "America/Santiago", "Pacific/Apia", "Asia/Kathmandu")
_UNITS = ("us", "ms", "s", "min", "h", "d", "w", "mo", "y", "sec", "hours", "", "x", " ", "D")


@contextmanager
def ready(name: str) -> Iterator[Case]:
    """Nothing to make: a case is a length, a zone and a few times."""
    yield _attack


def _attack(rng: random.Random) -> None:
    zone_name = rng.choice([*_ZONES, *TEXTS])
    is_refused, zone = refused(lambda: parse_zone(zone_name))
    if is_refused:
        return
    number = rng.choice(
        [
            str(rng.randint(0, 40)),
            f"{rng.uniform(0, 9):.3f}",
            "1e3",
            "-1",
            "0",
            "9" * 30,
            "1e-12",
            *TEXTS,
        ]
    )
    text, is_number = number + rng.choice(_UNITS), rng.random() < 0.3
    refused(lambda: parse_lateness(text, is_number=is_number))
    is_refused, length = refused(lambda: parse_length(text, zone, is_number=is_number))
    if is_refused:
        return
    options = WindowOptions(features=("x",), time="t", every=text, timezone=zone_name)
    bounds = TimeBounds(options, is_number=is_number, row="line {}")
    for _ in range(5):
        time = _time(rng, is_number)
        is_refused, _ = refused(lambda: bounds.check_one(time, 1))  # noqa: B023
        if not is_refused:
            _check(length, time)


def _check(length: object, time: float) -> None:
    index = length.index_of(time)  # type: ignore[attr-defined]
    start, end = (length.start_of(i) for i in (index, index + 1))  # type: ignore[attr-defined]
    if not start <= time < end:
        raise AssertionError(f"{time} is not in the window from {start} to {end} of {length}")
    length.name_of(index)  # type: ignore[attr-defined]


def _time(rng: random.Random, is_number: bool) -> float:
    if is_number:
        return float(rng.choice([*[v for v in FLOATS if abs(v) < 1e308], rng.uniform(-1e6, 1e6)]))
    near = rng.randint(-(10**15), 4 * 10**15)  # microseconds: the years 1938 to 2096
    return rng.choice([near, near, near, rng.choice([v for v in INTEGERS if abs(v) < 2**63])])
