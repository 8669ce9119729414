"""How far what a run found was sent elsewhere, in the manifest and so under its digest."""

import sqlite3

from dynmeans.runs.store.commit import write_manifest
from dynmeans.runs.store.store import Store

_SENT = "sent"
_TO_LABELS = "labels "


def next_to_send(store: Store, place: str) -> int | None:
    """Return the first window that was not sent to a place; None if nothing ever was."""
    return _sent(store).get(place)


def first_unsent(store: Store) -> int | None:
    """Return the first window whose labels some place still waits for; None if none does."""
    steps = [step for place, step in _sent(store).items() if place.startswith(_TO_LABELS)]
    return min(steps, default=None)


def note_sent(store: Store, place: str, next_step: int) -> None:
    """Remember that all windows before `next_step` have arrived."""
    with store.transaction() as connection:
        add_sent(connection, store, place, next_step)


def add_sent(connection: sqlite3.Connection, store: Store, place: str, next_step: int) -> None:
    """Do so as part of a transaction."""
    write_manifest(connection, {_SENT: {**_sent(store), place: next_step}})


def _sent(store: Store) -> dict[str, int]:
    found: dict[str, int] = store.manifest(_SENT) or {}
    return found
