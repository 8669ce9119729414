"""Dead letters: messages that could not be read as rows, kept in the run with the reason."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from dynmeans.runs.store.digests import insert_rows

if TYPE_CHECKING:
    from dynmeans.runs.store.store import Store

# Longer messages are cut; their size is kept.
MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One message that is no row."""

    position: str  # Where it stands in its source
    reason: str  # What is wrong with it
    body: bytes  # The message, up to 64 KiB of it
    n_bytes: int  # Its whole size


def dead_letter(position: str, reason: str, body: bytes) -> DeadLetter:
    """Make one of a message."""
    return DeadLetter(position, reason, body[:MAX_BYTES], len(body))


def insert_letters(connection: sqlite3.Connection, letters: Sequence[DeadLetter]) -> None:
    """Add letters; the caller holds the transaction."""
    if not letters:
        return
    (last,) = connection.execute("SELECT max(number) FROM dead_letters").fetchone()
    numbers = count(0 if last is None else last + 1)
    rows = [(n, *astuple(letter)) for n, letter in zip(numbers, letters, strict=False)]
    insert_rows(connection, "dead_letters", rows)


def read_letters(store: "Store") -> Iterator[dict[str, Any]]:
    """Yield the letters of a run, oldest first; bodies as text."""
    for row in store.rows("dead_letters", "ORDER BY number"):
        letter = {name: row[name] for name in ("number", "position", "reason", "n_bytes")}
        yield letter | {"body": row["body"].decode("utf-8", "backslashreplace")}
