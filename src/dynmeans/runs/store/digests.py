"""Digests of rows, by which a change by a disk, a copy or a person is detected."""

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

# Tables whose rows carry a digest of their own.
TABLES = (
    "label_files",
    "windows",
    "samples",
    "clusters",
    "idempotency_keys",
    "dead_letters",
    "mqtt_inbox",
    "alerts",
    "words",
    "topics",
    "topic_words",
)


def row_digest(values: Iterable[Any]) -> bytes:
    """Return the digest of one row: numbers and text as Python writes them, blobs as they are.

    >>> row_digest([1, "a", b"xy"]) == row_digest([1, "a", b"xz"])
    False
    """
    row = list(values)
    blobs = [value for value in row if isinstance(value, bytes)]
    # An empty blob is not the number 0.
    plain = [len(value) if isinstance(value, bytes) and value else value for value in row]
    digest = hashlib.blake2b(repr(plain).encode(), digest_size=16)
    for blob in blobs:
        digest.update(blob)
    return digest.digest()


def rows_digest(rows: Sequence[tuple[Any, ...]]) -> bytes:
    """Return one digest for many rows of numbers and text, in their order."""
    return hashlib.blake2b(repr(list(rows)).encode(), digest_size=16).digest()


def insert_rows(
    connection: sqlite3.Connection,
    table: str,
    rows: Sequence[tuple[Any, ...]],
    verb: str = "INSERT",
) -> None:
    """Insert rows, each with its digest."""
    digested = [(*row, row_digest(row)) for row in rows]
    if digested:
        marks = ", ".join("?" * len(digested[0]))
        connection.executemany(f"{verb} INTO {table} VALUES ({marks})", digested)


def verify_rows(rows: Iterable[Any], table: str, folder: Path) -> Iterator[Any]:
    """Pass rows on that are as they were written; their last column is the digest of the others."""
    for row in rows:
        *values, digest = row
        if row_digest(values) != digest:
            raise damage_error(folder, f"row {row[0]} of {table} was changed after it was written")
        yield row


def damage_error(folder: Path, what: str) -> ValueError:
    """Return the error for a run that is not as it was written."""
    return ValueError(f"the run {str(folder)!r} is damaged: {what}.")
