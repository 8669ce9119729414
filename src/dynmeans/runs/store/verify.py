"""verify: everything a run folder holds, read once and compared with its digests."""

from dynmeans.follow.memory import Memory
from dynmeans.runs.store import label_files
from dynmeans.runs.store.digests import TABLES, damage_error
from dynmeans.runs.store.edit_log import read_edits
from dynmeans.runs.store.run_tables import windows_with_events
from dynmeans.runs.store.schema import N_ALERTS, N_TOKENS, WORD_TABLE
from dynmeans.runs.store.store import N_LABELS_REMOVED, Store


def verify(store: Store) -> None:
    """Raise an error for the first thing that is not as it was written."""
    with store.snapshot():
        (result,) = store.query("PRAGMA integrity_check")[0]
        if result != "ok":
            raise damage_error(store.folder, str(result))
        _, memory = store.run_id, store.memory()
        for table in TABLES:
            n_rows = sum(1 for _ in store.rows(table))
            expected = _rows_required(store, table, memory)
            if expected is not None and n_rows != expected:
                raise damage_error(store.folder, f"{table} has {n_rows} rows, not {expected}")
        for _ in windows_with_events(store):
            pass
        read_edits(store)
        parts = store.label_files()
        n_labels = sum(part.n_rows for part in parts) + (store.manifest(N_LABELS_REMOVED) or 0)
        if n_labels != store.counts()["n_rows"]:
            raise damage_error(
                store.folder, f"label files have {n_labels} labels, not one for each row"
            )
    while True:
        try:
            return label_files.check_parts(store.labels_folder, parts, contents=True)
        except ValueError:
            if parts == (now := store.label_files()):
                raise
            parts = now  # some were joined meanwhile


def _rows_required(store: Store, table: str, memory: Memory | None) -> int | None:
    """Return how many rows a table must have; None if unknown."""
    if table in ("windows", "samples"):
        return 0 if memory is None else int(memory.clusters.n_steps)
    if table == "clusters":
        # Every cluster was seen in the window that it was born in.
        return 0 if memory is None else int(memory.clusters.next_id)
    if table == "dead_letters":
        return store.counts()["n_dead_letters"]
    if table in ("words", "topics"):
        of_texts = store.manifest(WORD_TABLE)
        if of_texts is None or memory is None:
            return 0
        return int(of_texts["n_words"] if table == "words" else memory.clusters.next_id)
    entry = {"alerts": N_ALERTS, "idempotency_keys": N_TOKENS}.get(table)
    return None if entry is None else store.manifest(entry) or 0
