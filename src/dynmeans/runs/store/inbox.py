"""Inbox: messages of a place that cannot be read twice, kept until their windows are committed."""

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dynmeans.runs.store.digests import insert_rows

if TYPE_CHECKING:
    from dynmeans.runs.store.store import Store


INBOX = "mqtt_inbox"  # the partition of a stream that is kept here


class Received(NamedTuple):
    """A message that was received and not yet acknowledged."""

    packet: int
    is_repeated: bool
    topic: str
    body: bytes


class Inbox:
    """Numbers messages as they come; each is on disk before it is acknowledged."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def add(self, messages: Sequence[Received]) -> list[tuple[int, bytes]]:
        """Keep messages; return the number and the body of each that is new.

        One that the sender marks as repeated is known by its packet number and its content.
        """
        kept = []
        with self._store.transaction() as connection:
            (last,) = connection.execute("SELECT max(number) FROM mqtt_inbox_end").fetchone()
            for message in messages:
                content = _packet_content(message)
                if message.is_repeated and content == _is_stored(connection, message.packet):
                    continue
                last += 1
                kept.append((last, message.body))
                insert_rows(connection, "mqtt_inbox", [(last, message.topic, message.body)])
                connection.execute(
                    "REPLACE INTO mqtt_packets VALUES (?, ?)", (message.packet, content)
                )
            connection.execute("UPDATE mqtt_inbox_end SET number = ?", (last,))
        return kept

    def after(self, number: int, n_most: int) -> list[tuple[int, bytes]]:
        """Return messages in order, from the one after `number`."""
        rows = self._store.rows(
            "mqtt_inbox", "WHERE number > ? ORDER BY number LIMIT ?", [number, n_most]
        )
        return [(row["number"], row["body"]) for row in rows]


def forget_taken(connection: sqlite3.Connection, position: Any) -> None:
    """Remove the messages whose windows are closed; part of the commit that closes them."""
    read = ((position or {}).get("partitions") or {}).get(INBOX)
    if read is not None and read["after"] is not None:
        connection.execute("DELETE FROM mqtt_inbox WHERE number <= ?", (read["after"],))


def _is_stored(connection: sqlite3.Connection, packet: int) -> bytes | None:
    """Return the content of the last message that was kept under a packet number."""
    found = connection.execute(
        "SELECT content FROM mqtt_packets WHERE packet = ?", (packet,)
    ).fetchone()
    return None if found is None else bytes(found[0])


def _packet_content(message: Received) -> bytes:
    text = f"{len(message.topic)} {message.topic} ".encode()
    return hashlib.blake2b(text + message.body, digest_size=16).digest()
