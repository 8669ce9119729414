"""Messages of a stream to windows, and a position from which they can be read again."""

import json
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT
from dynmeans.runs.reading.future_rows import Limits, ahead_error, limits_of
from dynmeans.runs.reading.json_lines import parse_object
from dynmeans.runs.reading.late_rows import warn_if_mostly_late
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.live_windows import OpenWindows
from dynmeans.runs.reading.window import Window, WindowOptions
from dynmeans.runs.reading.window_rules import Key
from dynmeans.runs.run import Run
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.store.dead_letters import DeadLetter, dead_letter
from dynmeans.runs.streams.message import Message, Stream
from dynmeans.runs.streams.position import Number, StreamPosition

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.25
# Letters are committed by themselves once so many wait for a window to end.
_MAX_LETTERS = 1000
# If none of the first messages is a row, the columns are likely named wrong.
_FIRST_MESSAGES = 100


class StreamWindows:
    """The windows of a stream; iterate over it once, with one commit for each window.

    A window closes as with `LiveWindows`. A message that cannot be read as a row, lacks a value
    or comes too late is kept as a dead letter, unless such rows are dropped. On resume the rows
    of windows that were open are read again, and no row is processed or counted twice.

    Once `stop` is set, `StoppedError` is raised, and open windows are left for the next time. After
    `idle_timeout` seconds without a message all windows close, unless `options.keep_last_open` is
    set. `n_repeated` counts rows skipped because one of that name is in an open window.
    """

    def __init__(
        self,
        stream: Stream,
        options: WindowOptions,
        run: Run,
        *,
        stop: threading.Event | None = None,
        idle_timeout: float | None = None,
    ) -> None:
        stored: Mapping[str, Any] = run.position or {}
        self._stream, self._options, self._run = stream, options, run
        self._stop, self._until_idle = stop or threading.Event(), idle_timeout
        position_of = lambda number: stream.position_of(*number)  # noqa: E731
        self._rows = LiveRows(options, position_of, stored.get("kinds"))
        self._at = StreamPosition.from_stored(stored)
        self._open = OpenWindows(self._rows, options, self._at.key)
        self._unplaced: dict[Any, _Unplaced] = {}
        self._names: set[Any] = set()  # of rows in open windows
        self._letters: list[DeadLetter] = []
        self._is_any_row = self._is_again = bool(stored)
        self.n_repeated = 0
        self.position: dict[str, Any] = dict(stored)

    def __iter__(self) -> Iterator[Window]:
        """Yield each window as soon as it is complete."""
        after = {name: read.after for name, read in self._at.partitions.items()}
        self._stream.open(after, self._run.inbox())
        last_message = time.monotonic()
        try:
            while not self._stop.is_set():
                messages = self._stream.poll(_POLL_SECONDS)
                for message in messages or ():
                    yield from self._process_message(message)
                    if self._stop.is_set():
                        break
                else:
                    yield from self._complete()  # a partition may have come to its end
                if messages is None or messages:  # a place that is away is not idle
                    last_message = time.monotonic()
                elif self._is_idle(time.monotonic() - last_message):
                    yield from self._is_past_end()
                    return
                elif self._letters:
                    self._note()
            self._note()
            raise StoppedError
        finally:
            self._stream.close()

    def _is_idle(self, seconds: float) -> bool:
        return self._until_idle is not None and seconds >= self._until_idle

    def _is_past_end(self) -> Iterator[Window]:
        if not self._options.keep_last_open:
            self._at, settled = self._at.end()
            for number, is_taken in settled:
                self._settle_row(number, is_taken)
            for key in sorted(self._open.held):
                yield self._close_window(key)
        self._note(is_finished=not (self._open.held or self._unplaced))

    def _note(self, **more: Any) -> None:
        """Commit letters and position between two windows."""
        self.position = self._position() | more
        self.settle()

    def settle(self) -> None:
        """Commit letters and position that had to wait until windows read ahead were committed."""
        if self._run.store_dead_letters(self.position, self._letters):
            self._letters = []

    def _process_message(self, message: Message) -> Iterator[Window]:
        """Take one message in; yield the windows that it completes."""
        number, at = (message.partition, message.offset), self._at
        self._at, is_again = at.read(number), at.is_again(number)
        if is_again and at.is_left_out(number):
            return
        row = self._read_row(message, at.place_of(message.partition), is_again)
        if row is None:
            return
        # Rows that were held back as far ahead are decided on now; all others were before.
        is_decided = is_again and not at.is_waiting(number)
        self._unplaced[_hashable(number)] = _Unplaced(row, message, is_decided)
        settled = [(number, True)]
        if row.time is not None and self._limits is not None and not is_decided:
            self._at, settled = self._at.sort(number, row.time, self._limits, self._stream.behind())
        for one, is_taken in settled:
            self._settle_row(one, is_taken)
        yield from self._complete()

    @cached_property
    def _limits(self) -> Limits | None:
        return limits_of(self._rows, self._options)  # known once there is a row

    def _read_row(self, message: Message, before: Any, is_again: bool) -> LiveRow | None:
        """Return a message as a row; None if it is none, or lacks a value and is dropped."""
        try:
            row = self._row_of(message, before)
        except ValueError as error:
            if not is_again:
                self._store_dead_letter(message, error)
            return None
        if row is None and not is_again:
            self._at = self._at.count_dropped()
        return row

    def _settle_row(self, number: Number, is_taken: bool) -> None:
        """Put a row into its window, or keep it as a dead letter."""
        row, message, is_again = self._unplaced.pop(_hashable(number))
        try:
            if not is_taken:
                self._at = self._at.leave_out(number)
                assert self._limits is not None, "none is ahead without them"
                raise ahead_error(self._at.far, self._limits, row, self._rows)
            self._place(row, is_again)
        except ValueError as error:
            if not is_again:
                self._store_dead_letter(message, error)

    def _place(self, row: LiveRow, is_again: bool) -> None:
        """Put a row into its window, unless it is repeated or late."""
        key, before = self._open.key_of(row), self._at.lately
        if not self._open.takes(key):
            is_letter = self._options.on_late == "error"
            if not is_again:
                self._at = self._at.count_late(is_letter=is_letter)
                warn_if_mostly_late(before, self._at.lately)
                if is_letter:
                    raise self._open.late_error(key, row)
            return
        if self._options.deduplicate:
            if row.id in self._names:
                self.n_repeated += 1
                self._at = self._at.leave_out(row.number)
                return
            self._names.add(row.id)
        self._open.add(key, row)
        self._at = self._at.place(row.number, row.time, is_again=is_again)

    def _row_of(self, message: Message, before: Any) -> LiveRow | None:
        number = (message.partition, message.offset)
        body = message.body
        if isinstance(body, Mapping):
            record = dict(body)
        else:
            record = parse_object(body, self._stream.position_of(*number))
        row = self._rows.read(record, number)
        self._is_any_row = True
        if row is None:
            return None
        check_row(row, self._options, self._stream.position_of(*number))
        name = message.name if self._options.id is None else _text(row.id)
        # Not by `replace`, which takes as long as all else here.
        return LiveRow(
            row.number, row.time, row.point, row.weight, name, _text(row.truth), row.batch,
            before, row.text,
        )  # fmt: skip

    def _store_dead_letter(self, message: Message, error: ValueError) -> None:
        if not self._is_any_row and self._at.n_messages >= _FIRST_MESSAGES:
            raise ValueError(
                f"none of the first {_FIRST_MESSAGES} messages could be read; the last: {error}"
            ) from error
        body = message.body
        if isinstance(body, Mapping):
            body = json.dumps(dict(body), default=str)
        data = body.encode("utf-8", "replace") if isinstance(body, str) else body
        position = self._stream.position_of(message.partition, message.offset)
        self._letters.append(dead_letter(position, str(error), data))
        if len(self._letters) >= _MAX_LETTERS:
            self._note()

    def _complete(self) -> Iterator[Window]:
        # What rows agree on is known from the start, and would close windows before their rows.
        self._is_again = self._is_again and self._at.is_reading_again
        if self._is_again:
            return
        for key in self._open.complete(self._at.watermark(self._stream.behind())):
            yield self._close_window(key)

    def _close_window(self, key: Key) -> Window:
        closed = self._open.close(key)
        rows = closed.pop("rows_in_order")
        if self._options.deduplicate:
            self._names -= {row.id for row in rows}
        letters, self._letters = tuple(self._letters), []
        counts: dict[str, Any] = {
            "n_dropped_rows": self._at.n_dropped_rows,
            "n_late_rows": self._at.n_late_rows,
        }
        self._at = self._at.close(self._open.key)
        self.position = self._position()
        return Window(
            row_ids=self._rows.plain("id", rows),
            position=self.position,
            dead_letters=letters,
            **closed,
            **counts,
        )

    def _position(self) -> dict[str, Any]:
        """Return where to begin again so that every row of an open window comes once more."""
        first: dict[str, LiveRow] = {}
        held = (row for rows in self._open.held.values() for row in rows)
        for row in chain(held, (one.row for one in self._unplaced.values())):
            partition, offset = row.number
            if partition not in first or offset < first[partition].number[1]:
                first[partition] = row
        again = self._at.restart({partition: row.before for partition, row in first.items()})
        return {**again.to_json_state(), "kinds": self._rows.kinds}


class _Unplaced(NamedTuple):
    """A row that is in no window yet."""

    row: LiveRow
    message: Message
    is_again: bool  # decided on, and counted, before a stop


def check_row(row: LiveRow, options: WindowOptions, position: str) -> None:
    """Refuse a row that its window could not hold: others would be lost with it."""
    if not all(-MAX_COORDINATE <= value <= MAX_COORDINATE for value in row.point):
        raise ValueError(f"{position} has a value of more than {MAX_COORDINATE:g}.")
    if row.weight is not None and not 0 <= row.weight <= MAX_WEIGHT:
        raise ValueError(f"{position} has a weight that is not between 0 and {MAX_WEIGHT:g}.")
    if options.deduplicate and row.id is None:
        raise ValueError(f"{position} has no value for {options.id!r}, which names the rows.")


def _text(value: Any) -> str | None:
    """Return a name as text: a column that is text in one window must be so in all."""
    return None if value is None else str(value)


def _hashable(number: Number) -> Any:
    """Return a number as a key: offsets are lists where they have two parts."""
    partition, offset = number
    return partition, tuple(offset) if isinstance(offset, list) else offset
