"""RunStatus: how far a run is, in a few numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.runs.analysis.clusters_shown import clusters_shown
from dynmeans.runs.reading.late_rows import late_share
from dynmeans.runs.store.store import Store


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How far a run is."""

    folder: str
    run_id: str  # tells it from a run that replaces it in its folder
    is_running: bool  # whether a process is writing to it now
    is_finished: bool  # whether its source was read to the end
    n_windows: int
    n_rows: int
    n_dropped_rows: int  # rows left out because a value was missing
    n_late_rows: int  # rows left out because they came too late
    late_share: float  # of the last 1,000 rows or so that came live, those that came too late
    n_dead_letters: int  # messages that could not be read as rows
    n_wordless: int  # texts without a word: noise, with the label -1
    clock: float  # steps so far, empty windows included
    n_active_clusters: int  # in the last window
    n_remembered_clusters: int  # clusters in memory, seen or not
    n_clusters_total: int  # clusters seen so far, forgotten ones too
    cost: float | None  # of the last window
    first_window: str | None
    last_window: str | None
    n_label_files: int  # files of labels
    label_bytes: int  # their size
    position: dict[str, Any] | None  # where the source stood after the last commit
    level: str  # "fine", "default" or "coarse": which clusters are counted
    n_subclusters: int  # the parts of clusters, as found
    n_noise: int  # rows with the label -1 at this level
    n_unconfirmed: int  # clusters below `min_cluster_size` or `min_batches`
    created_with: str | None  # version of dynmeans that made the folder
    last_written_with: str | None  # version that wrote to it last


def status_of(store: Store) -> RunStatus:
    """Read the numbers off the store."""
    first = list(store.rows("windows", "ORDER BY step LIMIT 1"))
    last = list(store.rows("windows", "ORDER BY step DESC LIMIT 1"))
    parts = store.label_files()
    position = store.manifest("position")
    shown = clusters_shown(store)
    row = dict(last[0]) if last else {}
    return RunStatus(
        folder=str(store.folder),
        run_id=store.run_id,
        is_running=store.is_being_written,
        is_finished=bool((position or {}).get("is_finished")),
        n_windows=row.get("step", -1) + 1,
        clock=row.get("time", 0.0),
        n_active_clusters=shown.count(np.frombuffer(row.get("ids", b""), dtype=np.int64)),
        n_remembered_clusters=row.get("n_remembered", 0),
        n_clusters_total=shown.n_clusters,
        level=shown.level,
        n_subclusters=store.n_clusters_total,
        n_noise=shown.n_noise,
        n_unconfirmed=shown.n_unconfirmed,
        cost=row.get("cost"),
        first_window=first[0]["name"] if first else None,
        last_window=row.get("name"),
        n_label_files=len(parts),
        label_bytes=sum(part.n_bytes for part in parts),
        position=position,
        late_share=late_share(position),
        created_with=store.manifest("created_with"),
        last_written_with=store.manifest("last_written_with"),
        **store.counts(),
    )
