"""One run folder: SQLite for state and manifest, Parquet for labels; commit is one transaction."""

import dataclasses
import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

import dynmeans
from dynmeans.follow.memory import Memory
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.runs.store import label_files
from dynmeans.runs.store.commit import (
    DIGEST,
    SETTINGS,
    Commit,
    insert_commit,
    insert_part,
    settings_digest,
    write_manifest,
)
from dynmeans.runs.store.digests import damage_error, verify_rows
from dynmeans.runs.store.label_files import LabelFile
from dynmeans.runs.store.schema import (
    DATABASE,
    create_database,
    database_errors,
    is_empty_run,
    open_database,
)
from dynmeans.runs.store.writer_lock import FILE as LOCK_FILE
from dynmeans.runs.store.writer_lock import WriterLock, is_locked

_FRESH = f"{DATABASE}.new"
# Entries of the manifest where labels were put away: the first window that has some, and how many.
LABELS_FROM, N_LABELS_REMOVED = "labels_from", "n_labels_removed"


class Store:
    """The files of one run. Reading needs nothing; writing takes the writer's lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.labels_folder = folder / label_files.FOLDER
        self._lock: WriterLock | None = None
        self._opened_with: dict[str, Any] | None = None
        self._connection = open_database(folder / DATABASE)

    @classmethod
    def create(cls, folder: Path, fields: Mapping[str, Any], *, overwrite: bool = False) -> "Store":
        """Make a new run folder, and keep it locked; unasked, only an empty run is replaced."""
        check_may_create(folder, overwrite)
        (folder / label_files.FOLDER).mkdir(parents=True, exist_ok=True)
        lock = WriterLock(folder)
        try:
            # Another process may have made a run since the first look.
            check_may_create(folder, overwrite)
            _clear(folder)
            fresh = folder / _FRESH
            create_database(fresh)
            with database_errors(fresh), sqlite3.connect(fresh) as connection:
                _insert_configuration(connection, fields)
                write_manifest(connection, {"created_with": dynmeans.__version__})
            connection.close()
            fresh.rename(folder / DATABASE)
            label_files.sync_folder(folder)
            store = cls(folder)
        except BaseException:
            lock.release()
            raise
        store._lock_for_writing(lock)
        return store

    def query(self, sql: str, values: Iterable[Any] = ()) -> list[sqlite3.Row]:
        """Read rows of the database."""
        with database_errors(self.folder / DATABASE):
            return self._connection.execute(sql, tuple(values)).fetchall()

    def rows(self, table: str, clause: str = "", values: Iterable[Any] = ()) -> Iterator[Any]:
        """Read whole rows of a table, each compared with its digest."""
        with database_errors(self.folder / DATABASE):
            found = self._connection.execute(f"SELECT * FROM {table} {clause}", tuple(values))
            yield from verify_rows(found, table, self.folder)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was processed yet, neither windows nor messages."""
        with database_errors(self.folder / DATABASE):
            return is_empty_run(self._connection)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read what one commit left, whatever is written meanwhile."""
        if self._connection.in_transaction:
            yield
            return
        self.query("BEGIN")
        try:
            yield
        finally:
            self.query("ROLLBACK")

    def _settings(self, origin: str) -> dict[str, Any]:
        """Return all of configuration or manifest, compared with the digest of both."""
        found = self.query(SETTINGS)
        entries = {row["name"]: row["value"] for row in found if row["origin"] == origin}
        digest = next((row["value"] for row in found if row["name"] == DIGEST), "null")
        if json.loads(digest) != settings_digest(found):
            raise damage_error(self.folder, "its configuration or manifest was changed")
        return {name: json.loads(value) for name, value in entries.items()}

    def config_fields(self) -> dict[str, Any]:
        """Return the configuration as it was stored."""
        stored = self._settings("configuration")
        self._opened_with = self._opened_with or stored
        return stored

    def manifest(self, name: str) -> Any:
        """Return one entry of the manifest, or None."""
        return self._settings("manifest").get(name)

    @property
    def run_id(self) -> str:
        """The ID that distinguishes the run from one that replaces it in its folder."""
        found = self.query("SELECT run_id FROM run_info")
        if not found:
            raise damage_error(self.folder, "its run ID is missing")
        return str(found[0][0])

    def counts(self) -> dict[str, int]:
        """Return the rows processed, dropped and late, and the messages that are no rows."""
        found: dict[str, int] = self.manifest("counts") or {}
        return {
            "n_rows": 0,
            "n_dropped_rows": 0,
            "n_late_rows": 0,
            "n_dead_letters": 0,
            "n_wordless": 0,
        } | found

    def label_files(self, first_step: int = 0) -> list[LabelFile]:
        """Return the committed parts with labels of this window or later ones, oldest first."""
        names = [field.name for field in dataclasses.fields(LabelFile)]
        before = self._n_labels()
        rows = self.rows("label_files", "WHERE last_step >= ? ORDER BY first_step", [first_step])
        found = [LabelFile(**{name: row[name] for name in names}) for row in rows]
        is_whole = first_step == 0 and before == self._n_labels()  # no commit came in between
        if is_whole and before not in (None, sum(part.n_rows for part in found)):
            raise damage_error(self.folder, "a part of its labels is missing")
        return found

    def _n_labels(self) -> int | None:
        """Return how many rows all parts hold, by the manifest."""
        manifest = self._settings("manifest")
        counts = manifest.get("counts")
        return None if counts is None else counts["n_rows"] - manifest.get(N_LABELS_REMOVED, 0)

    def memory(self) -> Memory | None:
        """Return what is remembered after the last committed window; None before the first."""
        rows = list(self.rows("memory"))
        if rows:
            return Memory.from_bytes(rows[0]["data"], f"the memory of {str(self.folder)!r}")
        if self.query("SELECT 1 FROM windows LIMIT 1"):
            raise damage_error(self.folder, "its memory is missing")
        return None

    @property
    def n_clusters_total(self) -> int:
        """Clusters seen so far, forgotten ones too."""
        return int(self.query("SELECT count(*) FROM clusters")[0][0])

    @property
    def pace(self) -> tuple[float, float] | None:
        """Seconds of the last step, and when it was committed; None before the first."""
        found = self.query("SELECT step_seconds, at FROM timing")
        return (found[0]["step_seconds"], found[0]["at"]) if found else None

    @property
    def has_windows(self) -> bool:
        """Whether a window was processed: from then on the configuration stays."""
        return bool(self.query("SELECT 1 FROM memory"))

    def has_idempotency_key(self, idempotency_key: str) -> bool:
        """Return whether a call of that name was committed."""
        return bool(list(self.rows("idempotency_keys", "WHERE key = ?", [idempotency_key])))

    @property
    def is_being_written(self) -> bool:
        """Whether a process is writing to the run now."""
        return self._lock is not None or is_locked(self.folder)

    def lock_for_writing(self) -> None:
        """Take the lock, and remove what a stopped process left behind."""
        if self._lock is None:
            self._lock_for_writing(WriterLock(self.folder))

    def _lock_for_writing(self, lock: WriterLock) -> None:
        try:
            connection = open_database(self.folder / DATABASE, writable=True)
            self._connection.close()
            self._connection = connection
            if self._opened_with not in (None, self._settings("configuration")):
                raise OSError(f"another process has replaced the run {str(self.folder)!r}.")
            parts = self.label_files()
            label_files.check_parts(self.labels_folder, parts)
            label_files.remove_orphans(self.labels_folder, parts)
        except BaseException:
            lock.release()
            raise
        self._lock = lock

    def note(self, entries: Mapping[str, Any]) -> None:
        """Put entries into the manifest."""
        with self.transaction() as connection:
            write_manifest(connection, entries)

    def configure(self, fields: Mapping[str, Any]) -> None:
        """Replace the configuration."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM configuration")
            _insert_configuration(connection, fields)
            write_manifest(connection, {})
        self._opened_with = self._settings("configuration")

    def delete_label_files(self, parts: list[LabelFile]) -> None:
        """Remove the oldest parts of labels: from the manifest first, then from the disk."""
        entries = {
            LABELS_FROM: parts[-1].last_step + 1,
            N_LABELS_REMOVED: (self.manifest(N_LABELS_REMOVED) or 0) + sum(p.n_rows for p in parts),
        }
        with self.transaction() as connection:
            _delete_parts(connection, parts)
            write_manifest(connection, entries)
        self.remove_files(parts)

    def replace_parts(self, old: list[LabelFile], new: LabelFile) -> list[LabelFile]:
        """Put one part in the place of some whose rows it holds, and return whose files may go.

        These are as old as this moment: copies of the folder may name them for a while.
        """
        for part in old:
            with suppress(FileNotFoundError):  # its labels were removed as too old
                os.utime(self.labels_folder / part.name)
        with self.transaction() as connection:
            is_whole = set(old) <= set(self.label_files())
            if is_whole:
                _delete_parts(connection, old)
                insert_part(connection, new)
        if is_whole:
            return old
        self.remove_files([new])
        return []

    def remove_files(self, parts: list[LabelFile]) -> None:
        """Remove the files of parts that are no longer named."""
        for part in parts:
            (self.labels_folder / part.name).unlink(missing_ok=True)

    def commit(self, commit: Commit) -> None:
        """Make everything in `commit` durable and visible at once."""
        try:
            part = self._write_labels(commit)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise OSError(
                f"no space left under {str(self.folder)!r}. Committed work is safe; make room "
                "and run the same command to resume."
            ) from error
        commit.manifest["last_written_with"] = dynmeans.__version__
        with self.transaction():
            insert_commit(self._connection, commit, part)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write several things at once, or none of them; only for the writer."""
        with database_errors(self.folder / DATABASE):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield self._connection
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

    def _write_labels(self, commit: Commit) -> LabelFile | None:
        if not commit.labels:
            return None
        first, last = commit.windows[0].record.step, commit.windows[-1].record.step
        table = pa.concat_tables(commit.labels)
        return label_files.write_part(self.labels_folder, table, first, last)


def _delete_parts(connection: sqlite3.Connection, parts: list[LabelFile]) -> None:
    steps = [(part.first_step,) for part in parts]
    connection.executemany("DELETE FROM label_files WHERE first_step = ?", steps)


def _insert_configuration(connection: sqlite3.Connection, fields: Mapping[str, Any]) -> None:
    rows = [(name, json.dumps(value)) for name, value in fields.items()]
    connection.executemany("INSERT INTO configuration VALUES (?, ?)", rows)


def check_may_create(folder: Path, overwrite: bool) -> None:
    """Refuse a place where no run can be made, or that holds something else."""
    if not folder.exists():
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+:", folder.parts[0] if folder.parts else ""):
            raise ValueError("a run must be a folder on this machine, not an address.")
        parent = next(path for path in folder.absolute().parents if path.exists())
        if not (parent.is_dir() and os.access(parent, os.W_OK)):
            raise PermissionError(f"cannot make the run {str(folder)!r} in {str(parent)!r}.")
        return
    if not folder.is_dir():
        raise FileExistsError(f"{str(folder)!r} is a file, not a run folder.")
    if (folder / DATABASE).exists():
        if not (overwrite or _is_empty(folder)):
            raise FileExistsError(
                ArgumentText(
                    "{!r} already contains a run; {overwrite=True} replaces it.", str(folder)
                )
            )
        return
    # What a process that was stopped while it made the run may have left.
    own = {*_database_files(DATABASE), *_database_files(_FRESH), LOCK_FILE, label_files.FOLDER}
    if foreign := {path.name for path in folder.iterdir()} - own:
        raise FileExistsError(
            f"{str(folder)!r} is not a run, and holds other files "
            f"({', '.join(sorted(foreign)[:3])}); name a new folder."
        )


def _is_empty(folder: Path) -> bool:
    """Return whether a run took nothing in: what made it failed before its first commit."""
    path = folder / DATABASE
    with closing(open_database(path)) as connection, database_errors(path):
        return is_empty_run(connection)


def _clear(folder: Path) -> None:
    """Remove an old run. The database goes first: without it, what is left is no run."""
    for name in (*_database_files(DATABASE), *_database_files(_FRESH)):
        (folder / name).unlink(missing_ok=True)
    label_files.remove_orphans(folder / label_files.FOLDER, [])


def _database_files(name: str) -> tuple[str, ...]:
    return name, f"{name}-wal", f"{name}-shm", f"{name}-journal"
