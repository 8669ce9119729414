"""What a run's database holds, as records and Arrow tables."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.files.history_tables import EVENT
from dynmeans.files.integers_if_whole import integers_if_whole
from dynmeans.inputs.fields import one_of
from dynmeans.records.arrays import FloatArray
from dynmeans.records.events import Event
from dynmeans.records.state import ClusterState
from dynmeans.records.step_record import StepRecord
from dynmeans.runs.reading.columns import is_of_vector
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.store.digests import damage_error, rows_digest
from dynmeans.runs.store.label_tables import NO_LABELS, WindowLabels
from dynmeans.runs.store.store import Store

_WHEN = [("step", pa.int64()), ("time", pa.float64()), ("window", pa.string())]
STATUSES = ("active", "inactive", "forgotten")


def events_table(
    store: Store,
    kinds: Sequence[str] = (),
    cluster_id: int | None = None,
    first_step: int = 0,
    limit: int | None = None,
) -> pa.Table:
    """One row for each event: time, kind, cluster, displacement, gap and speed."""
    condition, values = _sql_of_kinds(kinds, cluster_id, first_step)
    most = -1 if limit is None else limit
    chosen = f"SELECT step FROM events WHERE {condition} ORDER BY step, number LIMIT {most}"
    where = f"WHERE step IN ({chosen})"
    windows = windows_with_events(store, where, values)
    return table_of_events(windows, kinds, cluster_id, first_step, limit)


def table_of_events(
    windows: Iterable[tuple[Any, list[Event]]],
    kinds: Sequence[str] = (),
    cluster_id: int | None = None,
    first_step: int = 0,
    limit: int | None = None,
) -> pa.Table:
    """Return the events of windows as a table, those that are requested."""
    rows = [
        {"step": window["step"], "time": window["time"], "window": window["name"], **asdict(event)}
        for window, events in windows
        if window["step"] >= first_step
        for event in events
        if (not kinds or event.kind in kinds)
        and (cluster_id is None or cluster_id in (event.cluster_id, event.other_id))
    ]
    return pa.Table.from_pylist(rows[:limit], schema=pa.schema([*_WHEN, *EVENT]))


def events_of_kind(store: Store, kind: str) -> list[Any]:
    """Return step, cluster, other cluster and gap of all events of a kind, the oldest first."""
    columns = "SELECT step, cluster_id, other_id, gap FROM events"
    return store.query(f"{columns} WHERE kind = ? ORDER BY step, number", [kind])


def window_names(store: Store) -> dict[int, str | None]:
    """Return the name of each window by its step."""
    return {row["step"]: row["name"] for row in store.query("SELECT step, name FROM windows")}


def topic_names(store: Store) -> dict[int, str]:
    """Return the names of topics of texts by identity; nothing in a run of numbers."""
    found = store.query("SELECT cluster_id, name FROM topics WHERE name <> ''")
    return {row["cluster_id"]: row["name"] for row in found}


def words_seen_in(store: Store) -> dict[str, int]:
    """Return in how many texts so far each remembered word was seen."""
    return {row["word"]: row["seen_in"] for row in store.query("SELECT word, seen_in FROM words")}


def n_per_window(store: Store) -> float:
    """Return how many clusters a window holds, on average over all of them."""
    return store.query("SELECT avg(length(ids)) / 8.0 FROM windows")[0][0] or 0.0


def count_windows(store: Store) -> int:
    """Return how many windows were committed."""
    return int(store.query("SELECT count(*) FROM windows")[0][0])


def cluster_sizes(store: Store) -> FloatArray:
    """Return id, points and windows of each subcluster: one row each, by ascending id."""
    query = "SELECT cluster_id, n_points, n_windows FROM clusters ORDER BY cluster_id"
    rows = [tuple(row) for row in store.query(query)]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def alert_counts(store: Store) -> tuple[int, int]:
    """Return how many alerts there are to deliver or were delivered, and how many of these were."""
    found = store.query("SELECT count(*), coalesce(sum(is_delivered), 0) FROM alerts")[0]
    return int(found[0]), int(found[1])


def count_events(
    store: Store, kinds: Sequence[str] = (), cluster_id: int | None = None, first_step: int = 0
) -> int:
    """Return how many rows `events_table` has."""
    condition, values = _sql_of_kinds(kinds, cluster_id, first_step)
    return int(store.query(f"SELECT count(*) FROM events WHERE {condition}", values)[0][0])


def _sql_of_kinds(
    kinds: Sequence[str], cluster_id: int | None, first_step: int
) -> tuple[str, list[Any]]:
    conditions, values = ["step >= ?"], list[Any]([first_step])
    if kinds:
        conditions.append(f"kind IN ({', '.join('?' * len(kinds))})")
        values += kinds
    if cluster_id is not None:
        conditions.append("(cluster_id = ? OR other_id = ?)")
        values += [cluster_id, cluster_id]
    return " AND ".join(conditions), values


def clusters_table(
    store: Store,
    features: Sequence[str],
    state: ClusterState,
    status: str | None = None,
    limit: int | None = None,
) -> pa.Table:
    """One row for each cluster, or the newest: life, size, and where it was last seen."""
    condition, values = _cluster_condition(state, status)
    newest = f"WHERE {condition} ORDER BY cluster_id DESC LIMIT ?"
    rows = list(store.rows("clusters", newest, [*values, -1 if limit is None else limit]))[::-1]
    steps = sorted({row[f"{name}_step"] for row in rows for name in ("first", "last")})
    found = store.rows("windows", "WHERE step IN (SELECT value FROM json_each(?))", [str(steps)])
    names = {row["step"]: row["name"] for row in found}
    ages = dict(zip(state.ids.tolist(), state.ages.tolist(), strict=True))
    centers = _floats(b"".join(row["center"] for row in rows)).reshape(len(rows), len(features))
    columns: dict[str, Any] = {
        name: pa.array([row[name] for row in rows], pa.int64())
        for name in ("cluster_id", "first_step", "last_step")
    }
    columns["n_points"] = integers_if_whole(np.array([row["n_points"] for row in rows], np.float64))
    columns["n_windows"] = pa.array([row["n_windows"] for row in rows], pa.int64())
    for name in ("first", "last"):
        windows = [names.get(row[f"{name}_step"]) for row in rows]
        columns[f"{name}_window"] = pa.array(windows, pa.string())
    statuses = [_status(ages.get(row["cluster_id"])) for row in rows]
    columns["status"] = pa.array(statuses, pa.string())
    vectors = dict.fromkeys(name.rpartition("[")[0] for name in features if is_of_vector(name))
    for j, name in enumerate(features):
        if not is_of_vector(name):
            columns[f"center_{name}"] = centers[:, j]
    for vector in vectors:
        of_it = [j for j, name in enumerate(features) if name.rpartition("[")[0] == vector]
        kind = pa.list_(pa.float64(), len(of_it))
        columns[f"center_{vector}"] = pa.array(centers[:, of_it].tolist(), kind)
    return pa.table(columns)


def newest_of_status(table: pa.Table, status: str | None, limit: int | None) -> pa.Table:
    """Return the rows of a status, the newest of them."""
    if status is not None:
        one_of("status", status, STATUSES)
        table = table.filter(pa.array([found == status for found in table["status"].to_pylist()]))
    return table if limit is None else table.slice(max(table.num_rows - limit, 0))


def ids_by_window(store: Store) -> Iterator[tuple[int, Any]]:
    """Yield the step of each window and the ids that it saw."""
    for row in store.query("SELECT step, ids FROM windows ORDER BY step"):
        yield row["step"], np.frombuffer(row["ids"], dtype=np.int64)


def count_clusters(store: Store, state: ClusterState, status: str | None = None) -> int:
    """Return how many rows `clusters_table` has."""
    condition, values = _cluster_condition(state, status)
    return int(store.query(f"SELECT count(*) FROM clusters WHERE {condition}", values)[0][0])


def _cluster_condition(state: ClusterState, status: str | None) -> tuple[str, list[str]]:
    if status is None:
        return "true", []
    one_of("status", status, STATUSES)
    is_meant = np.array([_status(age) == status for age in state.ages], dtype=bool)
    ids = state.ids if status == "forgotten" else state.ids[is_meant]
    not_in = "NOT IN" if status == "forgotten" else "IN"
    return f"cluster_id {not_in} (SELECT value FROM json_each(?))", [str(ids.tolist())]


def _status(age: float | None) -> str:
    if age is None:
        return "forgotten"
    return "active" if age == 1.0 else "inactive"


def step_records(
    store: Store, n_features: int, has_labels: bool, first_step: int, last_step: int | None
) -> Iterator[StepRecord]:
    """Yield the records of windows, oldest first; centers in the units of the source."""
    with store.snapshot():  # windows and labels of one commit, whatever is written meanwhile
        windows = list(windows_with_events(store, *_steps(first_step, last_step)))
        labels = WindowLabels(store, first_step, last_step) if has_labels else None
    for row, events in windows:
        yield StepRecord(
            step=row["step"],
            time=row["time"],
            labels=NO_LABELS if labels is None else labels.of(row["step"], row["n_rows"]),
            ids=np.frombuffer(row["ids"], dtype=np.int64),
            counts=_floats(row["counts"]),
            centers=_floats(row["centers"]).reshape(-1, n_features),
            weights=_floats(row["weights"]),
            ages=_floats(row["ages"]),
            cost_trace=_floats(row["cost_trace"]),
            n_remembered=row["n_remembered"],
            events=tuple(events),
            when=row["name"],
            velocities=None
            if row["velocities"] is None  # clusters keep no course
            else _floats(row["velocities"]).reshape(-1, n_features),
        )


def samples_of(
    store: Store, n_features: int, first_step: int = 0, last_step: int | None = None
) -> Iterator[Sample]:
    """Yield the kept rows of windows, oldest first."""
    where, values = _steps(first_step, last_step)
    found = store.rows("windows", where, values)
    names = {row["step"]: (row["name"], row["n_rows"]) for row in found}
    for row in store.rows("samples", f"{where} ORDER BY step", values):
        if row["step"] not in names:
            break  # committed between the two questions
        name, n_rows = names[row["step"]]
        truth = None if row["truth"] is None else np.array(json.loads(row["truth"]))
        yield Sample(
            step=row["step"],
            name=name,
            n_rows=n_rows,
            points=np.frombuffer(row["points"], dtype=np.float32).reshape(-1, n_features),
            cluster_ids=np.frombuffer(row["cluster_ids"], dtype=np.int64),
            truth=truth,
        )


def windows_with_events(
    store: Store, where: str = "", values: Sequence[Any] = ()
) -> Iterator[tuple[Any, list[Event]]]:
    """Yield each window's row with its events, both as they were written, oldest first."""
    found = store.query(f"SELECT * FROM events {where} ORDER BY step, number", values)
    by_step = {step: list(rows) for step, rows in groupby(found, key=lambda row: row["step"])}
    for n, window in enumerate(store.rows("windows", f"{where} ORDER BY step", values)):
        if not where and window["step"] != n:
            raise damage_error(store.folder, f"window {n} is missing")
        events = [tuple(row)[1:] for row in by_step.pop(window["step"], ())]
        if rows_digest(events) != window["events_digest"]:
            raise damage_error(store.folder, f"the events of window {window['step']} were changed")
        yield window, [Event(*row[1:]) for row in events]
    if by_step:
        raise damage_error(store.folder, f"there are events of a window {min(by_step)} that is not")


def _steps(first_step: int, last_step: int | None) -> tuple[str, tuple[int, ...]]:
    """Return the condition of some windows; none where all are requested."""
    if first_step <= 0 and last_step is None:
        return "", ()
    last = 1 << 62 if last_step is None else last_step
    return "WHERE step BETWEEN ? AND ?", (first_step, last)


def _floats(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.float64)
