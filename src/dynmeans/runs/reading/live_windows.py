"""Rows as they arrive to windows: one closes when no row of it can come any more."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.durations import LARGEST_EXACT
from dynmeans.runs.reading.future_rows import FutureRowFilter, Limits, ahead_error, limits_of
from dynmeans.runs.reading.json_lines import parse_line, quote_short
from dynmeans.runs.reading.late_rows import LateRows, warn_if_mostly_late
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.window import Window, WindowOptions
from dynmeans.runs.reading.window_rules import Key, TimeWindowRule, windows_between


class OpenWindows:
    """The rows of a live source by window, and the last window that was closed."""

    def __init__(self, rows: LiveRows, options: WindowOptions, closed: Key | None) -> None:
        self._rows, self._options = rows, options
        self.closed = closed
        self.held: dict[Key, list[LiveRow]] = {}

    def key_of(self, row: LiveRow) -> Key:
        """Return the window that a row belongs to."""
        cut = self._rows.cut
        if isinstance(cut, TimeWindowRule):
            assert row.time is not None
            return cut.length.index_of(row.time)
        if self._options.rows_per_window is not None:
            return 0
        is_whole = isinstance(row.batch, float) and row.batch.is_integer()
        key: Key = int(row.batch) if is_whole or isinstance(row.batch, int) else str(row.batch)
        known = next(iter(self.held), self.closed)
        is_like_others = known is None or isinstance(known, str) == isinstance(key, str)
        if not is_like_others or (isinstance(key, int) and abs(key) > LARGEST_EXACT):
            raise InputError(
                "window_column",
                ": {} has {}; windows are named by integers of at most 2**53, or all by text",
                self._rows.position_of(row.number),
                quote_short(row.batch),
            )
        return key

    def takes(self, key: Any) -> bool:
        """Return whether a window is still open."""
        if self.closed is None or self._options.rows_per_window is not None:
            return True
        return bool(key > self.closed)

    def add(self, key: Key, row: LiveRow) -> None:
        """Put a row into its window."""
        self.held.setdefault(key, []).append(row)

    def late_error(self, key: Key, row: LiveRow) -> InputError:
        """Return the error of a row whose window is closed."""
        return InputError(
            "",
            "{} belongs to the window {!r}, which is closed",
            self._rows.position_of(row.number),
            self._rows.cut.name_of(key, None),
            hint="Allow for more disorder with {allowed_lateness}, or leave late rows out with "
            "{on_late='drop'}; they are counted.",
        )

    def complete(self, watermark: float) -> list[Key]:
        """Return the windows that end before `watermark` less the allowed lateness, in order."""
        if not self.held:
            return []
        if self._options.rows_per_window is not None:
            return [0] if len(self.held[0]) == self._options.rows_per_window else []
        if isinstance(self._rows.cut, TimeWindowRule):
            if watermark == -math.inf:
                return []
            safe, length = watermark - self._rows.allowed_lateness, self._rows.cut.length
            return [key for key in sorted(self.held) if length.start_of(int(key) + 1) <= safe]
        return sorted(self.held)[:-1]

    def close(self, key: Key) -> dict[str, Any]:
        """Close a window; return what `Window` takes, except names of rows and counts."""
        rows = sorted(self.held.pop(key), key=lambda row: (row.time or 0, row.number))
        is_counted = self._options.rows_per_window is not None
        before = None if is_counted else self.closed
        self.closed = key
        weights = np.array([row.weight for row in rows]) if self._options.weight else None
        truth = self._rows.plain("truth", rows, unknown=-1) if self._options.truth else None
        return {
            "points": np.array([row.point for row in rows]),
            "texts": self._texts(rows),
            "elapsed": 1.0 if before is None else windows_between(before, key),
            "times": self._rows.times(rows),
            "weights": weights,
            "truth": truth,
            "name": self._rows.cut.name_of(key, rows[0].time),
            "rows_in_order": rows,
        }

    def _texts(self, rows: list[LiveRow]) -> Any:
        if self._options.text is None:
            return None
        return np.array([row.text for row in rows], dtype=object)

    @property
    def key(self) -> Key | None:
        """The last closed window, as a position stores it; None where rows are counted."""
        return None if self._options.rows_per_window is not None else self.closed


class LiveWindows:
    """The windows of a stream of JSON objects, one on each line; iterate over it once.

    A window is closed once a row has come that is later than its end by `options.allowed_lateness`,
    and all at the end of the stream. `n_late_rows` and `n_dropped_rows` count rows left out since
    the last window, `n_repeated` those skipped because an earlier pass, which stopped at
    `position`, has closed their windows: the sender may start again at any row before.
    """

    def __init__(
        self,
        lines: Iterable[str | bytes],
        options: WindowOptions,
        position: Mapping[str, Any] | None = None,
    ) -> None:
        self._lines, self._options = lines, options
        self._rows = LiveRows(options, "line {}".format, (position or {}).get("kinds"))
        self._far = FutureRowFilter()
        self._held = dict[int, LiveRow]()  # back, as far ahead
        self._late = LateRows.from_stored(position)
        self.missing = self._rows.missing
        self._taken_in: Any = (position or {}).get("key")
        self._open_text = OpenWindows(self._rows, options, self._taken_in)
        self._latest = -math.inf
        self._n_lines = 0
        self.n_late_rows = self.n_dropped_rows = self.n_repeated = 0
        self.position: dict[str, Any] = dict(position or {"key": None, "lines_read": 0})

    def __iter__(self) -> Iterator[Window]:
        """Yield each window as soon as it is complete."""
        for line in self._lines:
            self._n_lines += 1
            if not line.strip():
                continue
            record = parse_line(line, self._n_lines)
            row = self._rows.read(record, self._n_lines)
            if row is None:
                self._leave_out(record)
            for one, is_taken in self._sort_out(row) if row is not None else ():
                self._place(one, is_taken)
            for key in self._open_text.complete(self._watermark()):
                yield self._make_window(key)
        self._far, settled = self._far.end(is_all=True)
        for number, _ in settled:
            self._place(self._held[number], True)
        for key in sorted(self._open_text.held) if not self._options.keep_last_open else ():
            yield self._make_window(key)
        self.position |= {"is_finished": not self._open_text.held, "lines_read": self._n_lines}
        self.position |= self._late.to_json_state()

    @cached_property
    def _limits(self) -> Limits | None:
        return limits_of(self._rows, self._options)  # known once there is a row

    def _sort_out(self, row: LiveRow) -> list[tuple[LiveRow, bool]]:
        """Return the rows of which it is known by now whether they are taken."""
        if row.time is None or self._limits is None:
            return [(row, True)]
        self._held[row.number] = row
        self._far, found = self._far.take(self._limits, row.number, row.time)
        return [(self._held.pop(number), is_taken) for number, is_taken in found]

    def _leave_out(self, record: dict[str, Any]) -> None:
        """Count a row that lacks a value, unless an earlier pass has counted it."""
        is_again = False
        if self._taken_in is not None and isinstance(self._rows.cut, TimeWindowRule):
            row = self._rows.when(record, self._n_lines)
            is_again = row is not None and bool(self._open_text.key_of(row) <= self._taken_in)
        self.n_repeated += is_again
        self.n_dropped_rows += not is_again

    def _watermark(self) -> float:
        """The latest time of rows in windows, as far as rows agree."""
        return min(self._latest, self._far.latest.get("", -math.inf))

    def _place(self, row: LiveRow, is_taken: bool) -> None:
        """Put a row into its window, unless that is closed or the row is not taken."""
        if not is_taken:
            if self._options.on_late == "error":
                assert self._limits is not None, "none is ahead without them"
                raise ahead_error(self._far, self._limits, row, self._rows)
            self.n_late_rows += 1
            return
        key: Any = self._open_text.key_of(row)
        if self._open_text.takes(key):
            self._open_text.add(key, row)
            self._latest = max(self._latest, -math.inf if row.time is None else row.time)
            self._late = self._late.add(is_late=False)
        elif self._taken_in is not None and key <= self._taken_in:
            self.n_repeated += 1
        elif self._options.on_late == "error":
            raise self._open_text.late_error(key, row)
        else:
            self.n_late_rows += 1
            before, self._late = self._late, self._late.add(is_late=True)
            warn_if_mostly_late(before, self._late)

    def _make_window(self, key: Key) -> Window:
        closed = self._open_text.close(key)
        rows = closed.pop("rows_in_order")
        self.position = {
            "key": self._open_text.key,
            "lines_read": self._n_lines,
            "kinds": self._rows.kinds,
            **self._late.to_json_state(),
        }
        counts: dict[str, Any] = {
            "n_dropped_rows": self.n_dropped_rows,
            "n_late_rows": self.n_late_rows,
        }
        self.n_dropped_rows = self.n_late_rows = 0
        numbers = np.array([row.number - 1 for row in rows])
        has_ids = self._options.id is not None
        return Window(
            row_ids=self._rows.plain("id", rows) if has_ids else numbers,
            rows=numbers if has_ids else None,
            position=self.position,
            **closed,
            **counts,
        )
