"""Units of times, speeds and headings: what is stated is checked, what is not is detected.

Positions and times give every aircraft a speed of their own. Its ratio to the reported speed
tells the unit of the reports; a stated unit that does not fit is refused.
"""

from dataclasses import replace

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.globe import KM_PER_NAUTICAL_MILE, displacement, distance_km
from paper.flights.message_file import Messages

KNOTS = {"kt": 1.0, "m/s": 3600 / 1852, "km/h": 1 / 1.852, "mph": 1609.344 / 1852}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
HEADING_UNITS = ("degrees", "radians")
DETECT = "detect"

_FIRST_DATE, _LAST_DATE = 1e8, 1e10  # seconds since 1970: 1973 and 2286
_MIN_STEPS = 30  # to judge a unit by
_STEP_SECONDS = (5.0, 600.0)
_NEAR, _FAR = 0.07, 0.25  # relative difference of a ratio that fits, and of one that cannot


def time_scale(unit: str, times: FloatArray) -> tuple[float, str]:
    """Return how many seconds one unit of time is, and in words how that is known."""
    _check("time_unit", unit, (*SECONDS, DETECT))
    finite = times[np.isfinite(times)]
    middle = float(np.median(np.abs(finite))) if len(finite) else 0.0
    fitting = [u for u, s in SECONDS.items() if _FIRST_DATE <= middle * s < _LAST_DATE]
    if unit == DETECT:
        if fitting:
            return SECONDS[fitting[0]], f"{fitting[0]} since 1970 (detected by size)"
        return 1.0, "s from a start of its own (numbers too small for dates)"
    if fitting and unit not in fitting:
        raise ValueError(
            f"times are said to be in {unit}, but a middle value of {middle:.6g} is a date only "
            f"in {fitting[0]}. Give time_unit={fitting[0]!r}."
        )
    return SECONDS[unit], f"{unit} (stated)"


def speed_scale(unit: str, messages: Messages) -> tuple[float, str]:
    """Return how many knots one unit of speed is, and in words how that is known.

    The messages must be in order of id and time, times in seconds.
    """
    _check("speed_unit", unit, (*KNOTS, DETECT))
    ratio = _speed_ratio(messages)
    if ratio is None:
        if unit == DETECT:
            raise ValueError(
                f"the unit of the speeds cannot be detected: fewer than {_MIN_STEPS} pairs of "
                f"messages of one id are {_STEP_SECONDS[0]:g} to {_STEP_SECONDS[1]:g} seconds "
                f"apart{_usual_step(messages)}. Give speed_unit, one of {', '.join(KNOTS)}; or "
                "time_unit, if times are not what they seem."
            )
        return KNOTS[unit], f"{unit} (stated; too few messages to check)"
    nearest = min(KNOTS, key=lambda u: abs(np.log(ratio / KNOTS[u])))
    misfit = abs(np.log(ratio / KNOTS[nearest]))
    if unit == DETECT:
        if misfit > _NEAR:
            raise ValueError(
                f"the unit of the speeds cannot be detected: positions move {ratio:.3g} knots for "
                "each unit of speed. Give speed_unit, and time_unit if times may be wrong."
            )
        return KNOTS[nearest], f"{nearest} (detected: {ratio:.3f} knots for each unit of speed)"
    stated = abs(np.log(ratio / KNOTS[unit]))
    if stated > _FAR or (misfit <= _NEAR < stated):
        hint = f"they look like {nearest}" if misfit <= _NEAR else "times may be in another unit"
        raise ValueError(
            f"speeds are said to be in {unit}, but positions move {ratio:.3g} knots for each unit "
            f"of speed where {KNOTS[unit]:.3g} is due: {hint}."
        )
    return KNOTS[unit], f"{unit} (stated; {ratio:.3f} knots for each unit of speed)"


