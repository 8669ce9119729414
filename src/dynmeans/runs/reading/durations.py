"""Lengths of windows: clock time, the calendar of a time zone, or plain numbers."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from difflib import get_close_matches
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError

_CLOCK_UNITS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
}
_CALENDAR_UNITS = ("d", "w", "mo", "y")
_OTHER_NAMES = {
    "sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h", "day": "d", "week": "w",
    "month": "mo", "year": "y",
}  # fmt: skip
_MAX_YEARS = 1000
_IN_YEARS = {
    **{unit: micros / 31_556_952_000_000 for unit, micros in _CLOCK_UNITS.items()},
    **{"d": 1 / 365.2425, "w": 7 / 365.2425, "mo": 1 / 12, "y": 1.0},
}
# Units that are equal lengths of real time, in microseconds.
_EQUAL_UNITS = {**_CLOCK_UNITS, "d": 24 * _CLOCK_UNITS["h"], "w": 7 * 24 * _CLOCK_UNITS["h"]}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# A day from the ends of Python's calendar, so that every time zone has the moment too.
EARLIEST = (datetime(1, 1, 2, tzinfo=UTC) - _EPOCH) // _MICROSECOND
LATEST = (datetime(9999, 12, 30, tzinfo=UTC) - _EPOCH) // _MICROSECOND
LARGEST_EXACT = 2.0**53  # from here on floats leave integers out


@dataclass(frozen=True, slots=True)
class ClockLength:
    """Windows of one length in real time, counted from midnight of 1 January 2000 in the zone.

    Times are microseconds since 1970 in UTC.
    """

    microseconds: int
    zone: ZoneInfo

    def index_of(self, time: float) -> int:
        """Return the number of the window that holds `time`."""
        return (int(time) - self._anchor()) // self.microseconds

    def start_of(self, index: int) -> float:
        """Return the first moment of a window."""
        return self._anchor() + index * self.microseconds

    def name_of(self, index: int) -> str:
        """Name a window by its start in the zone."""
        return format_time(int(self.start_of(index)), self.zone)

    def _anchor(self) -> int:
        return _micros(datetime(2000, 1, 1, tzinfo=self.zone))


@dataclass(frozen=True, slots=True)
class CalendarLength:
    """Windows of days, weeks (from Monday), months or years as a calendar in the zone counts them.

    A day of 23 or 25 hours is one day. Times are microseconds since 1970 in UTC.
    """

    number: int
    unit: str
    zone: ZoneInfo

    def index_of(self, time: float) -> int:
        """Return the number of the window that holds `time`."""
        local = (_EPOCH + timedelta(microseconds=int(time))).astimezone(self.zone).date()
        # Where a zone skips or repeats midnight, the date alone can be one window off.
        return _correct_index(self, self._count(local) // self.number, time)

    def start_of(self, index: int) -> float:
        """Return the first moment of a window."""
        day = self._first_day(index * self.number)
        return _micros(datetime(day.year, day.month, day.day, tzinfo=self.zone))

    def name_of(self, index: int) -> str:
        """Name a window by its first day."""
        return self._first_day(index * self.number).isoformat()

    def _count(self, day: date) -> int:
        days = (day - date(2000, 1, 3)).days  # a Monday
        months = (day.year - 2000) * 12 + day.month - 1
        return {"d": days + 2, "w": days // 7, "mo": months, "y": day.year - 2000}[self.unit]

    def _first_day(self, count: int) -> date:
        try:
            if self.unit == "d":
                return date(2000, 1, 1) + timedelta(days=count)
            if self.unit == "w":
                return date(2000, 1, 3) + timedelta(weeks=count)
            months = count * 12 if self.unit == "y" else count
            return date(2000 + months // 12, months % 12 + 1, 1)
        except (OverflowError, ValueError):  # the window reaches over an end of the calendar
            return date.min if count < 0 else date.max


@dataclass(frozen=True, slots=True)
class NumberLength:
    """Windows of one width on a line of plain numbers, counted from 0."""

    width: float

    @property
    def _ratio(self) -> tuple[int, int]:
        """The width as it was written, so that three times 0.1 is 0.3."""
        return Decimal(repr(self.width)).as_integer_ratio()

    def index_of(self, time: float) -> int:
        """Return the number of the window that holds `time`."""
        return _correct_index(self, math.floor(time / self.width), time)

    @property
    def farthest(self) -> float:
        """The largest time at which neighboring windows differ."""
        return LARGEST_EXACT * min(1.0, self.width)

    def start_of(self, index: int) -> float:
        """Return the first number of a window."""
        number, parts = self._ratio
        return index * number / parts

    def name_of(self, index: int) -> str:
        """Name a window by its start."""
        return name_of_number(self.start_of(index))


# Each divides a time line into numbered windows; `start_of(i) <= t < start_of(i + 1)`.
WindowLength = ClockLength | CalendarLength | NumberLength


def name_of_number(number: float) -> str:
    """Name a window by a number: unlike numbers have unlike names.

    >>> name_of_number(1700000060.0), name_of_number(0.3)
    ('1700000060', '0.3')
    """
    is_whole = float(number).is_integer() and abs(number) <= LARGEST_EXACT
    return str(int(number)) if is_whole else repr(float(number))


def parse_length(text: str, zone: ZoneInfo, *, is_number: bool = False) -> WindowLength:
    """Read a length such as ``30min``, ``1.5h``, ``1d``, ``2w``, ``1mo``; a number for numbers."""
    if is_number:
        return parse_number_length(text)
    number, unit = _split(text)
    if not number * _IN_YEARS[unit] <= _MAX_YEARS:
        raise InputError("every", f"must be at most {_MAX_YEARS:,} years", got=text)
    if unit in _CALENDAR_UNITS:
        if number != int(number):
            raise InputError("every", f"must be a whole number of {unit}", got=text)
        return CalendarLength(int(number), unit, zone)
    microseconds = number * _CLOCK_UNITS[unit]
    if microseconds != int(microseconds):
        raise InputError("every", "must be a whole number of microseconds", got=text)
    return ClockLength(int(microseconds), zone)


def parse_lateness(text: str, *, is_number: bool, argument: str = "allowed_lateness") -> float:
    """Read how late a row may be: microseconds, or a plain number if times are numbers."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if number == 0 or (is_number and number > 0 and math.isfinite(number)):
        return number
    if is_number:
        raise InputError(
            argument,
            "must be a number without a unit, because the time column is numeric",
            got=text,
        )
    return _equal_length(argument, text)


