"""A table in time order to windows, without loading the whole of it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.ordered_rows import OrderedRows
from dynmeans.runs.reading.rows import Position, Rows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import Window, WindowOptions
from dynmeans.runs.reading.window_rules import Key, make_window_rule, windows_between


class Windows:
    """The windows of a table in order of time; iterate over it once.

    Parameters
    ----------
    source : Source
        The table, of `n_rows` rows; `is_sorted` is whether it was in order already.
    options : WindowOptions
        How it is ordered and divided.
    position : mapping, optional
        Position at which an earlier pass stopped (`Run.position`), to resume there; updated while
        windows are read.

    Attributes
    ----------
    missing : Counter of str
        How many of the dropped rows lacked each column; a row may lack several.
    unread : str
        A time that could not be read, as messages show it; empty where there is none.
    n_dropped_rows, n_late_rows : int
        Rows dropped after the last window, and late ones: in a table there are none.

    See Also
    --------
    dynmeans.runs.Source : The table.
    Run.process_all : Clusters them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"hour": [0.5, 7.0, 0.1, 1.2], "x": [1.0, 4.0, 2.0, 3.0]})
    >>> options = WindowOptions(features=("x",), time="hour", every="1")
    >>> with Source(table) as source:
    ...     for window in Windows(source, options):
    ...         print(window.name, window.elapsed, window.row_ids.tolist(), window.points.tolist())
    0 1.0 [2, 0] [[2.0], [1.0]]
    1 1.0 [3] [[3.0]]
    7 6.0 [1] [[4.0]]
    """

    def __init__(
        self,
        source: Source,
        options: WindowOptions,
        position: Mapping[str, Any] | None = None,
    ) -> None:
        self._rows = OrderedRows(source, options)
        self._options = options
        self._time_is_number = self._rows.time_is_number
        self._cut = make_window_rule(options, time_is_number=self._time_is_number)
        self.features, self.n_rows = self._rows.features, self._rows.n_rows
        self.is_sorted, self.missing = self._rows.is_sorted, self._rows.missing
        self.unread = self._rows.unread
        self.position: dict[str, Any] = dict(position or {"rows_read": 0, "key": None})
        self.n_dropped_rows = self.n_late_rows = 0

    def __iter__(self) -> Iterator[Window]:
        """Yield the windows that were not processed before."""
        parts: list[Rows] = []
        last_key: Key = 0
        for rows in self._rows.read(self._place(), self.position.get("digest")):
            begin = 0
            times, names = rows.columns.get("time"), rows.columns.get("window_column")
            for key, end in self._cut.pieces(times, names, len(rows.points)):
                if parts and key != last_key:
                    yield self._make_window(last_key, Rows.join(parts))
                    parts = []
                parts.append(rows.cut(begin, end))
                last_key, begin = key, end
        if parts and not self._is_held(parts):
            yield self._make_window(last_key, Rows.join(parts))
            parts = []
        if not parts:
            self._rows.digest.feed(None, self.n_rows)
            self.n_dropped_rows = self.n_rows - self.position["rows_read"]
            self.position = {
                **self.position,
                **asdict(self._rows.last),
                "is_finished": True,
                "digest": self._rows.digest.value,
            }

    def _place(self) -> Position:
        known = (self.position.get(name) for name in ("last_row", "last_time"))
        return Position(self.position["rows_read"], *known)

    def _is_held(self, parts: list[Rows]) -> bool:
        count = self._options.rows_per_window
        is_full = count is not None and sum(len(part.points) for part in parts) == count
        return self._options.keep_last_open and not is_full

    def _make_window(self, key: Key, rows: Rows) -> Window:
        elapsed = self._steps_between(key, len(rows.points))
        n_read = int(rows.places[-1]) + 1 - self.position["rows_read"]
        times, names = rows.columns.get("time"), rows.columns.get("id")
        end = int(rows.places[-1]) + 1
        self._rows.digest.feed(rows, end)
        self.position = {
            "rows_read": end,
            # Windows of a count begin where the last one ended, whatever their number.
            "key": key if self._options.rows_per_window is None else None,
            "last_row": int(rows.numbers[-1]),
            "last_time": None if times is None else times[-1].item(),
            "digest": self._rows.digest.value,
        }
        return Window(
            points=rows.points,
            elapsed=elapsed,
            row_ids=rows.numbers if names is None else names,
            rows=None if names is None else rows.numbers,
            times=times if self._time_is_number or times is None else times.view("datetime64[us]"),
            weights=rows.columns.get("weight"),
            truth=rows.columns.get("truth"),
            name=self._cut.name_of(key, None if times is None else times[0].item()),
            n_dropped_rows=n_read - len(rows.points),
            position=self.position,
            texts=rows.columns.get("text"),
            is_validated=True,
        )

    def _steps_between(self, key: Key, n_rows: int) -> float:
        before = self.position["key"]
        if before is None:
            return 1.0
        if windows_between(before, key) <= 0:
            raise InputError(
                "",
                "the run has closed the window {!r} already, but {} came for it",
                self._cut.name_of(key, None),
                format_count(n_rows, "more row"),
                hint="If the input grows, use {keep_last_open=True}, so that the last window waits "
                "for its rows.",
            )
        return windows_between(before, key)