def heading_scale(unit: str, messages: Messages) -> tuple[float, str]:
    """Return how many degrees one unit of heading is, and in words how that is known."""
    _check("heading_unit", unit, (*HEADING_UNITS, DETECT))
    errors = {u: _heading_error(messages, s) for u, s in _DEGREES.items()}
    if any(error is None for error in errors.values()):
        if unit == DETECT:
            return 1.0, "degrees (assumed: too few messages to check)"
        return _DEGREES[unit], f"{unit} (stated; too few messages to check)"
    known = {u: e for u, e in errors.items() if e is not None}
    nearest = min(known, key=known.__getitem__)
    if known[nearest] > _LARGEST_HEADING_ERROR or unit not in (DETECT, nearest):
        raise ValueError(
            f"headings do not fit the positions: the middle difference is {known['degrees']:.0f} "
            f"degrees if they are in degrees and {known['radians']:.0f} if in radians. Give "
            "heading_unit, or leave the heading column out: it is then taken from the positions."
        )
    how = "detected" if unit == DETECT else "stated"
    return _DEGREES[nearest], f"{nearest} ({how}; {known[nearest]:.1f} degrees off in the middle)"


_DEGREES = {"degrees": 1.0, "radians": 180 / np.pi}
_LARGEST_HEADING_ERROR = 30.0


def in_knots_and_degrees(messages: Messages, knots: float, degrees: float | None) -> Messages:
    """Return the messages with speeds in knots and headings in degrees."""
    headings = messages.headings
    if headings is not None and degrees is not None:
        headings = headings * degrees
    return replace(messages, speeds=messages.speeds * knots, headings=headings)


def _speed_ratio(messages: Messages) -> float | None:
    """Median over steps of the speed between two positions, in knots, to the one reported."""
    before, after, seconds = _steps(messages)
    reported = (messages.speeds[before] + messages.speeds[after]) / 2
    # Slow steps are turns and taxiing: a straight way is shorter than what was flown.
    is_fast = reported > 0.5 * np.median(reported) if len(reported) else reported > 0
    if np.count_nonzero(is_fast) < _MIN_STEPS:
        return None
    km = _distance(messages, before[is_fast], after[is_fast])
    knots = km / KM_PER_NAUTICAL_MILE / (seconds[is_fast] / 3600)
    ratio = float(np.median(knots / reported[is_fast]))
    return ratio if ratio > 0 else None


def _heading_error(messages: Messages, degrees: float) -> float | None:
    if messages.headings is None:
        return None
    before, after, _ = _steps(messages)
    has_heading = np.isfinite(messages.headings[before])
    before, after = before[has_heading], after[has_heading]
    if len(before) < _MIN_STEPS:
        return None
    north, east = displacement(
        messages.latitudes[before],
        messages.longitudes[before],
        messages.latitudes[after],
        messages.longitudes[after],
    )
    course = np.degrees(np.arctan2(east, north))
    error = (messages.headings[before] * degrees - course + 180.0) % 360.0 - 180.0
    return float(np.median(np.abs(error)))


def _steps(messages: Messages) -> tuple[IntArray, IntArray, FloatArray]:
    """Pairs of messages of one id that follow one another and moved, and the seconds between."""
    seconds = np.diff(messages.times)
    is_step = (np.diff(messages.codes) == 0) & (seconds >= _STEP_SECONDS[0])
    is_step &= seconds <= _STEP_SECONDS[1]
    is_step &= (messages.speeds[:-1] > 0) & (messages.speeds[1:] > 0)
    before = np.flatnonzero(is_step)
    has_moved = _distance(messages, before, before + 1) > 0
    return before[has_moved], before[has_moved] + 1, seconds[before][has_moved]


def _usual_step(messages: Messages) -> str:
    """Say how far apart the messages are, if any two are of one id."""
    seconds = np.diff(messages.times)[np.diff(messages.codes) == 0]
    return f" (the middle pair {np.median(seconds):.3g})" if len(seconds) else ""


def _distance(messages: Messages, before: IntArray, after: IntArray) -> FloatArray:
    return distance_km(
        messages.latitudes[before],
        messages.longitudes[before],
        messages.latitudes[after],
        messages.longitudes[after],
    )


def _check(name: str, unit: str, allowed: tuple[str, ...]) -> None:
    if unit not in allowed:
        raise InputError(name, f"must be one of {', '.join(allowed)}", got=unit)
