"""How far what a run found was sent elsewhere."""

from dynmeans.runs.store.store import Store


def next_to_send(store: Store, place: str) -> int:
    """Return the first window that was not sent to a place."""
    if not store.has("sent"):
        return 0
    found = store.query("SELECT next_step FROM sent WHERE place = ?", [place])
    return int(found[0]["next_step"]) if found else 0


def first_unsent(store: Store) -> int | None:
    """Return the first window whose labels some place still waits for; None if none does."""
    found = store.query("SELECT min(next_step) AS step FROM sent WHERE place LIKE 'labels %'")
    return None if found[0]["step"] is None else int(found[0]["step"])


def note_sent(store: Store, place: str, next_step: int) -> None:
    """Remember that all windows before `next_step` have arrived."""
    with store.transaction() as connection:
        connection.execute("REPLACE INTO sent VALUES (?, ?)", (place, next_step))
