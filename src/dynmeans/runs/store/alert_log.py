"""Alerts in the database of a run: kept until each was delivered."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.digests import insert_rows, row_digest, verify_rows
from dynmeans.runs.store.schema import DATABASE, N_ALERTS, database_errors, open_database
from dynmeans.runs.store.sink_offsets import insert_offset, next_unsent_step
from dynmeans.runs.store.store import Store

_ADDRESS = "alerts"  # what is noted as sent under it


def next_unchecked_step(store: Store) -> int | None:
    """Return the first window that no rule looked at; None if none ever did."""
    return next_unsent_step(store, _ADDRESS)


def add_alerts(
    store: Store, rows: Iterable[tuple[Any, ...]], next_step: int, entries: Mapping[str, Any]
) -> None:
    """Keep alerts and entries of the manifest; all windows before `next_step` were looked at.

    A row is: id, target, step, number, rule, fields.
    """
    with store.transaction() as connection:
        new = [(*row, json.dumps(fields), 0) for *row, fields in rows]
        insert_rows(connection, "alerts", new, "INSERT OR IGNORE")
        (n_alerts,) = connection.execute("SELECT count(*) FROM alerts").fetchone()
        write_manifest(connection, {N_ALERTS: n_alerts, **entries})
        insert_offset(connection, store, _ADDRESS, next_step)


class AlertQueue:
    """The alerts of some rules that wait for one target, over a connection of their own."""

    def __init__(self, folder: Path, target: str, rules: Iterable[str]) -> None:
        self._folder, self._target, self._rules = folder, target, tuple(rules)
        self._connection: sqlite3.Connection = open_database(folder / DATABASE, writable=True)

    def first(self) -> Any:
        """Return the first row that waits, or None."""
        marks = ", ".join("?" * len(self._rules))
        first = (
            f"SELECT * FROM alerts WHERE is_delivered = 0 AND target = ? AND rule IN ({marks}) "
            "ORDER BY step, number LIMIT 1"
        )
        with database_errors(self._folder / DATABASE):
            found = self._connection.execute(first, (self._target, *self._rules)).fetchall()
        return next(verify_rows(found, "alerts", self._folder), None)

    def mark(self, row: Any) -> None:
        """Note that an alert was delivered."""
        done = (*tuple(row)[:-2], 1)
        with database_errors(self._folder / DATABASE):
            self._connection.execute(
                "UPDATE alerts SET is_delivered = 1, digest = ? WHERE id = ? AND target = ?",
                (row_digest(done), row["id"], row["target"]),
            )

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()
