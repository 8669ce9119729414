"""Where one window ends and the next begins, in rows that come in order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from dynmeans.runs.reading.durations import (
    WindowLength,
    format_time,
    name_of_number,
    parse_length,
    parse_zone,
)
from dynmeans.runs.reading.window import WindowOptions

Key = int | str


@dataclass(slots=True)
class TimeWindowRule:
    """Windows of time."""

    length: WindowLength

    def pieces(self, times: Any, names: Any, n_rows: int) -> Iterator[tuple[Key, int]]:
        """Find each window's end by bisection: the times are sorted."""
        begin = 0
        while begin < n_rows:
            index = self.length.index_of(times[begin].item())
            end = int(np.searchsorted(times, self.length.start_of(index + 1), side="left"))
            yield index, end
            begin = end

    def name_of(self, key: Key, first_time: Any) -> str | None:
        """Name a window by its start."""
        return self.length.name_of(int(key))


@dataclass(slots=True)
class CountWindowRule:
    """Windows of a fixed number of rows."""

    rows_per_window: int
    zone: ZoneInfo
    is_number: bool
    n_seen: int = 0

    def pieces(self, times: Any, names: Any, n_rows: int) -> Iterator[tuple[Key, int]]:
        """Resume counting where the last piece ended."""
        begin = 0
        while begin < n_rows:
            key = self.n_seen // self.rows_per_window
            end = min(n_rows, begin + (key + 1) * self.rows_per_window - self.n_seen)
            self.n_seen += end - begin
            yield key, end
            begin = end

    def name_of(self, key: Key, first_time: Any) -> str | None:
        """Name a window by the time of its first row."""
        if first_time is None:
            return None
        if self.is_number:
            return name_of_number(first_time)
        return format_time(int(first_time), self.zone)


@dataclass(slots=True)
class ColumnWindowRule:
    """Windows that a column names."""

    def pieces(self, times: Any, names: Any, n_rows: int) -> Iterator[tuple[Key, int]]:
        """End a piece where the name changes."""
        changes = np.flatnonzero(names[1:] != names[:-1]) + 1
        for end in [*changes.tolist(), n_rows] if n_rows else ():
            key = names[end - 1]
            yield int(key) if isinstance(key, np.integer) else str(key), end

    def name_of(self, key: Key, first_time: Any) -> str | None:
        """Name a window as the column does."""
        return str(key)


# Each divides rows into pieces of one key, each with the row after its end.
Cut = TimeWindowRule | CountWindowRule | ColumnWindowRule


def make_window_rule(options: WindowOptions, *, time_is_number: bool) -> Cut:
    """Return the cut that the options ask for."""
    zone = parse_zone(options.timezone)
    if options.every is not None:
        return TimeWindowRule(parse_length(options.every, zone, is_number=time_is_number))
    if options.rows_per_window is not None:
        return CountWindowRule(options.rows_per_window, zone, time_is_number)
    return ColumnWindowRule()


def windows_between(before: Key, key: Key) -> float:
    """Time from one window to the next: empty windows in between count."""
    if isinstance(before, int) and isinstance(key, int):
        return float(key - before)
    return 0.0 if key == before else 1.0
