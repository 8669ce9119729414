"""JSON lines as they arrive to windows: one closes when no row of it can come any more."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dynmeans.runs.reading.cuts import Key
from dynmeans.runs.reading.json_lines import parse_line
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.open_windows import OpenWindows
from dynmeans.runs.reading.window import Window
from dynmeans.runs.reading.window_options import WindowOptions


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
    missing : Counter of str
        How many of the dropped rows lacked each column.

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
        self._rows = LiveRows(options, "line {}".format)
        self.missing = self._rows.missing
        self._taken_in: Any = (position or {}).get("key")
        self._open = OpenWindows(self._rows, options, self._taken_in)
        self._latest: tuple[float, int] = -math.inf, 0
        self._n_lines = 0
        self.n_late = self.n_dropped = self.n_repeated = 0
        self.position: dict[str, Any] = dict(position or {"key": None, "lines_read": 0})

    def __iter__(self) -> Iterator[Window]:
        """Yield each window as soon as it is complete."""
        for line in self._lines:
            self._n_lines += 1
            if not line.strip():
                continue
            record = parse_line(line, self._n_lines)
            row = self._rows.read(record, self._n_lines, self._latest)
            self.n_dropped += row is None
            if row is not None and self._is_placed(row):
                for key in self._open.complete(self._latest[0]):
                    yield self._finished(key)
        for key in sorted(self._open.held) if not self._options.hold_last else ():
            yield self._finished(key)
        self.position |= {"is_finished": not self._open.held, "lines_read": self._n_lines}

    def _is_placed(self, row: LiveRow) -> bool:
        """Put a row into its window, unless that is closed."""
        key: Any = self._open.key_of(row)
        if self._open.takes(key):
            self._open.add(key, row)
            if row.time is not None and row.time > self._latest[0]:
                self._latest = row.time, row.number
            return True
        if self._taken_in is not None and key <= self._taken_in:
            self.n_repeated += 1
            return False
        if self._options.on_late == "error":
            raise self._open.late_error(key, row)
        self.n_late += 1
        return False

    def _finished(self, key: Key) -> Window:
        closed = self._open.close(key)
        rows = closed.pop("rows_in_order")
        self.position = {"key": self._open.key, "lines_read": self._n_lines}
        counts: dict[str, Any] = {"n_dropped": self.n_dropped, "n_late": self.n_late}
        self.n_dropped = self.n_late = 0
        numbers = np.array([row.number - 1 for row in rows])
        has_ids = self._options.id is not None
        return Window(
            row_ids=self._rows.plain("id", rows) if has_ids else numbers,
            rows=numbers if has_ids else None,
            position=self.position,
            **closed,
            **counts,
        )
