"""The first tables of run.sqlite, their version, and how to tell a run's database from any other.

Those that came later, and that a folder gets when it is next written to, are in `added_tables`.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dynmeans.runs.store.digests import TABLES as DIGESTED_TABLES

DATABASE = "run.sqlite"
SCHEMA_VERSION = 2
READABLE_VERSIONS = (1, 2)  # 1 has no digests of rows
APPLICATION_ID = 0x44594D52  # "DYMR", in the header of the file

# Also made in a folder that has none yet, on the first edit: without it there are no edits.
EDITS = """
CREATE TABLE IF NOT EXISTS edits (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, cluster_id INTEGER, other_id INTEGER,
    text TEXT, who TEXT NOT NULL, at TEXT NOT NULL, digest BLOB NOT NULL
)"""
TABLES = """
CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE manifest (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    n_steps INTEGER NOT NULL, time REAL NOT NULL, next_id INTEGER NOT NULL,
    ids BLOB NOT NULL, centers BLOB NOT NULL, weights BLOB NOT NULL, ages BLOB NOT NULL,
    counts BLOB NOT NULL, sha256 TEXT NOT NULL
);
CREATE TABLE parts (
    first_step INTEGER PRIMARY KEY, last_step INTEGER NOT NULL, name TEXT NOT NULL,
    n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL
);
CREATE TABLE batches (
    step INTEGER PRIMARY KEY, time REAL NOT NULL, elapsed REAL NOT NULL, label TEXT,
    n_rows INTEGER NOT NULL, n_dropped INTEGER NOT NULL, n_late INTEGER NOT NULL,
    n_remembered INTEGER NOT NULL, cost REAL NOT NULL, cost_trace BLOB NOT NULL,
    ids BLOB NOT NULL, counts BLOB NOT NULL, centers BLOB NOT NULL, weights BLOB NOT NULL,
    ages BLOB NOT NULL
);
CREATE TABLE samples (
    step INTEGER PRIMARY KEY, points BLOB NOT NULL, cluster_ids BLOB NOT NULL, truth TEXT
);
CREATE TABLE clusters (
    cluster_id INTEGER PRIMARY KEY, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL,
    n_batches INTEGER NOT NULL, n_points REAL NOT NULL, center BLOB NOT NULL
);
CREATE TABLE events (
    step INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    cluster_id INTEGER NOT NULL, other_id INTEGER, displacement REAL, gap REAL,
    PRIMARY KEY (step, number)
) WITHOUT ROWID;
CREATE TABLE velocities (
    step INTEGER PRIMARY KEY, velocities BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE state_velocities (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    velocities BLOB NOT NULL, velocity_covariances BLOB NOT NULL
);
CREATE TABLE tokens (token TEXT PRIMARY KEY, n_steps INTEGER NOT NULL);
"""
# What schema 2 adds; a row's digest is its last column.
DIGEST_COLUMNS = tuple(
    f"ALTER TABLE {table} ADD COLUMN {column} BLOB NOT NULL DEFAULT x''"
    for table, column in (
        ("batches", "events_digest"),
        *((table, "digest") for table in DIGESTED_TABLES),
    )
)


def create_database(path: Path) -> None:
    """Make an empty run database, closed and complete."""
    with database_errors(path):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.executescript(
                f"BEGIN; {TABLES} {EDITS}; {'; '.join(DIGEST_COLUMNS)}; COMMIT;"
            )
        finally:
            connection.close()


def open_database(path: Path, *, writable: bool = False) -> sqlite3.Connection:
    """Open a run database, or say why it cannot be one that this version understands."""
    if not path.exists():
        raise FileNotFoundError(f"{str(path.parent)!r} is not a run folder: it has no {path.name}.")
    with database_errors(path):
        connection = _connect(path, writable)
        try:
            _check_kind(connection, path)
            if writable:
                # A commit that was acknowledged outlives a loss of power.
                connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
    return connection


def _connect(path: Path, writable: bool) -> sqlite3.Connection:
    address = path.resolve().as_uri()
    mode = "rw" if writable else "ro"
    # A reader of a folder it may not write to cannot make the shared index; without a log to
    # follow, the file alone is the whole truth.
    log = path.with_name(path.name + "-wal")
    if not writable and not log.exists() and not os.access(path.parent, os.W_OK):
        mode = "ro&immutable=1"
    connection = sqlite3.connect(
        f"{address}?mode={mode}", uri=True, isolation_level=None, timeout=30.0
    )
    connection.row_factory = sqlite3.Row
    return connection


def _check_kind(connection: sqlite3.Connection, path: Path) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    version = schema_version(connection)
    if application != APPLICATION_ID:
        raise ValueError(f"{str(path)!r} is not the database of a dynmeans run.")
    if version not in READABLE_VERSIONS:
        known = " and ".join(map(str, READABLE_VERSIONS))
        raise ValueError(
            f"{str(path)!r} has schema version {version}; this dynmeans understands versions "
            f"{known}. Use the release of dynmeans that wrote it."
        )


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the version of the tables; 1 has no digests of rows."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line that says what it means for the run."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text or "I/O" in text:
            raise OSError(
                f"no space, or a failing disk, under {str(path.parent)!r}: {text}. Committed "
                "work is safe; make room and run the same command to resume."
            ) from error
        if "decode" in text or text.startswith("no such"):
            raise _damaged(path, text) from error
        if "unable to open" in text:
            raise PermissionError(f"cannot open {str(path)!r}: {text}.") from error
        if "readonly" in text:
            raise PermissionError(f"cannot write {str(path)!r}: {text}.") from error
        raise OSError(f"{str(path)!r}: {text}.") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, what: str) -> ValueError:
    return ValueError(
        f"the run is damaged: {str(path)!r}: {what}. Restore the folder from a back-up; what is "
        "damaged is named where the whole run is verified."
    )
