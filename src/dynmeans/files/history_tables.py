"""A History as Arrow tables, one view each; loaded only when frames are asked for."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

if TYPE_CHECKING:
    from dynmeans.records.history import History

EVENT = pa.struct(
    [
        ("kind", pa.string()),
        ("cluster_id", pa.int64()),
        ("other_id", pa.int64()),
        ("displacement", pa.float64()),
        ("gap", pa.float64()),
    ]
)
EVENT_WITH_SPEED = pa.struct([*EVENT, ("speed", pa.float64())])


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
    if any(sizes) and history.is_steady:
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
    schema = pa.schema([("step", pa.int64()), ("time", pa.float64()), *EVENT_WITH_SPEED])
    return pa.Table.from_pylist(rows, schema=schema)


TABLE_MAKERS: dict[str, Callable[["History"], pa.Table]] = {
    "labels": labels_table,
    "clusters": clusters_table,
    "events": events_table,
}


def _concatenate(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    # Labels that lie on a cluster are fetched here.
    return np.concatenate([np.empty(0, dtype=dtype), *map(np.asarray, arrays)]).astype(
        dtype, copy=False
    )
