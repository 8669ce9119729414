"""What a run's database holds, as records and Arrow tables."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.records.events import Event
from dynmeans.records.history import StepRecord
from dynmeans.records.state import ClusterState
from dynmeans.runs.reading.sampling import Sample
from dynmeans.runs.reading.scaling import Scaling
from dynmeans.runs.store.label_parts import read_part
from dynmeans.runs.store.store import Store

_EVENTS = pa.schema(
    [
        ("step", pa.int64()),
        ("time", pa.float64()),
        ("label", pa.string()),
        ("kind", pa.string()),
        ("cluster_id", pa.int64()),
        ("other_id", pa.int64()),
        ("displacement", pa.float64()),
        ("gap", pa.float64()),
        ("speed", pa.float64()),
    ]
)
_NO_LABELS = np.empty(0, dtype=np.int64)


def events_table(
    store: Store, kinds: Sequence[str] = (), cluster_id: int | None = None
) -> pa.Table:
    """One row for each event: when, what, to whom, displacement, gap and speed.

    Lengths are in the units of the run, standardised where it is; speed is for each step of time.
    """
    conditions, values = ["1"], list[Any]()
    if kinds:
        conditions.append(f"kind IN ({', '.join('?' * len(kinds))})")
        values += kinds
    if cluster_id is not None:
        conditions.append("(cluster_id = ? OR other_id = ?)")
        values += [cluster_id, cluster_id]
    rows = store.query(
        "SELECT step, time, label, kind, cluster_id, other_id, displacement, gap "
        f"FROM events JOIN batches USING (step) WHERE {' AND '.join(conditions)} "
        "ORDER BY step, number",
        values,
    )
    speeds = _speeds(store)
    events = [{**row, "speed": _speed_at(row, speeds)} for row in rows]
    return pa.Table.from_pylist(events, schema=_EVENTS)


def clusters_table(
    store: Store, features: Sequence[str], state: ClusterState, scaling: Scaling | None
) -> pa.Table:
    """One row for each cluster: its life, its size, and where it was last seen."""
    rows = store.query(
        "SELECT cluster_id, first_step, last_step, first.label AS first_label, "
        "last.label AS last_label, n_batches, n_points, center FROM clusters "
        "JOIN batches AS first ON first.step = first_step "
        "JOIN batches AS last ON last.step = last_step ORDER BY cluster_id"
    )
    ages = dict(zip(state.ids.tolist(), state.ages.tolist(), strict=True))
    centers = _floats(b"".join(row["center"] for row in rows)).reshape(len(rows), len(features))
    if scaling is not None:
        centers = scaling.restore(centers)
    columns: dict[str, Any] = {
        name: pa.array([row[name] for row in rows], type=kind)
        for name, kind in (
            ("cluster_id", pa.int64()),
            ("first_step", pa.int64()),
            ("last_step", pa.int64()),
            ("first_label", pa.string()),
            ("last_label", pa.string()),
            ("n_batches", pa.int64()),
            ("n_points", pa.float64()),
        )
    }
    columns["status"] = pa.array(
        [_status(ages.get(row["cluster_id"])) for row in rows], type=pa.string()
    )
    columns |= {f"center.{name}": centers[:, j] for j, name in enumerate(features)}
    return pa.table(columns)


def _status(age: float | None) -> str:
    if age is None:
        return "forgotten"
    return "seen" if age == 1.0 else "unseen"


def step_records(
    store: Store, n_features: int, scaling: Scaling | None, *, has_labels: bool
) -> Iterator[StepRecord]:
    """Yield the record of every batch, oldest first; centers in the units of the source."""
    events, velocities = _events_by_step(store), _velocities_by_step(store)
    labels = _labels_by_step(store) if has_labels else None
    for row in store.query("SELECT * FROM batches ORDER BY step"):
        centers = _floats(row["centers"]).reshape(-1, n_features)
        yield StepRecord(
            step=row["step"],
            time=row["time"],
            labels=_NO_LABELS if labels is None else next(labels),
            ids=np.frombuffer(row["ids"], dtype=np.int64),
            counts=_floats(row["counts"]),
            centers=centers if scaling is None else scaling.restore(centers),
            weights=_floats(row["weights"]),
            ages=_floats(row["ages"]),
            cost_trace=_floats(row["cost_trace"]),
            n_remembered=row["n_remembered"],
            events=tuple(events.get(row["step"], ())),
            velocities=_in_source_units(velocities.get(row["step"]), n_features, scaling),
        )


def samples_of(store: Store, n_features: int) -> Iterator[Sample]:
    """Yield the kept rows of every batch, oldest first."""
    rows = store.query(
        "SELECT step, label, n_rows, points, cluster_ids, truth "
        "FROM samples JOIN batches USING (step) ORDER BY step"
    )
    for row in rows:
        truth = None if row["truth"] is None else np.array(json.loads(row["truth"]))
        yield Sample(
            step=row["step"],
            label=row["label"],
            n_rows=row["n_rows"],
            points=np.frombuffer(row["points"], dtype=np.float32).reshape(-1, n_features),
            cluster_ids=np.frombuffer(row["cluster_ids"], dtype=np.int64),
            truth=truth,
        )


def label_tables(
    store: Store, first_step: int = 0, last_step: int | None = None
) -> Iterator[pa.Table]:
    """Yield the labels part by part, cut to the steps asked for."""
    last = last_step if last_step is not None else 1 << 62
    for part in store.parts():
        if part.last_step < first_step or part.first_step > last:
            continue
        table = read_part(store.labels_folder, part)
        if part.first_step < first_step or part.last_step > last:
            steps = table["step"].to_numpy()
            begin, end = np.searchsorted(steps, [first_step, last + 1])
            table = table.slice(begin, end - begin)
        yield table


def _labels_by_step(store: Store) -> Iterator[Any]:
    """Yield the identities of each batch's rows; batches without rows give none."""
    sizes = iter(store.query("SELECT step, n_rows FROM batches ORDER BY step"))
    for table in label_tables(store):
        ids = table["cluster_id"].to_numpy()
        done = 0
        while done < len(ids):
            n = next(sizes)["n_rows"]
            yield ids[done : done + n]
            done += n
    for _ in sizes:
        yield _NO_LABELS


