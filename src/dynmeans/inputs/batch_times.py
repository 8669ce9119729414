"""When batches came: dates, numbers or names, and the steps of time between them."""

from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from dynmeans.inputs.numbers import check_number

BatchTime = datetime | float | str

_MICROSECOND = timedelta(microseconds=1)


def check_batch_times(times: Sequence[Any], n_batches: int) -> list[BatchTime]:
    """Return one date, number or name for each batch, all of one kind.

    >>> check_batch_times([np.datetime64("2026-03-01"), date(2026, 3, 2)], 2)[1]
    datetime.datetime(2026, 3, 2, 0, 0)
    >>> check_batch_times(["a", 2], 2)
    ['a', '2']
    """
    values = list(times)
    if len(values) != n_batches:
        raise ValueError(
            f"times must have one value for each of {n_batches} batches, got {len(values)}."
        )
    read = [parse_batch_time(value) for value in values]
    is_one_kind = any(all(isinstance(value, kind) for value in read) for kind in (datetime, float))
    try:
        rises = is_one_kind and all(a < b for a, b in pairwise(read))
    except TypeError:  # dates with and without a zone
        rises = False
    return read if rises else [str(value) for value in values]


def read_times(names: Sequence[str | None]) -> list[BatchTime] | None:
    """Read names as dates, or as numbers; else they stay names, if there are any.

    >>> read_times(["2026-03-01", "2026-03-02"])[0].day, read_times(["0.5", "2"])
    (1, [0.5, 2.0])
    >>> read_times(["a", "b"]), read_times([None, "a"])
    (['a', 'b'], None)
    """
    known = [name for name in names if name is not None]
    if len(known) < len(names):
        return None
    return _read(known, datetime.fromisoformat) or _read(known, float) or [*known]


def _read(names: list[str], read: Callable[[str], Any]) -> list[BatchTime] | None:
    """Read all names, if they can be read and rise."""
    try:
        values = [read(name) for name in names]
        rises = all(before < after for before, after in pairwise(values))
    except (ValueError, TypeError):  # also of dates with and without a zone
        return None
    return values if rises else None


def steps_between(elapsed: Any, times: Sequence[BatchTime | None] | None, time_step: Any) -> Any:
    """Return `elapsed` in steps of time: as given, or lengths of time divided by `time_step`."""
    if time_step is None:
        if any(isinstance(gap, timedelta | np.timedelta64) for gap in _list_values(elapsed)):
            raise TypeError(
                f"elapsed is a length of time, {elapsed!r}: set the length of one step with "
                "time_step=, for example time_step=timedelta(hours=1)."
            )
        return elapsed
    length = _length("time_step", time_step)
    if times is None:
        gaps = [_length("elapsed", gap) / length for gap in _list_values(elapsed)]
        return gaps if np.iterable(elapsed) else gaps[0]
    if np.iterable(elapsed) or elapsed != 1.0:
        raise ValueError("give elapsed, or times with time_step, and not both.")
    if isinstance(times[0], str):
        raise ValueError(
            f"time_step needs times that are dates or numbers and rise, got {times[0]!r}, ..."
        )
    if isinstance(times[0], datetime) != isinstance(time_step, timedelta | np.timedelta64):
        raise TypeError(
            f"time_step must be a length of time where times are dates, got {time_step!r}."
        )
    moves = [_length("times", after - before) for before, after in pairwise(times)]  # type: ignore[operator]
    return [1.0, *(move / length for move in moves)]


def check_time_step(
    time_step: Any, column: str | None, *, argument: str, ticks_per_microsecond: int
) -> float | None:
    """Return the length of one step of time; a duration in ticks of the column's clock.

    >>> second = timedelta(seconds=1)
    >>> check_time_step(second, "seen", argument="time", ticks_per_microsecond=1000)
    1000000000.0
    """
    if time_step is None:
        return None
    if column is None:
        raise ValueError(
            f"time_step needs {argument}, the column to count in, got {time_step!r} and none."
        )
    is_length = isinstance(time_step, timedelta | np.timedelta64)
    length = _length("time_step", time_step) * (ticks_per_microsecond if is_length else 1)
    return check_number("time_step", length, above=0)


def _list_values(value: Any) -> list[Any]:
    return list(value) if np.iterable(value) else [value]


def _length(name: str, value: Any) -> float:
    """Return a length of time in microseconds, a number unchanged."""
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "us"))
    if isinstance(value, timedelta):
        return value / _MICROSECOND
    return check_number(name, value, above=0)


def parse_batch_time(value: Any) -> Any:
    """Return a date, a number or a name; None unchanged.

    >>> parse_batch_time(date(2026, 3, 1)), parse_batch_time(3), parse_batch_time("Monday")
    (datetime.datetime(2026, 3, 1, 0, 0), 3.0, 'Monday')
    """
    if value is None:
        return None
    if isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if hasattr(value, "to_timestamp"):  # a Period of pandas
        value = value.to_timestamp()
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    return str(value)
