"""Commit: what becomes visible at once, and its rows in the database."""

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dynmeans.follow.memory import Memory
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.store.dead_letters import DeadLetter, insert_letters
from dynmeans.runs.store.digests import insert_rows, row_digest, rows_digest
from dynmeans.runs.store.inbox import forget_taken
from dynmeans.runs.store.label_files import LabelFile
from dynmeans.runs.store.schema import N_TOKENS

DIGEST = "digest"  # the entry of the manifest that covers all others
SETTINGS = (
    "SELECT 'configuration' AS origin, name, value, rowid AS place FROM configuration UNION ALL "
    "SELECT 'manifest', name, value, rowid FROM manifest ORDER BY origin, place"
)


@dataclass(frozen=True, slots=True, eq=False)
class StoredWindow:
    """What one window adds to a run, in addition to its labels."""

    record: StepRecord
    elapsed: float
    n_dropped_rows: int
    n_late_rows: int
    sample: Sample


@dataclass(slots=True, eq=False)
class Commit:
    """Everything that becomes visible at once, or not at all."""

    windows: list[StoredWindow] = field(default_factory=list)
    labels: list[pa.Table] = field(default_factory=list)
    memory: Memory | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    dead_letters: list[DeadLetter] = field(default_factory=list)
    # Of texts: rows of the words and topics that changed, and words of topics in a window.
    words: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    forgotten_words: set[str] = field(default_factory=set)
    topics: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    topic_words: list[tuple[int, int, str]] = field(default_factory=list)
    step_seconds: float | None = None


def insert_commit(connection: sqlite3.Connection, commit: Commit, part: LabelFile | None) -> None:
    """Write every row of the commit; the caller holds the transaction."""
    if part is not None:
        insert_part(connection, part)
    events = [_event_rows(window) for window in commit.windows]
    connection.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        ((b.record.step, *e) for b, rows in zip(commit.windows, events, strict=True) for e in rows),
    )
    pairs = zip(commit.windows, events, strict=True)
    insert_rows(connection, "windows", [(*_window_row(b), rows_digest(rows)) for b, rows in pairs])
    insert_rows(connection, "samples", [_sample_row(b.sample) for b in commit.windows])
    _add_lives(connection, commit.windows)
    _insert_texts(connection, commit)
    n_steps = 0
    if commit.memory is not None:
        n_steps = commit.memory.clusters.n_steps
        insert_rows(connection, "memory", [(1, commit.memory.to_bytes())], "REPLACE")
    if commit.idempotency_key is not None:
        insert_rows(connection, "idempotency_keys", [(commit.idempotency_key, n_steps)])
        (n_tokens,) = connection.execute("SELECT count(*) FROM idempotency_keys").fetchone()
        commit.manifest[N_TOKENS] = n_tokens
    insert_letters(connection, commit.dead_letters)
    if commit.step_seconds is not None:
        pace = (commit.step_seconds, time.time())
        connection.execute("REPLACE INTO timing VALUES (1, ?, ?)", pace)
    forget_taken(connection, commit.manifest.get("position"))
    write_manifest(connection, commit.manifest)


def _insert_texts(connection: sqlite3.Connection, commit: Commit) -> None:
    forgotten = [(word,) for word in commit.forgotten_words]
    connection.executemany("DELETE FROM words WHERE word = ?", forgotten)
    insert_rows(connection, "words", list(commit.words.values()), "REPLACE")
    insert_rows(connection, "topics", list(commit.topics.values()), "REPLACE")
    insert_rows(connection, "topic_words", commit.topic_words)


def insert_part(connection: sqlite3.Connection, part: LabelFile) -> None:
    """Name a part of labels as one of the run."""
    row = (part.first_step, part.last_step, part.name, part.n_rows, part.n_bytes, part.sha256)
    insert_rows(connection, "label_files", [row])


def write_manifest(connection: sqlite3.Connection, entries: Mapping[str, Any]) -> None:
    """Put entries into the manifest, and the digest of all it and the configuration hold."""
    replace = "REPLACE INTO manifest VALUES (?, ?)"
    connection.executemany(replace, [(name, json.dumps(value)) for name, value in entries.items()])
    settings = connection.execute(SETTINGS).fetchall()
    connection.execute(replace, (DIGEST, json.dumps(settings_digest(settings))))


def settings_digest(settings: Iterable[Any]) -> str:
    """Return the digest of the rows of configuration and manifest, apart from the digest itself."""
    # A damaged entry may be of any type.
    rows = sorted((tuple(row)[:3] for row in settings), key=lambda row: tuple(map(str, row)))
    return rows_digest([row for row in rows if row[:2] != ("manifest", DIGEST)]).hex()


def _add_lives(connection: sqlite3.Connection, windows: list[StoredWindow]) -> None:
    """Add what the windows bring to each cluster's life, and digest the rows that changed."""
    connection.executemany(
        "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, ?, x'') ON CONFLICT (cluster_id) DO UPDATE "
        "SET last_step = excluded.last_step, n_windows = n_windows + excluded.n_windows, "
        "n_points = n_points + excluded.n_points, center = excluded.center",
        (row for window in windows for row in _life_rows(window)),
    )
    select = "SELECT * FROM clusters WHERE cluster_id = ?"
    digests = []
    for k in {k for window in windows for k in window.record.ids.tolist()}:
        *row, _ = connection.execute(select, [k]).fetchone()
        digests.append((row_digest(row), k))
    connection.executemany("UPDATE clusters SET digest = ? WHERE cluster_id = ?", digests)


def _event_rows(window: StoredWindow) -> list[tuple[Any, ...]]:
    return [
        (n, e.kind, int(e.cluster_id), e.other_id, *map(_plain, (e.displacement, e.gap, e.speed)))
        for n, e in enumerate(window.record.events)
    ]


def _plain(number: float | None) -> float | None:
    """Return a number as SQLite gives it back, which is what a digest is made of."""
    return None if number is None else float(number)


def _window_row(window: StoredWindow) -> tuple[Any, ...]:
    record = window.record
    names = ("cost_trace", "ids", "counts", "centers", "weights", "ages")
    blobs = (getattr(record, name).tobytes() for name in names)
    numbers = (record.step, float(record.time), float(window.elapsed), window.sample.name)
    counts = (window.sample.n_rows, window.n_dropped_rows, window.n_late_rows, record.n_remembered)
    velocities = None if record.velocities is None else record.velocities.tobytes()
    return (*numbers, *map(int, counts), float(record.cost), *blobs, velocities)


def _sample_row(sample: Sample) -> tuple[Any, ...]:
    truth = None if sample.truth is None else json.dumps(sample.truth.tolist())
    return sample.step, sample.points.tobytes(), sample.cluster_ids.tobytes(), truth


def _life_rows(window: StoredWindow) -> Iterable[tuple[Any, ...]]:
    """What a window adds to each cluster's life; never summed first, so groups change no bit."""
    record = window.record
    for k, count, center in zip(record.ids.tolist(), record.counts, record.centers, strict=True):
        yield k, record.step, record.step, 1, float(count), center.tobytes()
