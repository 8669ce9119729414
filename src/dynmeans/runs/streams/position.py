"""StreamPosition: what was read of a stream, and what that means for the next message; a value.

Rows themselves are no part of it: those of windows that are open come again after a stop, and what
was decided on them is known here. `restart` is the position that a new reader begins with.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dynmeans.runs.reading.future_rows import Decision, FutureRowFilter, Limits
from dynmeans.runs.reading.late_rows import LateRows
from dynmeans.runs.reading.window_rules import Key

Number = tuple[str, Any]  # of a message: its partition and its offset there


@dataclass(frozen=True, slots=True)
class Partition:
    """How far one ordered sequence of messages was read."""

    after: Any = None  # the last message of this pass; None before the first
    to: Any = None  # the last message of any pass; up to there all are counted
    # Rows that were far ahead or sent twice: read again, they are that still, though others have
    # come so far by then, or the window of the first is closed.
    left_out: tuple[Any, ...] = ()
    latest: float = -math.inf  # time of its rows in windows, in this pass


_UNREAD = Partition()


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """A value: each method returns the next position, and what is decided by it."""

    partitions: Mapping[str, Partition] = field(default_factory=dict)
    n_messages: int = 0
    key: Key | None = None  # the last window that was closed
    far: FutureRowFilter = field(default_factory=FutureRowFilter)
    lately: LateRows = field(default_factory=LateRows)
    n_late_rows: int = 0  # rows left out since the last window that was closed
    n_dropped_rows: int = 0

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any] | None) -> "StreamPosition":
        """Read what a run keeps; a stream that was never read without it."""
        stored = stored or {}
        left_out = stored.get("left_out", {})
        partitions = {
            name: Partition(read["after"], read["to"], tuple(left_out.get(name, ())))
            for name, read in stored.get("partitions", {}).items()
        }
        return cls(
            partitions=partitions,
            n_messages=stored.get("messages_read", 0),
            key=stored.get("key"),
            far=FutureRowFilter.from_stored(stored.get("far", {})),
            lately=LateRows.from_stored(stored),
            n_late_rows=stored.get("n_late_rows", 0),
            n_dropped_rows=stored.get("n_dropped_rows", 0),
        )

    def to_json_state(self) -> dict[str, Any]:
        """Return what a run keeps, as JSON has it."""
        partitions = sorted(self.partitions.items())
        stored: dict[str, Any] = {
            "key": self.key,
            "partitions": {name: {"after": read.after, "to": read.to} for name, read in partitions},
            "messages_read": self.n_messages,
            "far": self.far.to_json_state(),
            "lately": [self.lately.n_rows, self.lately.n_late_rows],
        }
        left_out = {name: list(read.left_out) for name, read in partitions if read.left_out}
        counts = {
            "left_out": left_out,
            "n_late_rows": self.n_late_rows,
            "n_dropped_rows": self.n_dropped_rows,
        }
        return stored | {name: value for name, value in counts.items() if value}

    def place_of(self, partition: str) -> Any:
        """Return the message of a partition that was read last; None before the first."""
        return self.partitions.get(partition, _UNREAD).after

    def is_again(self, number: Number) -> bool:
        """Return whether a message was read before a stop."""
        to = self.partitions.get(number[0], _UNREAD).to
        return to is not None and bool(number[1] <= to)

    def is_left_out(self, number: Number) -> bool:
        """Return whether a message that comes again is in no window."""
        return number[1] in self.partitions.get(number[0], _UNREAD).left_out

    @property
    def is_reading_again(self) -> bool:
        """Whether rows that are in open windows by now may still come again."""
        return any(read.after != read.to for read in self.partitions.values())

    def read(self, number: Number) -> "StreamPosition":
        """Go past a message."""
        name, offset = number
        was = self.partitions.get(name, _UNREAD)
        is_new = was.to is None or offset > was.to
        now = Partition(offset, offset if is_new else was.to, was.left_out, was.latest)
        return self._with(name, now, self.n_messages + is_new)

    def sort(
        self, number: Number, time: float, limits: Limits, behind: Collection[str]
    ) -> tuple["StreamPosition", list[Decision]]:
        """Return the rows of which it is known by now whether they are taken, this one or others.

        A row that comes again was decided on before, unless it was held back.
        """
        if self.is_waiting(number):
            far, found = self.far.give_again(limits, number)
        else:
            far, found = self.far.take(limits, number, time, number[0], behind)
        return self if far is self.far else self._but(far=far), found

    def is_waiting(self, number: Number) -> bool:
        """Return whether a row was held back before a stop, and did not come again yet."""
        return bool(self.far.ahead) and self.far.awaits(number)

    def place(self, number: Number, time: float | None, *, is_again: bool) -> "StreamPosition":
        """Put a row into its window."""
        name = number[0]
        was = self.partitions[name]
        lately = self.lately if is_again else self.lately.add(is_late=False)
        if time is None or time <= was.latest:
            return self._but(lately=lately)
        now = Partition(was.after, was.to, was.left_out, time)
        return self._but(partitions={**self.partitions, name: now}, lately=lately)

    def leave_out(self, number: Number) -> "StreamPosition":
        """Keep a row out of all windows, however often it comes."""
        name, offset = number
        was = self.partitions[name]
        return self._with(name, replace(was, left_out=(*was.left_out, offset)), self.n_messages)

    def count_late(self, *, is_letter: bool) -> "StreamPosition":
        """Count a row whose window is closed; dead letters are counted elsewhere."""
        n_late_rows = self.n_late_rows + (not is_letter)
        return replace(self, n_late_rows=n_late_rows, lately=self.lately.add(is_late=True))

    def count_dropped(self) -> "StreamPosition":
        """Count a row that lacks a value."""
        return replace(self, n_dropped_rows=self.n_dropped_rows + 1)

    def end(self) -> tuple["StreamPosition", list[Decision]]:
        """Take a first row at the end, which no other was ever compared with."""
        far, found = self.far.end(is_all=False)
        return replace(self, far=far), found

    def close(self, key: Key | None) -> "StreamPosition":
        """Close a window; rows that were left out are counted with it."""
        return replace(self, key=key, n_late_rows=0, n_dropped_rows=0)

    def watermark(self, behind: Collection[str]) -> float:
        """The latest time that rows agree on; where some partitions lag, the earliest of these."""
        agreed, infinity = self.far.latest, math.inf
        latest = {
            p: min(read.latest, agreed.get(p, -infinity)) for p, read in self.partitions.items()
        }
        lagging = [latest.get(name, -infinity) for name in behind]
        first_held = self.far.first_held if self.far.ahead else infinity
        return min([max(latest.values(), default=-infinity), first_held, *lagging])

    def restart(self, first: Mapping[str, Any]) -> "StreamPosition":
        """Return where to begin again, so that rows of open windows come once more.

        `first` has the place before the first of them, by partition. All else begins after what was
        read in this pass, not in an earlier one: rows up to there may still come again.
        """
        partitions = {}
        for name, read in self.partitions.items():
            after = first.get(name, read.after)
            left_out = tuple(n for n in read.left_out if after is None or n > after)
            partitions[name] = Partition(after, read.to, left_out)
        return replace(self, partitions=partitions)

    def _with(self, name: str, read: Partition, n_messages: int) -> "StreamPosition":
        return self._but({**self.partitions, name: read}, n_messages)

    def _but(
        self,
        partitions: Mapping[str, Partition] | None = None,
        n_messages: int | None = None,
        far: FutureRowFilter | None = None,
        lately: LateRows | None = None,
    ) -> "StreamPosition":
        """Do what `replace` does, in a third of its time: once or twice a row."""
        return StreamPosition(
            self.partitions if partitions is None else partitions,
            self.n_messages if n_messages is None else n_messages,
            self.key,
            self.far if far is None else far,
            self.lately if lately is None else lately,
            self.n_late_rows,
            self.n_dropped_rows,
        )
