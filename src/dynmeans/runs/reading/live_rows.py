"""Rows as they arrive, read one by one from JSON objects."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import TIME_UNITS, check_column, match_features
from dynmeans.runs.reading.durations import microseconds_of, parse_lateness, parse_zone
from dynmeans.runs.reading.json_lines import is_finite, quote_short
from dynmeans.runs.reading.text_checks import is_number_to_a_reader
from dynmeans.runs.reading.time_bounds import TimeBounds
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.reading.window_rules import Cut, make_window_rule

_MAX_MICROS = 9e18  # whatever is beyond is out of bounds


@dataclass(frozen=True, slots=True, eq=False)
class LiveRow:
    """One row; `number` is its place in the order of arrival, whatever the source counts in.

    `before` is the place before it, where the source can be read from there on.
    """

    number: Any
    time: float | None
    point: list[float]
    weight: float | None
    id: Any
    truth: Any
    batch: Any
    before: Any = None
    text: str | None = None


class LiveRows:
    """Makes rows of JSON objects; the first determines the columns and their types."""

    cut: Cut
    allowed_lateness: float

    def __init__(
        self,
        options: WindowOptions,
        position_of: Callable[[Any], str],
        kinds: Mapping[str, Any] | None = None,
    ) -> None:
        self._options, self.position_of = options, position_of
        self._zone = parse_zone(options.timezone)
        self._is_nested = [name for name in options.columns if "." in name]
        self._features: tuple[str, ...] | None = None
        self.time_is_number: bool | None = None
        self.missing: Counter[str] = Counter()
        if kinds is not None:
            self._set_kinds(tuple(kinds["features"]), kinds["time_is_number"])

    @property
    def kinds(self) -> dict[str, Any] | None:
        """Columns and types of the first row, stored in the position; None before it."""
        if self._features is None:
            return None
        return {"features": list(self._features), "time_is_number": self.time_is_number}

    def read(self, record: dict[str, Any], number: Any) -> LiveRow | None:
        """Read one object; None if a value is missing and such rows are dropped."""
        options = self._options
        if self._is_nested:
            record = record | {name: _is_nested(record, name) for name in self._is_nested}
        if self._features is None:
            if options.on_missing == "drop" and (lacking := self._missing_columns(record)):
                self.missing.update(lacking)
                return None
            self._learn_kinds(record)
        features = self._features or ()
        missing = [name for name in features if not is_finite(record.get(name))]
        needed = [name for name in (options.time, options.window_column) if name]
        missing += [name for name in needed if record.get(name) is None]
        if options.weight is not None and not is_finite(record.get(options.weight)):
            missing.append(options.weight)
        for name in missing:
            if is_number_to_a_reader(record.get(name)) and name not in needed:
                rule = ": {} has {} for {!r}, which is text"
                position, message = self.position_of(number), quote_short(record[name])
                raise InputError(
                    "features", rule, position, message, name, hint="Send it as a number."
                )
        if missing:
            if options.on_missing == "error":
                raise InputError(
                    "",
                    "{} has no finite value for {}",
                    self.position_of(number),
                    ", ".join(map(repr, missing)),
                    hint="{on_missing='drop'} leaves such rows out, and counts them.",
                )
            self.missing.update(missing)
            return None
        return LiveRow(
            number=number,
            time=self._time_of(record[options.time], number) if options.time else None,
            point=[float(record[name]) for name in features],
            weight=None if options.weight is None else float(record[options.weight]),
            id=record.get(options.id) if options.id else None,
            truth=record.get(options.truth) if options.truth else None,
            batch=record[options.window_column] if options.window_column else None,
            text=_text_of(record.get(options.text)) if options.text else None,
        )

    def when(self, record: dict[str, Any], number: Any) -> LiveRow | None:
        """Return a row that was left out, for its time; None where it has none that can be read."""
        name = self._options.time
        if self._features is None or name is None or record.get(name) is None:
            return None
        try:
            time = self._time_of(record[name], number)
        except InputError:
            return None
        return LiveRow(number, time, [], None, None, None, None)

    def times(self, rows: list[LiveRow]) -> Any:
        """Return the times of rows as a window stores them."""
        if self._options.time is None:
            return None
        times = [row.time for row in rows]
        if self.time_is_number:
            return np.array(times, dtype=np.float64)
        return np.array(times, dtype=np.int64).view("datetime64[us]")

    def plain(self, name: str, rows: list[LiveRow], unknown: int | None = None) -> Any:
        """Integers stay integers, all else becomes text; every window of a run must do alike."""
        values = [getattr(row, name) for row in rows]
        known = [value for value in values if value is not None]
        if not all(isinstance(value, int) for value in known):
            texts = [None if value is None else str(value) for value in values]
            return np.array(texts, dtype=object)
        for row, value in zip(rows, values, strict=True):
            if value is not None and not -(2**63) <= value < 2**63:
                rule = ": {} has {}, an integer of more than 64 bits"
                position = self.position_of(row.number)
                raise InputError(name, rule, position, quote_short(value), hint="Send it as text.")
        return np.array([unknown if value is None else value for value in values])

    def _missing_columns(self, record: dict[str, Any]) -> list[str]:
        """Return columns that lack a value: such a row does not determine their types."""
        named = {name.strip() for text in self._options.features for name in text.split(",")}
        lacking = [name for name in named if name in record and _is_missing(record[name])]
        time = self._options.time
        return [*lacking, time] if time in record and record[time] is None else lacking

    def _learn_kinds(self, record: dict[str, Any]) -> None:
        """Learn the features and the type of times from the first row."""
        columns = {
            name: "VARCHAR" if isinstance(value, str) else "DOUBLE"
            for name, value in record.items()
        }
        features: tuple[str, ...] = ()
        if self._options.text is None:
            features = match_features(self._options.features, columns, besides=self._options.others)
        for option in ("time", "window_column", "weight", "id", "truth", "text"):
            if (name := getattr(self._options, option)) is not None:
                check_column(option, name, columns)
        time = record.get(self._options.time) if self._options.time else None
        forms = (self._options.time_unit, self._options.time_forms)
        self._set_kinds(features, isinstance(time, int | float) and not any(forms))

    def _set_kinds(self, features: tuple[str, ...], is_number: bool) -> None:
        self.time_is_number = is_number
        self.cut = make_window_rule(self._options, time_is_number=is_number)
        self.allowed_lateness = parse_lateness(self._options.allowed_lateness, is_number=is_number)
        self._bounds = TimeBounds(self._options, is_number=is_number, row="{}")
        self._features = features

    def _time_of(self, value: Any, number: Any) -> float:
        time = self._read_time(value)
        if time is None:
            form = " or ".join(map(repr, self._options.time_forms))
            wanted = f" of the form {form}" if form else ""
            rule = ": {} has {}, which is not a time{}"
            raise InputError("time", rule, self.position_of(number), quote_short(value), wanted)
        self._bounds.check_one(time, self.position_of(number))
        return time

    def _read_time(self, value: Any) -> float | None:
        if is_finite(value):
            if self.time_is_number:
                return float(value)
            unit = self._options.time_unit
            return None if unit is None else _microseconds(value, unit)
        if not isinstance(value, str) or self.time_is_number:
            return None
        for form in self._options.time_forms or (None,):
            try:
                moment = datetime.strptime(value, form) if form else datetime.fromisoformat(value)
                return microseconds_of(moment, self._zone)
            except (ValueError, OverflowError):
                continue
        return None


def _microseconds(value: float, unit: str) -> int:
    """Count microseconds as DuckDB does for a table: halves are rounded away from 0."""
    if isinstance(value, int) and unit == "ns":
        micros, rest = divmod(abs(value), 1000)
        return (micros + (rest >= 500)) * (1 if value > 0 else -1)
    product = min(max(value * TIME_UNITS[unit], -_MAX_MICROS), _MAX_MICROS)
    whole = math.trunc(product)
    return whole + (abs(product - whole) >= 0.5) * (1 if product > 0 else -1)


def _is_nested(record: Mapping[str, Any], name: str) -> Any:
    """Return a value by its name, or that of a field within, such as ``sensor.temp``."""
    if name in record:
        return record[name]
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _text_of(value: Any) -> str | None:
    """Return text without the halves of characters that JSON may hold; None for anything else."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode()


def _is_missing(value: Any) -> bool:
    is_word = isinstance(value, str) and not is_number_to_a_reader(value)
    return value is None or is_word
