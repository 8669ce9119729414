"""The tables of run.sqlite, all of them, and how a run's database is recognized."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

DATABASE = "run.sqlite"
SCHEMA_VERSION = 2
APPLICATION_ID = 0x44594D52  # "DYMR", in the header of the file

# The last column of a row is the digest of the others (`digests.py`); the events of a window have
# one in its row, and one entry of the manifest covers all of configuration and manifest.
TABLES = """
CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE manifest (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE memory (
    id INTEGER PRIMARY KEY CHECK (id = 1), data BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE words (
    word TEXT PRIMARY KEY, seen_in INTEGER NOT NULL, n_texts INTEGER NOT NULL,
    last_seen INTEGER NOT NULL, company BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE topics (
    cluster_id INTEGER PRIMARY KEY, n_texts INTEGER NOT NULL, words TEXT NOT NULL,
    name TEXT NOT NULL, named_at INTEGER NOT NULL, nearest REAL NOT NULL, typical TEXT NOT NULL,
    recent TEXT NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE topic_words (
    step INTEGER NOT NULL, cluster_id INTEGER NOT NULL, words TEXT NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (step, cluster_id)
);
CREATE TABLE label_files (
    first_step INTEGER PRIMARY KEY, last_step INTEGER NOT NULL, name TEXT NOT NULL,
    n_rows INTEGER NOT NULL, n_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE windows (
    step INTEGER PRIMARY KEY, time REAL NOT NULL, elapsed REAL NOT NULL, name TEXT,
    n_rows INTEGER NOT NULL, n_dropped_rows INTEGER NOT NULL, n_late_rows INTEGER NOT NULL,
    n_remembered INTEGER NOT NULL, cost REAL NOT NULL, cost_trace BLOB NOT NULL,
    ids BLOB NOT NULL, counts BLOB NOT NULL, centers BLOB NOT NULL, weights BLOB NOT NULL,
    ages BLOB NOT NULL, velocities BLOB, events_digest BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE samples (
    step INTEGER PRIMARY KEY, points BLOB NOT NULL, cluster_ids BLOB NOT NULL, truth TEXT,
    digest BLOB NOT NULL
);
CREATE TABLE clusters (
    cluster_id INTEGER PRIMARY KEY, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL,
    n_windows INTEGER NOT NULL, n_points REAL NOT NULL, center BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE events (
    step INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    cluster_id INTEGER NOT NULL, other_id INTEGER, displacement REAL, gap REAL, speed REAL,
    PRIMARY KEY (step, number)
) WITHOUT ROWID;
CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, n_steps INTEGER NOT NULL, digest BLOB NOT
NULL); CREATE TABLE edits (
    edit_id INTEGER PRIMARY KEY, kind TEXT NOT NULL, cluster_id INTEGER, other_id INTEGER,
    text TEXT, author TEXT NOT NULL, created_at TEXT NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE dead_letters (
    number INTEGER PRIMARY KEY, position TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL,
    n_bytes INTEGER NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE mqtt_inbox (
    number INTEGER PRIMARY KEY, topic TEXT NOT NULL, body BLOB NOT NULL, digest BLOB NOT NULL
);
CREATE TABLE mqtt_inbox_end (number INTEGER NOT NULL);
INSERT INTO mqtt_inbox_end VALUES (0);
CREATE TABLE mqtt_packets (packet INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE alerts (
    id TEXT, target TEXT, step INTEGER NOT NULL, number INTEGER NOT NULL, rule TEXT NOT NULL,
    body TEXT NOT NULL, is_delivered INTEGER NOT NULL, digest BLOB NOT NULL,
    PRIMARY KEY (id, target)
);
CREATE INDEX undelivered_alerts ON alerts (target, rule, step, number) WHERE is_delivered = 0;
CREATE TABLE run_info (run_id TEXT NOT NULL);
INSERT INTO run_info VALUES (lower(hex(randomblob(16))));
CREATE TABLE timing (
    id INTEGER PRIMARY KEY CHECK (id = 1), step_seconds REAL NOT NULL, at REAL NOT NULL
);
"""
# Entries of the manifest that show whether a row is missing.
N_ALERTS, N_EDITS, N_TOKENS = "n_alerts", "n_edits", "n_tokens"
WORD_TABLE = "word_table"  # what is counted of all words


def create_database(path: Path) -> None:
    """Make an empty run database, closed and complete."""
    with database_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript(f"BEGIN; {TABLES} COMMIT;")


def open_database(path: Path, *, writable: bool = False) -> sqlite3.Connection:
    """Open a run database, or raise an error one that this version understands."""
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
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise ValueError(f"{str(path)!r} is not the database of a dynmeans run.")
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"{str(path)!r} has schema version {version}; this dynmeans understands version "
            f"{SCHEMA_VERSION}. Use the release of dynmeans that wrote it."
        )


def is_empty_run(connection: sqlite3.Connection) -> bool:
    """Return whether a run has neither a window nor a message that was received."""
    tables = ("windows", "mqtt_inbox", "dead_letters")
    return not any(connection.execute(f"SELECT 1 FROM {t} LIMIT 1").fetchone() for t in tables)


def read_progress(connection: sqlite3.Connection) -> tuple[str, int, int]:
    """Return the id of a run, its last window, -1 if it has none, and how many edits it has."""
    (run_id,) = connection.execute("SELECT run_id FROM run_info").fetchone() or ("",)
    (last,) = connection.execute("SELECT max(step) FROM windows").fetchone()
    (n_edits,) = connection.execute("SELECT count(*) FROM edits").fetchone()
    return run_id, -1 if last is None else last, n_edits


def data_version(connection: sqlite3.Connection) -> int:
    """Return a number that is another one once something was committed."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one line with the consequence for the run."""
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
            raise _damage_error(path, text) from error
        if "unable to open" in text:
            raise PermissionError(f"cannot open {str(path)!r}: {text}.") from error
        if "readonly" in text:
            raise PermissionError(f"cannot write {str(path)!r}: {text}.") from error
        raise OSError(f"{str(path)!r}: {text}.") from error
    except sqlite3.DatabaseError as error:
        raise _damage_error(path, str(error)) from error


def _damage_error(path: Path, what: str) -> ValueError:
    return ValueError(
        f"the run is damaged: {str(path)!r}: {what}. Restore the folder from a back-up; dynmeans "
        "status --verify names what is damaged."
    )
