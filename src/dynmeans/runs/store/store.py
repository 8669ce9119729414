"""One run folder: SQLite for state and manifest, Parquet for labels; commit is one transaction."""

import errno
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.records.state import ClusterState
from dynmeans.runs.store import label_parts
from dynmeans.runs.store.commit import (
    COURSE_ARRAYS,
    STATE_ARRAYS,
    Commit,
    insert_commit,
    state_checksum,
)
from dynmeans.runs.store.label_parts import Part
from dynmeans.runs.store.schema import DATABASE, create_database, database_errors, open_database
from dynmeans.runs.store.writer_lock import FILE as LOCK_FILE
from dynmeans.runs.store.writer_lock import WriterLock, is_locked

_FRESH = f"{DATABASE}.new"


class Store:
    """The files of one run. Reading needs nothing; writing takes the writer's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.labels_folder = folder / label_parts.FOLDER
        self._lock: WriterLock | None = None
        self._connection = open_database(folder / DATABASE)

    @classmethod
    def create(cls, folder: Path, fields: Mapping[str, Any], *, overwrite: bool = False) -> "Store":
        """Make a new run folder; an old run is replaced only if `overwrite` says so."""
        _check_may_create(folder, overwrite)
        (folder / label_parts.FOLDER).mkdir(parents=True, exist_ok=True)
        lock = WriterLock(folder)
        try:
            _clear(folder)
            fresh = folder / _FRESH
            create_database(fresh)
            with database_errors(fresh), sqlite3.connect(fresh) as connection:
                rows = [(name, json.dumps(value)) for name, value in fields.items()]
                connection.executemany("INSERT INTO configuration VALUES (?, ?)", rows)
            connection.close()
            fresh.rename(folder / DATABASE)
            label_parts.sync_folder(folder)
        finally:
            lock.release()
        return cls(folder)

    def query(self, sql: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Read rows of the database."""
        with database_errors(self.folder / DATABASE):
            return self._connection.execute(sql, tuple(values)).fetchall()

    def config_fields(self) -> dict[str, Any]:
        """Return the configuration as it was stored."""
        return {
            row["name"]: json.loads(row["value"])
            for row in self.query("SELECT name, value FROM configuration ORDER BY rowid")
        }

    def manifest(self, name: str) -> Any:
        """Return one entry of the manifest, or None."""
        rows = self.query("SELECT value FROM manifest WHERE name = ?", [name])
        return json.loads(rows[0]["value"]) if rows else None

    def parts(self) -> list[Part]:
        """Return the committed parts, oldest first."""
        rows = self.query(
            "SELECT name, first_step, last_step, n_rows, n_bytes, sha256 "
            "FROM parts ORDER BY first_step"
        )
        return [Part(*row) for row in rows]

    def state(self, n_features: int) -> ClusterState:
        """Return what is remembered after the last committed batch."""
        rows = self.query("SELECT * FROM state")
        if not rows:
            return ClusterState.empty(n_features)
        row = dict(rows[0])
        if self.is_steady:
            row |= dict(self.query("SELECT * FROM state_velocities")[0])
        if state_checksum(row) != row["sha256"]:
            raise ValueError(f"the run {str(self.folder)!r} is damaged: its state was changed.")
        names = STATE_ARRAYS[1:] + COURSE_ARRAYS if self.is_steady else STATE_ARRAYS[1:]
        arrays: dict[str, Any] = {
            name: np.frombuffer(row[name], dtype=np.float64) for name in names
        }
        widths = {"centers": n_features, "velocities": n_features, "velocity_covariances": 2}
        arrays |= {n: arrays[n].reshape(-1, width) for n, width in widths.items() if n in arrays}
        ids = np.frombuffer(row["ids"], dtype=np.int64)
        counters = {name: row[name] for name in ("next_id", "n_steps", "time")}
        return ClusterState(ids=ids, **arrays, **counters)

    @property
    def is_steady(self) -> bool:
        """Whether the clusters of the run keep a course."""
        return self.config_fields().get("motion") == "steady"

    def has_token(self, token: str) -> bool:
        """Say whether a call of that name was committed."""
        return bool(self.query("SELECT 1 FROM tokens WHERE token = ?", [token]))

    @property
    def is_being_written(self) -> bool:
        """Whether a process is writing to the run now."""
        return self._lock is not None or is_locked(self.folder)

    def verify(self) -> None:
        """Read everything once and compare it with its checksums."""
        (result,) = self.query("PRAGMA integrity_check")[0]
        if result != "ok":
            raise ValueError(f"the run {str(self.folder)!r} is damaged: {result}.")
        label_parts.check_parts(self.labels_folder, self.parts(), contents=True)

    def begin_writing(self) -> None:
        """Take the lock, and put away what a stopped process left behind."""
        if self._lock is not None:
            return
        lock = WriterLock(self.folder)
        try:
            connection = open_database(self.folder / DATABASE, writable=True)
            self._connection.close()
            self._connection = connection
            parts = self.parts()
            label_parts.check_parts(self.labels_folder, parts)
            label_parts.remove_orphans(self.labels_folder, parts)
        except BaseException:
            lock.release()
            raise
        self._lock = lock

    def commit(self, commit: Commit) -> None:
        """Make everything in `commit` durable and visible at once."""
        try:
            part = self._write_labels(commit)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise OSError(
                f"no space left under {str(self.folder)!r}. What was committed is safe; make room "
                "and start the same command again."
            ) from error
        with database_errors(self.folder / DATABASE):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                insert_commit(self._connection, commit, part)
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Give everything back; safe to call twice."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _write_labels(self, commit: Commit) -> Part | None:
        if not commit.labels:
            return None
        first, last = commit.batches[0].record.step, commit.batches[-1].record.step
        table = pa.concat_tables(commit.labels)
        return label_parts.write_part(self.labels_folder, table, first, last)


def _check_may_create(folder: Path, overwrite: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{str(folder)!r} is a file, not a run folder.")
    if (folder / DATABASE).exists():
        if not overwrite:
            raise FileExistsError(f"{str(folder)!r} holds a run already; --overwrite replaces it.")
        return
    # What a process that was stopped while it made the run may have left.
    own = {*_database_files(DATABASE), *_database_files(_FRESH), LOCK_FILE, label_parts.FOLDER}
    if foreign := {path.name for path in folder.iterdir()} - own:
        raise FileExistsError(
            f"{str(folder)!r} is not a run, and holds other files "
            f"({', '.join(sorted(foreign)[:3])}); name a new folder."
        )


def _clear(folder: Path) -> None:
    """Remove an old run. The database goes first: without it, what is left is no run."""
    for name in (*_database_files(DATABASE), *_database_files(_FRESH)):
        (folder / name).unlink(missing_ok=True)
    label_parts.remove_orphans(folder / label_parts.FOLDER, [])


def _database_files(name: str) -> tuple[str, ...]:
    return name, f"{name}-wal", f"{name}-shm", f"{name}-journal"
