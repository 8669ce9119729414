"""Message and Stream, Item and Sink: what all places have in common, read from and sent to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dynmeans.runs.store.inbox import Inbox
from dynmeans.runs.streams.backoff import Connected

PARTITION = "0"  # of a stream that has one only


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """One row as it came."""

    partition: str  # Which of the ordered sequences of the stream it belongs to; most have one
    offset: Any  # Its place there; rises from message to message
    name: int | str  # What the row is called where it has no column for that
    body: bytes | str | Mapping[str, Any]  # A JSON object, or its fields


class Stream(Protocol):
    """A place that keeps rows in order and can be read again from any of them."""

    def open(self, after: Mapping[str, Any], inbox: Inbox) -> None:
        """Begin after the given offset of each partition; from the start where none is given.

        A stream whose place cannot be read twice keeps what it receives in `inbox`.
        """

    def poll(self, seconds: float) -> list[Message] | None:
        """Return the next messages; an empty list if none came in that time.

        None if that is not known: the place is away, or did not answer yet.
        """

    def behind(self) -> set[str]:
        """Return partitions that hold messages that were not read yet, as far as is known."""

    def position_of(self, partition: str, offset: Any) -> str:
        """Return what errors call a message."""

    def close(self) -> None:
        """Give the connection back."""


class SinglePartitionStream:
    """A stream without partitions, over a connection that is made again after it broke."""

    _connection: Connected[Any]
    _after: Any = None  # the offset of the last message

    def open(self, after: Mapping[str, Any], inbox: Inbox) -> None:
        """Begin after an offset."""
        self._after = after.get(PARTITION)

    def behind(self) -> set[str]:
        """Return none: there is one sequence only; it holds nothing back."""
        return set()

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


class Item(NamedTuple):
    """One label or event; step and number are the same whenever it is sent, and rise."""

    step: int
    number: int
    fields: dict[str, Any]

    def body(self, run: str) -> str:
        """Return it as JSON; `key` identifies repeated ones."""
        key = f"{run}/{self.step}-{self.number}"
        known = {name: value for name, value in self.fields.items() if value == value}  # no NaN
        return json.dumps({"key": key, **known}, default=str)


class Sink(Protocol):
    """A place that items are sent to, in order."""

    def send(self, run: str, items: Sequence[Item]) -> bool:
        """Send items and see them arrive; False if the place is away, and some may not have."""

    def close(self) -> None:
        """Give the connection back."""


class RowsLostError(ValueError):
    """The place has removed rows that were not read yet."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(
            f"{address} no longer holds all rows: {what}. Rows were removed before they were "
            "read; keep them longer there, and start over in another folder."
        )
