"""The edits of a run, in the order they were made: rows are added, never changed or removed."""

from collections.abc import Callable
from typing import Any

from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.digests import damage_error, insert_rows, verify_rows
from dynmeans.runs.store.schema import DATABASE, N_EDITS, database_errors, open_database
from dynmeans.runs.store.store import Store

COLUMNS = ("edit_id", "kind", "cluster_id", "other_id", "text", "author", "created_at")


def read_edits(store: Store) -> list[dict[str, Any]]:
    """Return all edits, each compared with its digest."""
    found = [_edit_of(row) for row in store.rows("edits", "ORDER BY edit_id")]
    numbers = [row["edit_id"] for row in found]
    if numbers != list(range(1, (store.manifest(N_EDITS) or 0) + 1)):
        raise damage_error(store.folder, "an edit is missing")
    return found


def append_edits(
    store: Store, make: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Add the edits that `make` returns for those there are, all or none; return their rows.

    Takes no writer's lock: the database lets one transaction in at a time.
    """
    path = store.folder / DATABASE
    with database_errors(path):
        connection = open_database(path, writable=True)
        try:
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute("SELECT * FROM edits ORDER BY edit_id").fetchall()
            made = make([_edit_of(row) for row in verify_rows(rows, "edits", store.folder)])
            numbered = enumerate(made, len(rows) + 1)
            added = [dict.fromkeys(COLUMNS) | edit | {"edit_id": n} for n, edit in numbered]
            insert_rows(connection, "edits", [tuple(edit.values()) for edit in added])
            write_manifest(connection, {N_EDITS: len(rows) + len(added)})
            connection.execute("COMMIT")
        finally:
            connection.close()  # gives an open transaction up
    return added


def _edit_of(row: Any) -> dict[str, Any]:
    return {name: row[name] for name in COLUMNS}
