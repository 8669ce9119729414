"""A run folder of schema 1 becomes one of schema 2 when it is written to: digests are added."""

import sqlite3

from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.digests import TABLES, row_digest, rows_digest
from dynmeans.runs.store.schema import DIGEST_COLUMNS, SCHEMA_VERSION

_EVENTS = "SELECT number, kind, cluster_id, other_id, displacement, gap FROM events"


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the digests of what is there; the caller holds the transaction."""
    for statement in DIGEST_COLUMNS:
        connection.execute(statement)
    for (step,) in connection.execute("SELECT step FROM batches").fetchall():
        events = connection.execute(f"{_EVENTS} WHERE step = ? ORDER BY number", [step]).fetchall()
        digest = rows_digest([tuple(event) for event in events])
        connection.execute("UPDATE batches SET events_digest = ? WHERE step = ?", [digest, step])
    for table in TABLES:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        key = rows[0].keys()[0] if rows else ""
        connection.executemany(
            f"UPDATE {table} SET digest = ? WHERE {key} = ?",
            [(row_digest(tuple(row)[:-1]), row[0]) for row in rows],
        )
    (n_tokens,) = connection.execute("SELECT count(*) FROM tokens").fetchone()
    write_manifest(connection, {"n_tokens": n_tokens})
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
