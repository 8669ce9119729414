"""The length of one step of time, in the units of a column."""

from datetime import timedelta
from typing import Any

import numpy as np

from dynmeans.inputs.numbers import checked_number

_MICROSECOND = timedelta(microseconds=1)


def checked_time_step(
    time_step: Any, column: str | None, *, argument: str, ticks_per_microsecond: int
) -> float | None:
    """Return `time_step` as a number; a duration in ticks of the column's clock.

    >>> checked_time_step(
    ...     timedelta(seconds=1), "seen", argument="time", ticks_per_microsecond=1000
    ... )
    1000000000.0
    """
    if time_step is None:
        return None
    if column is None:
        raise ValueError(
            f"time_step needs a {argument} column to count in, got {time_step!r} and none."
        )
    if isinstance(time_step, np.timedelta64):
        time_step = time_step / np.timedelta64(1, "us") * ticks_per_microsecond
    elif isinstance(time_step, timedelta):
        time_step = time_step / _MICROSECOND * ticks_per_microsecond
    return checked_number("time_step", time_step, above=0)
