"""Windows that still take rows in: which one a row belongs to, and when one is complete."""

import math
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.cuts import CutByLength, Key, steps_between
from dynmeans.runs.reading.durations import LARGEST_EXACT
from dynmeans.runs.reading.json_lines import shown
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.window_options import WindowOptions


class OpenWindows:
    """The rows of a live source by window, and the last window that was closed."""

    def __init__(self, rows: LiveRows, options: WindowOptions, closed: Key | None) -> None:
        self._rows, self._options = rows, options
        self.closed = closed
        self.held: dict[Key, list[LiveRow]] = {}

    def key_of(self, row: LiveRow) -> Key:
        """Return the window that a row belongs to."""
        cut = self._rows.cut
        if isinstance(cut, CutByLength):
            assert row.time is not None
            return cut.length.index_of(row.time)
        if self._options.count is not None:
            return 0
        is_whole = isinstance(row.batch, float) and row.batch.is_integer()
        key: Key = int(row.batch) if is_whole or isinstance(row.batch, int) else str(row.batch)
        known = next(iter(self.held), self.closed)
        is_like_others = known is None or isinstance(known, str) == isinstance(key, str)
        if not is_like_others or (isinstance(key, int) and abs(key) > LARGEST_EXACT):
            raise InputError(
                "batch",
                ": {} has {}; windows are named by integers of at most 2**53, or all by text",
                self._rows.place_of(row.number),
                shown(row.batch),
            )
        return key

    def takes(self, key: Any) -> bool:
        """Say whether a window is still open."""
        if self.closed is None or self._options.count is not None:
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
            self._rows.place_of(row.number),
            self._rows.cut.name_of(key, None),
            hint="Allow for more disorder with {lateness}, or leave late rows out with "
            "{on_late='drop'}; they are counted.",
        )

    def complete(self, watermark: float) -> list[Key]:
        """Return the windows that no row can reach any more, in order.

        With windows of time: those that end at `watermark` or before, less the lateness.
        """
        if not self.held:
            return []
        if self._options.count is not None:
            return [0] if len(self.held[0]) == self._options.count else []
        if isinstance(self._rows.cut, CutByLength):
            if watermark == -math.inf:
                return []
            safe, length = watermark - self._rows.lateness, self._rows.cut.length
            return [key for key in sorted(self.held) if length.start_of(int(key) + 1) <= safe]
        return sorted(self.held)[:-1]

    def close(self, key: Key) -> dict[str, Any]:
        """Close a window; return what `Window` takes, but for names of rows and counts."""
        rows = sorted(self.held.pop(key), key=lambda row: (row.time or 0, row.number))
        is_counted = self._options.count is not None
        before = None if is_counted else self.closed
        self.closed = key
        weights = np.array([row.weight for row in rows]) if self._options.weight else None
        truth = self._rows.plain("truth", rows, unknown=-1) if self._options.truth else None
        return {
            "points": np.array([row.point for row in rows]),
            "elapsed": 1.0 if before is None else steps_between(before, key),
            "times": self._rows.times(rows),
            "weights": weights,
            "truth": truth,
            "name": self._rows.cut.name_of(key, rows[0].time),
            "rows_in_order": rows,
        }

    @property
    def key(self) -> Key | None:
        """The last closed window, as a position stores it; None where rows are counted."""
        return None if self._options.count is not None else self.closed
