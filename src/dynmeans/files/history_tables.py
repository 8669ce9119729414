"""A History as Arrow tables, one view each; loaded on first use."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dynmeans.files.integers_if_whole import integers_if_whole
from dynmeans.inputs.fields import one_of

if TYPE_CHECKING:
    from dynmeans.records.history import History

FRAMES = ("pandas", "polars", "arrow")
EVENT = pa.struct(
    [
        ("kind", pa.string()),
        ("cluster_id", pa.int64()),
        ("other_id", pa.int64()),
        ("displacement", pa.float64()),
        ("gap", pa.float64()),
        ("speed", pa.float64()),
    ]
)


def labels_table(history: "History") -> pa.Table:
    """One row for each point: step, time, row, cluster_id."""
    sizes = [len(record.labels) for record in history]
    return pa.table(
        {
            **_when_columns(history, sizes),
            "row": _concatenate([np.arange(n) for n in sizes], np.int64),
            "cluster_id": _concatenate(history.labels, np.int64),
        }
    )


def history_clusters(history: "History") -> pa.Table:
    """One row for each cluster seen in each batch: size, position, weight, age."""
    sizes = [len(record.ids) for record in history]
    columns = {
        **_when_columns(history, sizes),
        "cluster_id": _concatenate([record.ids for record in history], np.int64),
    }
    for name in ("counts", "weights", "ages"):
        column = [getattr(record, name) for record in history]
        columns[name.removesuffix("s")] = _concatenate(column, np.float64)
    columns["n_points"] = integers_if_whole(columns.pop("count"))
    if any(sizes):
        centers = np.vstack([record.centers for record in history if len(record.ids)])
        names = history.feature_names or range(centers.shape[1])
        columns |= {f"center_{name}": centers[:, j] for j, name in enumerate(names)}
    if any(sizes) and history.has_velocities:
        velocities = np.vstack([r.velocities for r in history if r.velocities is not None])
        columns |= {f"velocity_{name}": velocities[:, j] for j, name in enumerate(names)}
    return pa.table(columns)


def history_events(history: "History") -> pa.Table:
    """One row for each event: step, time, kind, cluster_id, other_id, displacement, gap, speed."""
    columns = _when_columns(history, [len(record.events) for record in history])
    rows = [asdict(event) for record in history for event in record.events]
    events = pa.Table.from_pylist(rows, schema=pa.schema([*EVENT]))
    return pa.table(columns | dict(zip(events.column_names, events.columns, strict=True)))


TABLE_MAKERS: dict[str, Callable[["History"], pa.Table]] = {
    "labels": labels_table,
    "clusters": history_clusters,
    "events": history_events,
}


def unconfirm(table: pa.Table, confirmed: npt.NDArray[np.int64], *, is_labels: bool) -> pa.Table:
    """Label unconfirmed identities -1, or leave out their rows."""
    ids = table["cluster_id"].to_numpy()
    is_confirmed = np.isin(ids, confirmed)
    if not is_labels:
        return table.filter(pa.array(is_confirmed))
    place = table.schema.get_field_index("cluster_id")
    return table.set_column(place, "cluster_id", pa.array(np.where(is_confirmed, ids, -1)))


def as_frame(table: pa.Table, kind: str, argument: str = "frame") -> Any:
    """Return a table as a frame of this kind."""
    one_of(argument, kind, FRAMES)
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table.to_pandas() if kind == "pandas" else table


def _when_columns(history: "History", sizes: list[int]) -> dict[str, Any]:
    """Step and time of every row; also `when`, if the batches have dates or names."""
    columns: dict[str, Any] = {
        "step": np.repeat([record.step for record in history], sizes).astype(np.int64),
        "time": np.repeat([record.time for record in history], sizes).astype(np.float64),
    }
    if times := history.times:
        rows = np.repeat(np.arange(len(times)), sizes)
        columns["when"] = pa.array(times).take(pa.array(rows))
    return columns


def _concatenate(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    # Labels that lie on a cluster are fetched here.
    return np.concatenate([np.empty(0, dtype=dtype), *map(np.asarray, arrays)]).astype(
        dtype, copy=False
    )
