"""JSON lines as they arrive to windows: one closes when no row of it can come any more."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import TIME_UNITS, check_column, match_features
from dynmeans.runs.reading.cuts import CutByLength, Key, make_cut, steps_between
from dynmeans.runs.reading.durations import (
    LARGEST_EXACT,
    microseconds_of,
    parse_lateness,
    parse_zone,
)
from dynmeans.runs.reading.json_lines import is_finite, parse_line, shown
from dynmeans.runs.reading.time_bounds import TimeBounds
from dynmeans.runs.reading.window import Window
from dynmeans.runs.reading.window_options import WindowOptions


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    line: int
    time: float | None
    point: list[float]
    weight: float | None
    id: Any
    truth: Any


class LiveWindows:
    """The windows of a stream of JSON objects, one on each line; iterate over it once.

    Rows may come in any order within `options.lateness`; a window is closed, and given out, once
    a row has come that is later than its end by that much. What comes later still is refused or
    counted (`options.on_late`). At the end of the stream every window is closed.

    Parameters
    ----------
    lines : iterable of str or bytes
        The stream.
    options : WindowOptions
        How it is cut.
    position : mapping, optional
        Where an earlier pass stopped: rows of windows that were closed then are skipped, so the
        sender may start again at any row before that place.

    Attributes
    ----------
    n_late, n_dropped : int
        Rows left out since the last window.
    n_repeated : int
        Rows skipped because an earlier pass took them in.

    Examples
    --------
    >>> lines = ['{"t": 1, "x": 5}', '{"t": 12, "x": 6}', '{"t": 9, "x": 7}', '{"t": 25, "x": 8}']
    >>> options = WindowOptions(features=("x",), time="t", every="10", lateness="5")
    >>> [window.points.ravel().tolist() for window in LiveWindows(lines, options)]
    [[5.0, 7.0], [6.0], [8.0]]
    """

    def __init__(
        self,
        lines: Iterable[str | bytes],
        options: WindowOptions,
        position: Mapping[str, Any] | None = None,
    ) -> None:
        self._lines, self._options = lines, options
        self._zone = parse_zone(options.timezone)
        self._time_is_number: bool | None = None
        self._features: tuple[str, ...] | None = None
        self._closed: Any = (position or {}).get("key")
        self._taken_in: Any = self._closed
        self._open: dict[Key, list[_Row]] = {}
        self._latest, self._latest_line = -math.inf, 0
        self._n_lines = 0
        self.n_late = self.n_dropped = self.n_repeated = 0
        self.position: dict[str, Any] = dict(position or {"key": None, "lines_read": 0})

    def __iter__(self) -> Iterator[Window]:
        """Yield each window as soon as it is complete."""
        for line in self._lines:
            self._n_lines += 1
            if not line.strip():
                continue
            row = self._row_of(parse_line(line, self._n_lines))
            if row is not None and self._is_placed(*row):
                yield from self._complete()
        for key in sorted(self._open) if not self._options.hold_last else ():
            yield self._finished(key)
        self.position |= {"is_finished": not self._open, "lines_read": self._n_lines}

    def _is_placed(self, row: _Row, batch: Any) -> bool:
        """Put a row into its window, unless that is closed."""
        key = self._key_of(row, batch)
        if self._closed is None or self._options.count is not None or key > self._closed:
            self._open.setdefault(key, []).append(row)
            if row.time is not None and row.time > self._latest:
                self._latest, self._latest_line = row.time, row.line
            return True
        if self._taken_in is not None and key <= self._taken_in:
            self.n_repeated += 1
            return False
        if self._options.on_late == "error":
            raise InputError(
                "",
                "line {} belongs to the window {!r}, which is closed",
                row.line,
                self._cut.name_of(key, None),
                hint="Allow for more disorder with {lateness}, or leave late rows out with "
                "{on_late='drop'}; they are counted.",
            )
        self.n_late += 1
        return False

    def _key_of(self, row: _Row, batch: Any) -> Key:
        if isinstance(self._cut, CutByLength):
            assert row.time is not None
            return self._cut.length.index_of(row.time)
        if self._options.count is not None:
            return 0
        key = batch if isinstance(batch, int) else str(batch)
        known = next(iter(self._open), self._closed)
        is_like_others = known is None or isinstance(known, str) == isinstance(key, str)
        if not is_like_others or (isinstance(key, int) and abs(key) > LARGEST_EXACT):
            raise InputError(
                "batch",
                ": line {} has {}; windows are named by integers of at most 2**53, or all by text",
                row.line,
                shown(batch),
            )
        return key

    def _complete(self) -> Iterator[Window]:
        """Close the windows that no row within the lateness can reach."""
        if self._options.count is not None:
            if len(self._open[0]) == self._options.count:
                yield self._finished(0)
            return
        if isinstance(self._cut, CutByLength):
            safe = self._latest - self._lateness
            length = self._cut.length
            for key in sorted(self._open):
                if length.start_of(int(key) + 1) <= safe:
                    yield self._finished(key)
            return
        for key in sorted(self._open)[:-1]:
            yield self._finished(key)

    def _finished(self, key: Key) -> Window:
        rows = sorted(self._open.pop(key), key=lambda row: (row.time or 0, row.line))
        before = None if self._options.count is not None else self._closed
        self._closed = key
        self.position = {
            "key": None if self._options.count is not None else key,
            "lines_read": self._n_lines,
        }
        counts: dict[str, Any] = {"n_dropped": self.n_dropped, "n_late": self.n_late}
        self.n_dropped = self.n_late = 0
        numbers = np.array([row.line - 1 for row in rows])
        has_ids = self._options.id is not None
        return Window(
            points=np.array([row.point for row in rows]),
            elapsed=1.0 if before is None else steps_between(before, key),
            row_ids=_plain("id", rows) if has_ids else numbers,
            rows=numbers if has_ids else None,
            times=self._times([row.time for row in rows]),
            weights=None
            if self._options.weight is None
            else np.array([row.weight for row in rows]),
            truth=None if self._options.truth is None else _plain("truth", rows, unknown=-1),
            name=self._cut.name_of(key, rows[0].time),
            position=self.position,
            **counts,
        )

    def _times(self, times: list[Any]) -> Any:
        if self._options.time is None:
            return None
        if self._time_is_number:
            return np.array(times, dtype=np.float64)
        return np.array(times, dtype=np.int64).view("datetime64[us]")

    def _row_of(self, record: dict[str, Any]) -> tuple[_Row, Any] | None:
        """Read one object; None if it is dropped because a value is missing."""
        options = self._options
        if self._features is None:
            self._learn_kinds(record)
        features = self._features or ()
        missing = [name for name in features if not is_finite(record.get(name))]
        needed = [name for name in (options.time, options.batch) if name]
        missing += [name for name in needed if record.get(name) is None]
        if options.weight is not None and not is_finite(record.get(options.weight)):
            missing.append(options.weight)
        if missing:
            if options.on_missing == "error":
                raise InputError(
                    "",
                    "line {} has no finite value for {}",
                    self._n_lines,
                    ", ".join(map(repr, missing)),
                    hint="{on_missing='drop'} leaves such rows out, and counts them.",
                )
            self.n_dropped += 1
            return None
        row = _Row(
            line=self._n_lines,
            time=None if options.time is None else self._time_of(record[options.time]),
            point=[float(record[name]) for name in features],
            weight=None if options.weight is None else float(record[options.weight]),
            id=record.get(options.id) if options.id else None,
            truth=record.get(options.truth) if options.truth else None,
        )
        return row, record[options.batch] if options.batch else None

    def _learn_kinds(self, record: dict[str, Any]) -> None:
        """The first row says which features there are, and what times look like."""
        columns = {
            name: "VARCHAR" if isinstance(value, str) else "DOUBLE"
            for name, value in record.items()
        }
        self._features = match_features(self._options.features, columns)
        for option in ("time", "batch", "weight", "id", "truth"):
            if (name := getattr(self._options, option)) is not None:
                check_column(option, name, columns)
        time = record.get(self._options.time) if self._options.time else None
        forms = (self._options.time_unit, self._options.time_forms)
        is_number = isinstance(time, int | float) and not any(forms)
        self._time_is_number = is_number
        self._cut = make_cut(self._options, time_is_number=is_number)
        self._lateness = parse_lateness(self._options.lateness, is_number=is_number)
        self._bounds = TimeBounds(self._options, is_number=is_number, row="line {}")

    def _time_of(self, value: Any) -> float:
        time = self._read_time(value)
        if time is None:
            form = " or ".join(map(repr, self._options.time_forms))
            wanted = f" of the form {form}" if form else ""
            rule = ": line {} has {}, which is no time{}"
            raise InputError("time", rule, self._n_lines, shown(value), wanted)
        self._bounds.check_one(time, self._n_lines)
        if self._options.batch is None and self._latest > -math.inf:
            row = np.array([time]), np.array([self._n_lines])
            self._bounds.check_jump((self._latest, self._latest_line), *row)
        return time

    def _read_time(self, value: Any) -> float | None:
        if is_finite(value):
            if self._time_is_number:
                return float(value)
            unit = self._options.time_unit
            return None if unit is None else round(min(max(value, -1e18), 1e18) * TIME_UNITS[unit])
        if not isinstance(value, str) or self._time_is_number:
            return None
        for form in self._options.time_forms or (None,):
            try:
                moment = datetime.strptime(value, form) if form else datetime.fromisoformat(value)
                return microseconds_of(moment, self._zone)
            except (ValueError, OverflowError):
                continue
        return None


def _plain(name: str, rows: list[_Row], unknown: int | None = None) -> Any:
    """Integers stay integers, all else becomes text; as every window of the run must do alike."""
    values = [getattr(row, name) for row in rows]
    known = [value for value in values if value is not None]
    if not all(isinstance(value, int) for value in known):
        return np.array([None if value is None else str(value) for value in values], dtype=object)
    for row, value in zip(rows, values, strict=True):
        if value is not None and not -(2**63) <= value < 2**63:
            rule = ": line {} has {}, an integer of more than 64 bits"
            raise InputError(name, rule, row.line, shown(value), hint="Send it as text.")
    return np.array([unknown if value is None else value for value in values])
