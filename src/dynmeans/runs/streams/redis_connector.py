"""Redis streams: entries are read in order of their ids, and kept there by Redis."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.streams.addresses import Address
from dynmeans.runs.streams.backoff import Backoff, Connected
from dynmeans.runs.streams.message import (
    PARTITION,
    Item,
    Message,
    RowsLostError,
    SinglePartitionStream,
)

_AT_ONCE = 2000
JSON_FIELD = "json"


def connect_redis(
    address: Address, backoff: Backoff, check: Callable[[Any], None]
) -> Connected[Any]:
    """Return a connection to the server of an address, checked whenever it is made."""
    host, port = address.host_and_port(6379)
    if not address.path.isdecimal() and address.path:
        raise InputError("input", ": the database in {!r} must be a number", str(address))

    def connect() -> Any:
        client = redis.Redis(
            host=host,
            port=port,
            db=int(address.path or 0),
            username=address.user,
            password=address.password,
            ssl=address.scheme == "rediss",
            socket_timeout=30,
            socket_connect_timeout=10,
            protocol=2,
            retry=Retry(NoBackoff(), 0),  # pauses are ours
        )
        check(client)
        return client

    return Connected(connect, _is_away, lambda client: client.close(), backoff)


def _is_away(error: Exception) -> bool:
    if isinstance(error, redis.AuthenticationError):
        return False
    away = redis.ConnectionError | redis.TimeoutError | redis.ReadOnlyError
    return isinstance(error, away) or "LOADING" in str(error)


class RedisStream(SinglePartitionStream):
    """The stream at ``redis://host:port/database?stream=NAME``.

    An entry is a row: its fields are columns, or one field, `json`, holds an object.

    An offset is the id of an entry, as two numbers, and its count from the beginning of the
    stream: with it entries are missed that were trimmed before they were read.
    """

    def __init__(self, address: Address, columns: Sequence[str], stop: threading.Event) -> None:
        self._address, self._key = address, _stream_of(address)
        self._connection = connect_redis(address, Backoff(address, stop), self._check_same_stream)

    def poll(self, seconds: float) -> list[Message] | None:
        """Return the next entries, waiting for one if there is none."""
        messages = self._connection.call(lambda client: self._read(client, seconds))
        if messages:
            self._after = messages[-1].offset
        return messages

    def _read(self, client: Any, seconds: float) -> list[Message]:
        after = {self._key: _text(self._after or [0, 0])}
        if not client.xread(after, count=1, block=max(1, int(seconds * 1000))):
            return []
        both = client.pipeline(transaction=True)
        both.xinfo_stream(self._key)
        both.xread(after, count=_AT_ONCE)
        stream, found = both.execute()
        n_removed = stream["entries-added"] - stream["length"]
        n_read = n_removed if self._after is None else self._after[2]
        last_removed = _numbers(stream["max-deleted-entry-id"])
        if self._after is not None and (n_removed > n_read or last_removed > self._after[:2]):
            raise RowsLostError(str(self._address), f"entries after {_text(self._after)} are gone")
        return [
            _message(entry, fields, n_read + 1 + n) for n, (entry, fields) in enumerate(found[0][1])
        ]

    def _check_same_stream(self, client: Any) -> None:
        """Refuse a stream whose end is before what was read: it was made again, or lost rows."""
        if self._after is None or not client.exists(self._key):
            return
        last = _numbers(client.xinfo_stream(self._key)["last-generated-id"])
        if last < self._after[:2]:
            what = f"it ends at {_text(last)}, and {_text(self._after)} was read before"
            raise RowsLostError(str(self._address), what)

    def position_of(self, partition: str, offset: Any) -> str:
        """Name an entry."""
        return f"entry {_text(offset)}"


class RedisSink:
    """One stream that this run alone writes to: exactly once, for ids of entries only rise.

    The id of an entry is the step of its window, from 1, and its number there.
    """

    def __init__(self, address: Address, stop: threading.Event) -> None:
        self._key = _stream_of(address)
        backoff = Backoff(address, stop, is_waiting=False)
        self._connection = connect_redis(address, backoff, lambda client: None)

    def send(self, run: str, items: Sequence[Item]) -> bool:
        """Add what is not there yet."""
        return self._connection.call(lambda client: self._add(client, run, items)) is not None

    def _add(self, client: Any, run: str, items: Sequence[Item]) -> int:
        top = client.xrevrange(self._key, count=1)
        last = _numbers(top[0][0]) if top else [0, 0]
        new = [item for item in items if [item.step + 1, item.number] > last]
        adding = client.pipeline(transaction=False)
        for item in new:
            fields = {JSON_FIELD: item.body(run)}
            adding.xadd(self._key, fields, id=f"{item.step + 1}-{item.number}")
        adding.execute()
        return len(new)

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()


def _stream_of(address: Address) -> str:
    key = address.only("stream").get("stream", "")
    if not key:
        raise InputError("input", ": {!r} must name a stream: ?stream=NAME", str(address))
    return key


def _message(entry: bytes, fields: Mapping[bytes, bytes], number: int) -> Message:
    offset = [*_numbers(entry), number]
    body: Any = fields.get(JSON_FIELD.encode())
    if body is None:
        body = {_format_field(name): _value(value) for name, value in fields.items()}
    return Message(PARTITION, offset, _text(offset), body)


def _value(value: bytes) -> Any:
    """A number where the text is one."""
    text = _format_field(value)
    if "_" in text:  # which Python would pass over
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _format_field(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _numbers(entry: bytes | str) -> list[int]:
    first, _, second = _format_field(entry).partition("-")
    return [int(first), int(second or 0)]


def _text(offset: list[int]) -> str:
    return f"{offset[0]}-{offset[1]}"


open_stream, open_sink = RedisStream, RedisSink
