"""RunStatus: how far a run is, in a few numbers."""

from dataclasses import dataclass
from typing import Any

from dynmeans.runs.store.store import Store


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How far a run is.

    Attributes
    ----------
    folder : str
        Where it lives.
    run_id : str
        Tells it from a run that replaces it in its folder.
    is_running : bool
        Whether a process is writing to it now.
    is_finished : bool
        Whether its source was read to the end.
    n_windows, n_rows : int
        Windows and rows taken in.
    n_dropped, n_late : int
        Rows left out because a value was missing, or because they came too late.
    n_dead_letters : int
        Messages that could not be read as rows.
    time : float
        Steps of time so far, empty windows included.
    n_clusters : int
        Clusters in the last window.
    n_remembered : int
        Clusters in memory, seen or not.
    n_identities : int
        Clusters seen so far, forgotten ones too.
    cost : float or None
        Cost of the last window.
    first_window, last_window : str or None
        Names of the first and the last window.
    n_parts, n_bytes : int
        Files of labels, and their size.
    position : dict or None
        Where the source stood after the last commit.
    made_by, written_by : str or None
        Versions of dynmeans that made the folder and that wrote to it last; None if they did not
        say.
    """

    folder: str
    run_id: str
    is_running: bool
    is_finished: bool
    n_windows: int
    n_rows: int
    n_dropped: int
    n_late: int
    n_dead_letters: int
    time: float
    n_clusters: int
    n_remembered: int
    n_identities: int
    cost: float | None
    first_window: str | None
    last_window: str | None
    n_parts: int
    n_bytes: int
    position: dict[str, Any] | None
    made_by: str | None
    written_by: str | None


def status_of(store: Store) -> RunStatus:
    """Read the numbers off the store."""
    first = list(store.rows("windows", "ORDER BY step LIMIT 1"))
    last = list(store.rows("windows", "ORDER BY step DESC LIMIT 1"))
    parts = store.parts()
    position = store.manifest("position")
    row = dict(last[0]) if last else {}
    return RunStatus(
        folder=str(store.folder),
        run_id=store.run_id,
        is_running=store.is_being_written,
        is_finished=bool((position or {}).get("is_finished")),
        n_windows=row.get("step", -1) + 1,
        time=row.get("time", 0.0),
        n_clusters=len(row.get("ids", b"")) // 8,
        n_remembered=row.get("n_remembered", 0),
        n_identities=store.n_identities,
        cost=row.get("cost"),
        first_window=first[0]["name"] if first else None,
        last_window=row.get("name"),
        n_parts=len(parts),
        n_bytes=sum(part.n_bytes for part in parts),
        position=position,
        made_by=store.manifest("made_by"),
        written_by=store.manifest("written_by"),
        **store.counts(),
    )
