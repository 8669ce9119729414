"""Tables that a run gets when it is next written to; older folders are read without them."""

import re
import sqlite3
from typing import Any

ADDED_TABLES = """
CREATE TABLE IF NOT EXISTS dead_letters (
    number INTEGER PRIMARY KEY, place TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL,
    n_bytes INTEGER NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS inbox (
    number INTEGER PRIMARY KEY, topic TEXT NOT NULL, body BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS inbox_end (number INTEGER NOT NULL);
INSERT INTO inbox_end SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM inbox_end);
CREATE TABLE IF NOT EXISTS packets (packet INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS alerts (
    id TEXT, target TEXT, step INTEGER NOT NULL, number INTEGER NOT NULL, rule TEXT NOT NULL,
    body TEXT NOT NULL, is_delivered INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (id, target)
);
CREATE INDEX IF NOT EXISTS waiting_alerts ON alerts (target, rule, step, number)
    WHERE is_delivered = 0;
CREATE TABLE IF NOT EXISTS pace (
    only INTEGER PRIMARY KEY CHECK (only = 1), step_seconds REAL NOT NULL, at REAL NOT NULL
);
"""
_NAMES = frozenset(re.findall(r"CREATE TABLE IF NOT EXISTS (\w+)", ADDED_TABLES))
N_ALERTS = "n_alerts"  # the entry of the manifest that shows whether one is missing
INBOX = "inbox"  # the partition of a stream that is kept here


def add_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are not there yet."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if not _NAMES.issubset(name for (name,) in found):
        connection.executescript(f"BEGIN IMMEDIATE; {ADDED_TABLES} COMMIT;")


def has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Say whether the database has a table of that name."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,))
    return found.fetchone() is not None


def holds_nothing(connection: sqlite3.Connection) -> bool:
    """Say whether a run has neither a window nor a message that was received."""
    tables = [name for name in ("batches", "inbox", "dead_letters") if has_table(connection, name)]
    return not any(connection.execute(f"SELECT 1 FROM {t} LIMIT 1").fetchone() for t in tables)


def forget_taken(connection: sqlite3.Connection, position: Any) -> None:
    """Remove the messages whose windows are closed; part of the commit that closes them."""
    read = ((position or {}).get("partitions") or {}).get(INBOX)
    if read is not None and read["after"] is not None:
        connection.execute("DELETE FROM inbox WHERE number <= ?", (read["after"],))
