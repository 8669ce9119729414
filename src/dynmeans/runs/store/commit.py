"""Commit: what becomes visible at once, and its rows in the database."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dynmeans.records.history import StepRecord
from dynmeans.records.state import ClusterState
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.store.label_parts import Part

STATE_ARRAYS = ("ids", "centers", "weights", "ages", "counts")
# Only where clusters keep a course: in tables of their own, which older runs do not have.
COURSE_ARRAYS = ("velocities", "velocity_covariances")


@dataclass(frozen=True, slots=True, eq=False)
class StoredBatch:
    """What one batch leaves behind, beside its labels."""

    record: StepRecord
    elapsed: float
    label: str | None
    n_rows: int
    n_dropped: int
    n_late: int
    sample: Sample


@dataclass(slots=True, eq=False)
class Commit:
    """Everything that becomes visible at once, or not at all."""

    batches: list[StoredBatch] = field(default_factory=list)
    labels: list[pa.Table] = field(default_factory=list)
    state: ClusterState | None = None
    manifest: dict[str, Any] = field(default_factory=dict)
    token: str | None = None


def insert_commit(connection: sqlite3.Connection, commit: Commit, part: Part | None) -> None:
    """Write every row of the commit; the caller holds the transaction."""
    if part is not None:
        connection.execute(
            "INSERT INTO parts (name, first_step, last_step, n_rows, n_bytes, sha256) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (part.name, part.first_step, part.last_step, part.n_rows, part.n_bytes, part.sha256),
        )
    connection.executemany(
        "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        map(_batch_row, commit.batches),
    )
    connection.executemany(
        "INSERT INTO samples VALUES (?, ?, ?, ?)", (_sample_row(b.sample) for b in commit.batches)
    )
    connection.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (b.record.step, n, e.kind, e.cluster_id, e.other_id, e.displacement, e.gap)
            for b in commit.batches
            for n, e in enumerate(b.record.events)
        ),
    )
    connection.executemany(
        "INSERT INTO clusters VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (cluster_id) DO UPDATE SET "
        "last_step = excluded.last_step, n_batches = n_batches + excluded.n_batches, "
        "n_points = n_points + excluded.n_points, center = excluded.center",
        (row for batch in commit.batches for row in _life_rows(batch)),
    )
    for batch in commit.batches:
        if batch.record.velocities is not None:
            row = batch.record.step, batch.record.velocities.tobytes()
            connection.execute("INSERT INTO velocities VALUES (?, ?)", row)
    if commit.state is not None:
        row = _state_row(commit.state)
        connection.execute(
            "REPLACE INTO state VALUES (1, :n_steps, :time, :next_id, :ids, :centers, :weights, "
            ":ages, :counts, :sha256)",
            row,
        )
        if commit.state.velocities is not None:
            connection.execute(
                "REPLACE INTO state_velocities VALUES (1, :velocities, :velocity_covariances)", row
            )
    connection.executemany(
        "REPLACE INTO manifest VALUES (?, ?)",
        ((name, json.dumps(value)) for name, value in commit.manifest.items()),
    )
    if commit.token is not None:
        n_steps = commit.state.n_steps if commit.state is not None else 0
        connection.execute("INSERT INTO tokens VALUES (?, ?)", (commit.token, n_steps))


def _batch_row(batch: StoredBatch) -> tuple[Any, ...]:
    record = batch.record
    names = ("cost_trace", "ids", "counts", "centers", "weights", "ages")
    blobs = (getattr(record, name).tobytes() for name in names)
    numbers = (record.step, record.time, batch.elapsed, batch.label)
    counts = (batch.n_rows, batch.n_dropped, batch.n_late, record.n_remembered)
    return (*numbers, *counts, record.cost, *blobs)


def _sample_row(sample: Sample) -> tuple[Any, ...]:
    truth = None if sample.truth is None else json.dumps(sample.truth.tolist())
    return sample.step, sample.points.tobytes(), sample.cluster_ids.tobytes(), truth


def _life_rows(batch: StoredBatch) -> Iterable[tuple[Any, ...]]:
    """What a batch adds to each cluster's life; never summed first, so groups change no bit."""
    record = batch.record
    for k, count, center in zip(record.ids.tolist(), record.counts, record.centers, strict=True):
        yield k, record.step, record.step, 1, float(count), center.tobytes()


def _state_row(state: ClusterState) -> dict[str, Any]:
    names = STATE_ARRAYS if state.velocities is None else STATE_ARRAYS + COURSE_ARRAYS
    row = {name: getattr(state, name).tobytes() for name in names}
    row |= {"n_steps": state.n_steps, "time": state.time, "next_id": state.next_id}
    row["sha256"] = state_checksum(row)
    return row


def state_checksum(row: Mapping[str, Any]) -> str:
    """Return the digest that shows whether a stored state is the one that was written."""
    digest = hashlib.sha256(f"{row['n_steps']} {row['time']!r} {row['next_id']}".encode())
    for name in STATE_ARRAYS + COURSE_ARRAYS:
        digest.update(row.get(name, b""))
    return digest.hexdigest()