def _events_by_step(store: Store) -> dict[int, list[Event]]:
    events: dict[int, list[Event]] = {}
    speeds = _speeds(store)
    for row in store.query("SELECT * FROM events ORDER BY step, number"):
        event = Event(
            row["kind"],
            row["cluster_id"],
            row["other_id"],
            row["displacement"],
            row["gap"],
            _speed_at(row, speeds),
        )
        events.setdefault(row["step"], []).append(event)
    return events


def _velocities_by_step(store: Store) -> dict[int, bytes]:
    if not store.is_steady:
        return {}
    return {row["step"]: row["velocities"] for row in store.query("SELECT * FROM velocities")}


def _speeds(store: Store) -> dict[tuple[int, int], float]:
    """Speed of each cluster seen in each batch, where clusters keep a course."""
    if not store.is_steady:
        return {}
    speeds = {}
    for row in store.query(
        "SELECT step, ids, velocities FROM velocities JOIN batches USING (step)"
    ):
        ids = np.frombuffer(row["ids"], dtype=np.int64).tolist()
        velocities = _floats(row["velocities"]).reshape(len(ids), -1) if ids else ()
        speeds |= {
            (row["step"], k): float(np.linalg.norm(v)) for k, v in zip(ids, velocities, strict=True)
        }
    return speeds


def _speed_at(event: sqlite3.Row, speeds: dict[tuple[int, int], float]) -> float | None:
    if event["kind"] not in ("moved", "returned"):
        return None
    return speeds.get((event["step"], event["cluster_id"]))


def _in_source_units(data: bytes | None, n_features: int, scaling: Scaling | None) -> Any:
    if data is None:
        return None
    velocities = _floats(data).reshape(-1, n_features)
    if scaling is None:
        return velocities
    return velocities * scaling.spread


def _floats(data: bytes) -> Any:
    return np.frombuffer(data, dtype=np.float64)