def parse_seconds(argument: str, text: str) -> float:
    """Read a length of real time, such as 30s, 90min or 30d, as seconds.

    >>> parse_seconds("keep", "30d")
    2592000.0
    """
    return _equal_length(argument, text) / 1e6


def in_words(length: float, *, is_number: bool) -> str:
    """Write a length of microseconds, or a plain number, for people.

    >>> in_words(5_400_000_000.0, is_number=False)
    '1.5 hours'
    """
    if is_number:
        return f"{length:,.6g}"
    names = ("years", "days", "hours", "minutes", "seconds")
    units = (31_556_952e6, 86_400e6, 3_600e6, 60e6, 1e6)
    name, unit = next(
        (one for one in zip(names, units, strict=True) if length >= one[1]), (names[-1], 1e6)
    )
    return f"{length / unit:,.3g} {name}"


def _equal_length(argument: str, text: str) -> float:
    number, unit = _split(text, argument)
    if unit not in _EQUAL_UNITS or not number * _IN_YEARS[unit] <= _MAX_YEARS:
        raise InputError(argument, "must be a length such as 30s, 90min or 30d", got=text)
    return number * _EQUAL_UNITS[unit]


def microseconds_of(moment: datetime, zone: ZoneInfo) -> int:
    """Return microseconds since 1970; of an hour that comes twice, the second is meant."""
    if moment.tzinfo is not None:
        return _micros(moment)
    first, second = (moment.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    offsets = first.utcoffset(), second.utcoffset()
    is_twice = None not in offsets and offsets[0] > offsets[1]  # type: ignore[operator]
    return _micros(second if is_twice else first)


def parse_zone(name: str) -> ZoneInfo:
    """Return the time zone of that name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        rule = "must be a name such as UTC or Europe/Zurich"
        raise InputError("timezone", rule, got=name) from error


def format_time(microseconds: int, zone: ZoneInfo) -> str:
    """Write a moment as ISO 8601 in the zone, without digits that are zero."""
    try:
        moment = (_EPOCH + timedelta(microseconds=microseconds)).astimezone(zone)
    except OverflowError:  # a window that began before the calendar did
        moment = datetime.min.replace(tzinfo=zone)
    precision = "microseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=precision)


def _correct_index(length: "WindowLength", index: int, time: float) -> int:
    """Go from a guess, which may be off by rounding, to the window that holds `time`."""
    while time < length.start_of(index):
        index -= 1
    while time >= length.start_of(index + 1):
        index += 1
    return index


def _split(text: str, argument: str = "every") -> tuple[float, str]:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*", text)
    unit = match[2].lower() if match else ""
    unit = _OTHER_NAMES.get(unit.removesuffix("s"), unit)
    if match is None or unit not in {*_CLOCK_UNITS, *_CALENDAR_UNITS} or float(match[1]) <= 0:
        units = ", ".join([*_CLOCK_UNITS, *_CALENDAR_UNITS])
        rule = f"must be a length such as 30min or 1d (units: {units})"
        raise InputError(argument, rule, got=text, hint=_suggest_duration(match, text))
    return float(match[1]), unit


def _suggest_duration(match: re.Match[str] | None, text: str) -> ArgumentText | str:
    """Guess the length that was meant: a unit alone, as in pandas, or one with another letter."""
    number, unit = (match[1], match[2]) if match else ("1", text.strip())
    known = [*_CLOCK_UNITS, *_CALENDAR_UNITS, *_OTHER_NAMES]
    near = get_close_matches(unit.lower().removesuffix("s"), known, n=1, cutoff=0.7)
    return (
        ArgumentText("Did you mean {!r}?", f"{number}{_OTHER_NAMES.get(near[0], near[0])}")
        if near
        else ""
    )


def parse_number_length(text: str) -> NumberLength:
    """Read the width of windows on a line of plain numbers."""
    try:
        width = float(text)
    except ValueError as error:
        raise InputError(
            "every",
            "must be a number without a unit, because the time column is numeric",
            got=text,
            hint="If they count seconds or milliseconds since 1970, set {time_unit}.",
        ) from error
    if not (width > 0 and math.isfinite(width)):
        raise InputError("every", "must be greater than 0", got=text)
    return NumberLength(width)


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND
