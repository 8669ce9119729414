"""Bounds on times: what no calendar holds or no window can count is refused, with a way out."""

from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import TIME_UNITS
from dynmeans.runs.reading.durations import (
    EARLIEST,
    LARGEST_EXACT,
    LATEST,
    NumberLength,
    parse_number_length,
)
from dynmeans.runs.reading.window import WindowOptions

YEAR = 31_556_952_000_000  # microseconds
# Between these a number is likely meant as a time of ours.
_LIKELY = range(1980, 2100)


class TimeBounds:
    """Refuses times out of range."""

    def __init__(self, options: WindowOptions, *, is_number: bool, row: str) -> None:
        self._unit, self._is_number, self._row = options.time_unit, is_number, row
        self._low, self._high = float(EARLIEST), float(LATEST)
        if is_number:
            length = NumberLength(1.0)
            if options.every is not None:
                length = parse_number_length(options.every)
            self._low, self._high = -length.farthest, length.farthest

    def check(self, times: Any, numbers: Any) -> None:
        """Refuse the first time out of range; `numbers` are those of the rows."""
        if not len(times) or (times.min() >= self._low and times.max() <= self._high):
            return
        i = int(np.flatnonzero(~((times >= self._low) & (times <= self._high)))[0])
        self.check_one(times[i].item(), numbers[i])

    def check_one(self, time: float, number: int | str) -> None:
        """Refuse a time out of range."""
        if self._low <= time <= self._high:
            return
        row = self._row.format(number)
        if not self._is_number:
            rule = ": {} is in the year {:,.0f}"
            raise InputError("time", rule, row, year_of(time), hint=self._hint(time))
        if abs(time) <= LARGEST_EXACT:
            rule = ": {} has the time {:g}, which is too far from 0 for windows so short"
            raise InputError("every", rule, row, time)
        raise InputError(
            "time",
            ": {} has the time {:g}; such numbers are too large to be distinguished",
            row,
            time,
            hint="If times count milliseconds, microseconds or nanoseconds since 1970, set "
            "{time_unit=...}.",
        )

    def _hint(self, time: float) -> str:
        """Ask whether another unit was meant, where that would make sense of the number."""
        for unit in TIME_UNITS if self._unit is not None else ():
            meant = time / TIME_UNITS[self._unit or "s"] * TIME_UNITS[unit]
            if unit != self._unit and int(year_of(meant)) in _LIKELY:
                return f"Is {{time_unit={unit!r}}} meant?"
        return "Correct the row, or leave it out."


def year_of(microseconds: float) -> float:
    """Return the year of a moment, whatever a calendar can hold."""
    return 1970 + microseconds / YEAR
