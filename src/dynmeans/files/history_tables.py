"""A History as Arrow tables and as a Parquet file; loaded only when one is asked for."""

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.files.whole_file import whole_file

if TYPE_CHECKING:
    from dynmeans.records.history import History

_VERSION = b"1"
_EVENT = pa.struct(
    [
        ("kind", pa.string()),
        ("cluster_id", pa.int64()),
        ("other_id", pa.int64()),
        ("displacement", pa.float64()),
        ("gap", pa.float64()),
    ]
)
_EVENT_WITH_SPEED = pa.struct([*_EVENT, ("speed", pa.float64())])
_PER_STEP = pa.schema(
    [
        ("step", pa.int64()),
        ("time", pa.float64()),
        ("labels", pa.list_(pa.int64())),
        ("ids", pa.list_(pa.int64())),
        ("counts", pa.list_(pa.float64())),
        ("centers", pa.list_(pa.float64())),
        ("weights", pa.list_(pa.float64())),
        ("ages", pa.list_(pa.float64())),
        ("cost_trace", pa.list_(pa.float64())),
        ("n_remembered", pa.int64()),
        ("events", pa.list_(_EVENT)),
    ]
)
# Of histories whose clusters keep a course.
_PER_STEP_STEADY = pa.schema(
    [
        *list(_PER_STEP)[:-1],
        ("events", pa.list_(_EVENT_WITH_SPEED)),
        ("velocities", pa.list_(pa.float64())),
    ]
)


def labels_table(history: "History") -> pa.Table:
    """One row for each point: step, time, row, cluster_id."""
    sizes = [len(record.labels) for record in history]
    return pa.table(
        {
            "step": np.repeat([record.step for record in history], sizes).astype(np.int64),
            "time": np.repeat([record.time for record in history], sizes).astype(np.float64),
            "row": _concatenate([np.arange(n) for n in sizes], np.int64),
            "cluster_id": _concatenate(history.labels, np.int64),
        }
    )


def clusters_table(history: "History") -> pa.Table:
    """One row for each cluster seen in each batch: size, position, weight, age."""
    sizes = [len(record.ids) for record in history]
    columns = {
        "step": np.repeat([record.step for record in history], sizes).astype(np.int64),
        "time": np.repeat([record.time for record in history], sizes).astype(np.float64),
        "cluster_id": _concatenate([record.ids for record in history], np.int64),
    }
    for name in ("counts", "weights", "ages"):
        column = [getattr(record, name) for record in history]
        columns[name.removesuffix("s")] = _concatenate(column, np.float64)
    if any(sizes):
        centers = np.vstack([record.centers for record in history if len(record.ids)])
        columns |= {f"center_{j}": centers[:, j] for j in range(centers.shape[1])}
    if any(sizes) and _is_steady(history):
        velocities = np.vstack([r.velocities for r in history if r.velocities is not None])
        columns |= {f"velocity_{j}": velocities[:, j] for j in range(velocities.shape[1])}
    return pa.table(columns)


def events_table(history: "History") -> pa.Table:
    """One row for each event: step, time, kind, cluster_id, other_id, displacement, gap, speed."""
    rows = [
        {"step": record.step, "time": record.time, **asdict(event)}
        for record in history
        for event in record.events
    ]
    schema = pa.schema([("step", pa.int64()), ("time", pa.float64()), *_EVENT_WITH_SPEED])
    return pa.Table.from_pylist(rows, schema=schema)


TABLE_MAKERS: dict[str, Callable[["History"], pa.Table]] = {
    "labels": labels_table,
    "clusters": clusters_table,
    "events": events_table,
}


def write_history(history: "History", path: str | os.PathLike[str]) -> None:
    """Write one Parquet file, replacing an old one only once all is on disk."""
    rows = [
        {
            **{name: getattr(record, name) for name in ("step", "time", "n_remembered")},
            **{
                name: getattr(record, name).ravel()
                for name in ("labels", "ids", "counts", "centers", "weights", "ages", "cost_trace")
            },
            "events": [asdict(event) for event in record.events],
            "velocities": None if record.velocities is None else record.velocities.ravel(),
        }
        for record in history
    ]
    n_features = history[0].centers.shape[1] if len(history) else 0
    metadata = {
        b"dynmeans.history": _VERSION,
        b"window": str(history.window or 0).encode(),
        b"n_features": str(n_features).encode(),
    }
    schema = _PER_STEP_STEADY if _is_steady(history) else _PER_STEP
    table = pa.Table.from_pylist(rows, schema=schema.with_metadata(metadata))
    with whole_file(path) as temporary:
        pq.write_table(table, temporary)


def read_history(path: str | os.PathLike[str]) -> tuple[int | None, list[dict[str, Any]]]:
    """Read what `write_history` wrote: its window, and the fields of each batch's record.

    Anything else is refused with the reason.
    """
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"{os.fspath(path)!r} is not a Parquet file: {error}") from error
    metadata = table.schema.metadata or {}
    version = metadata.get(b"dynmeans.history")
    schemas = (_PER_STEP, _PER_STEP_STEADY)
    if version != _VERSION or not any(map(table.schema.equals, schemas)):
        raise ValueError(
            f"{os.fspath(path)!r} is not a dynmeans history that this version reads "
            f"(its version is {version!r}, this one reads {_VERSION!r})."
        )
    n_features = int(metadata[b"n_features"])
    fields = [_record_fields(row, n_features) for row in table.to_pylist()]
    return int(metadata[b"window"]) or None, fields


def _record_fields(row: dict[str, Any], n_features: int) -> dict[str, Any]:
    integers = {name: np.array(row[name], dtype=np.int64) for name in ("labels", "ids")}
    floats = ("counts", "weights", "ages", "cost_trace")
    shape = len(integers["ids"]), n_features
    rows = {
        name: np.array(row[name], dtype=np.float64).reshape(shape)
        for name in ("centers", "velocities")
        if row.get(name) is not None
    }
    return {
        **row,
        **integers,
        **{name: np.array(row[name], dtype=np.float64) for name in floats},
        **rows,
    }


def _is_steady(history: "History") -> bool:
    return len(history) > 0 and all(record.velocities is not None for record in history)


def _concatenate(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    # Labels that lie on a cluster are fetched here.
    return np.concatenate([np.empty(0, dtype=dtype), *map(np.asarray, arrays)]).astype(
        dtype, copy=False
    )
