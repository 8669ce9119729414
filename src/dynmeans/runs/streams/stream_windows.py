"""Messages of a stream to windows, and a position from which they can be read again."""

import json
import logging
import math
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT
from dynmeans.runs.reading.future_rows import FutureRowFilter
from dynmeans.runs.reading.json_lines import parse_object
from dynmeans.runs.reading.late_rows import LateRows
from dynmeans.runs.reading.live_rows import LiveRow, LiveRows
from dynmeans.runs.reading.live_windows import OpenWindows
from dynmeans.runs.reading.window import Window, WindowOptions
from dynmeans.runs.reading.window_rules import Key
from dynmeans.runs.run import Run
from dynmeans.runs.stopping import StoppedError
from dynmeans.runs.store.dead_letters import DeadLetter, dead_letter
from dynmeans.runs.streams.message import Message, Stream

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
    of windows that were open are read again, and no row is taken in or counted twice.

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
        position: Mapping[str, Any] = run.position or {}
        self._stream, self._options, self._run = stream, options, run
        self._stop, self._until_idle = stop or threading.Event(), idle_timeout
        position_of = lambda number: stream.position_of(*number)  # noqa: E731
        self._rows = LiveRows(options, position_of, position.get("kinds"))
        self._far = FutureRowFilter(self._rows, options, position.get("far"))
        self._late = LateRows(position)
        self._unplaced: dict[int, tuple[Message, bool]] = {}
        self._open = OpenWindows(self._rows, options, position.get("key"))
        self._read_to = {p: read["to"] for p, read in position.get("partitions", {}).items()}
        self._again = dict(self._read_to)  # up to here messages were counted before
        self._latest: dict[str, float] = {}
        self._n_messages = position.get("messages_read", 0)
        self._is_any_row = bool(position)
        self._names: set[Any] = set()
        # Offsets of rows that were far ahead or sent twice: read again, they are that still, though
        # others have come so far by then, or the window of the first is closed.
        self._left_out = {p: list(read) for p, read in position.get("left_out", {}).items()}
        self._letters: list[DeadLetter] = []
        self.n_late_rows, self.n_dropped_rows = (
            position.get("n_late_rows", 0),
            position.get("n_dropped_rows", 0),
        )
        self.n_repeated = 0
        self._after = {p: read["after"] for p, read in position.get("partitions", {}).items()}
        self.position: dict[str, Any] = dict(position)

    def __iter__(self) -> Iterator[Window]:
        """Yield each window as soon as it is complete."""
        self._stream.open(self._after, self._run.inbox())
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
        for row in self._far.rest(is_all=False) if not self._options.keep_last_open else ():
            self._settle_row(row, is_taken=True)
        for key in sorted(self._open.held) if not self._options.keep_last_open else ():
            yield self._close_window(key)
        self._note(is_finished=not (self._open.held or self._far.held))

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
        partition, offset = message.partition, message.offset
        is_again = partition in self._again and offset <= self._again[partition]
        # Rows that were held back as far ahead are decided on now; all others were before.
        is_decided = is_again and not self._far.awaits(partition, offset)
        before = self._after.get(partition)
        self._after[partition] = offset
        if is_again and offset in self._left_out.get(partition, ()):
            return
        if not is_again:
            self._n_messages += 1
            self._read_to[partition] = offset
        row = self._read_row(message, before, is_again)
        if row is None:
            return
        self._unplaced[id(row)] = message, is_decided
        if is_decided:
            settled = [(row, True)]
        elif is_again:
            settled = self._far.give_again(row, partition)
        else:
            settled = self._far.sorted(row, partition, self._stream.behind())
        for one, is_taken in settled:
            self._settle_row(one, is_taken)
        yield from self._complete()

    def _read_row(self, message: Message, before: Any, is_again: bool) -> LiveRow | None:
        """Return a message as a row; None if it is none, or lacks a value and is dropped."""
        try:
            row = self._row_of(message, before)
        except ValueError as error:
            if not is_again:
                self._store_dead_letter(message, error)
            return None
        self.n_dropped_rows += row is None and not is_again
        return row

    def _settle_row(self, row: LiveRow, is_taken: bool) -> None:
        """Put a row into its window, or keep it as a dead letter."""
        message, is_again = self._unplaced.pop(id(row))
        try:
            if not is_taken:
                self._leave_out(message)
                raise self._far.error(row)
            self._place(row, message, is_again)
        except ValueError as error:
            if not is_again:
                self._store_dead_letter(message, error)

    def _place(self, row: LiveRow, message: Message, is_again: bool) -> None:
        """Put a row into its window, unless it is repeated or late."""
        key = self._open.key_of(row)
        is_late = not self._open.takes(key)
        if not is_again:
            self._late.add(is_late=is_late)
        if is_late:
            if not is_again and self._options.on_late == "error":
                raise self._open.late_error(key, row)
            self.n_late_rows += not is_again
            return
        if self._options.deduplicate:
            if row.id in self._names:
                self.n_repeated += 1
                self._leave_out(message)
                return
            self._names.add(row.id)
        self._open.add(key, row)
        if row.time is not None:
            partition = message.partition
            self._latest[partition] = max(self._latest.get(partition, -math.inf), row.time)

    def _leave_out(self, message: Message) -> None:
        self._left_out.setdefault(message.partition, []).append(message.offset)

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
        return replace(row, id=name, truth=_text(row.truth), before=before)

    def _store_dead_letter(self, message: Message, error: ValueError) -> None:
        if not self._is_any_row and self._n_messages >= _FIRST_MESSAGES:
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
        for key in self._open.complete(self._watermark()):
            yield self._close_window(key)

    def _watermark(self) -> float:
        """The latest time that rows agree on; where some partitions lag, the earliest of these."""
        agreed = self._far.latest
        latest = {p: min(time, agreed.get(p, -math.inf)) for p, time in self._latest.items()}
        lagging = [latest.get(p, -math.inf) for p in self._stream.behind()]
        return min([max(latest.values(), default=-math.inf), self._far.first_held, *lagging])

    def _close_window(self, key: Key) -> Window:
        closed = self._open.close(key)
        rows = closed.pop("rows_in_order")
        if self._options.deduplicate:
            self._names -= {row.id for row in rows}
        letters, self._letters = tuple(self._letters), []
        counts: dict[str, Any] = {
            "n_dropped_rows": self.n_dropped_rows,
            "n_late_rows": self.n_late_rows,
        }
        self.n_dropped_rows = self.n_late_rows = 0
        self.position = self._position()
        return Window(
            row_ids=self._rows.plain("id", rows),
            position=self.position,
            dead_letters=letters,
            **closed,
            **counts,
        )

    def _position(self) -> dict[str, Any]:
        """Where to begin again so that every row of an open window comes once more."""
        first: dict[str, LiveRow] = {}
        waiting = [*self._open.held.values(), self._far.held]
        for row in (row for rows in waiting for row in rows):
            partition, offset = row.number
            if partition not in first or offset < first[partition].number[1]:
                first[partition] = row
        # Not what an earlier pass has read: rows up to there may still come once more.
        after = self._after | {partition: row.before for partition, row in first.items()}
        partitions = {p: {"after": after[p], "to": to} for p, to in sorted(self._read_to.items())}
        position: dict[str, Any] = {"key": self._open.key, "partitions": partitions}
        position |= {"messages_read": self._n_messages, "kinds": self._rows.kinds}
        position |= {"far": self._far.to_json_state()} | self._late.to_json_state()
        self._left_out = {
            p: [offset for offset in offsets if p in after and not _is_before(offset, after[p])]
            for p, offsets in self._left_out.items()
        }
        if any(self._left_out.values()):
            position["left_out"] = self._left_out
        pending = {"n_late_rows": self.n_late_rows, "n_dropped_rows": self.n_dropped_rows}
        return position | {name: n for name, n in pending.items() if n}


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


def _is_before(offset: Any, after: Any) -> bool:
    """Say whether a message is not read again from a place on; None is the start."""
    return after is not None and bool(offset <= after)
