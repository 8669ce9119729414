"""How far what a run found was sent elsewhere, in the manifest and so under its digest."""

import sqlite3

from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.store import Store

_SENT = "sent"
_TO_LABELS = "labels "


def next_unsent_step(store: Store, place: str) -> int | None:
    """Return the first window that was not sent to a place; None if nothing ever was."""
    return _read_offsets(store).get(place)


def oldest_unsent_step(store: Store) -> int | None:
    """Return the first window whose labels some place still waits for; None if none does."""
    steps = [step for place, step in _read_offsets(store).items() if place.startswith(_TO_LABELS)]
    return min(steps, default=None)


def commit_offset(store: Store, place: str, next_step: int) -> None:
    """Remember that all windows before `next_step` have arrived."""
    with store.transaction() as connection:
        insert_offset(connection, store, place, next_step)


def insert_offset(connection: sqlite3.Connection, store: Store, place: str, next_step: int) -> None:
    """Do so as part of a transaction."""
    write_manifest(connection, {_SENT: {**_read_offsets(store), place: next_step}})


def _read_offsets(store: Store) -> dict[str, int]:
    found: dict[str, int] = store.manifest(_SENT) or {}
    return found
