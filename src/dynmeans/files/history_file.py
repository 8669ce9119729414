"""A History as one archive: the columns of all batches, and how many rows each batch has."""

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dynmeans.files.archive import Arrays

if TYPE_CHECKING:
    from dynmeans.records.history import History

_OF_BATCH = {"step": np.int64, "time": np.float64, "n_remembered": np.int64}
_COLUMNS = {"labels": np.int64, "ids": np.int64} | dict.fromkeys(
    ("counts", "centers", "weights", "ages", "cost_trace", "velocities"), np.float64
)
_COUNTED = ("labels", "ids", "cost_trace")  # the others have a row for each of ids


def history_parts(history: "History") -> tuple[Arrays, dict[str, Any]]:
    """Return what a file holds: arrays, and names, dates and events as JSON values."""
    arrays: Arrays = {
        name: np.array([getattr(record, name) for record in history], dtype=dtype)
        for name, dtype in _OF_BATCH.items()
    }
    for name, dtype in _COLUMNS.items():
        if name != "velocities" or history.has_velocities:
            parts = [np.asarray(getattr(record, name), dtype=dtype) for record in history]
            arrays[name] = np.concatenate(parts) if parts else np.empty(0, dtype=dtype)
    for name in _COUNTED:
        sizes = [len(getattr(record, name)) for record in history]
        arrays[f"n_{name}"] = np.array(sizes, dtype=np.int64)
    times = history.times
    is_dated = bool(times) and all(isinstance(time, datetime) for time in times or ())
    return arrays, {
        "window": history.window,
        "features": history.feature_names,
        "events": [[asdict(event) for event in record.events] for record in history],
        "times": [str(time) for time in times or ()] if is_dated else times,
        "is_dated": is_dated,
    }


def history_records(arrays: Arrays, header: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the fields of each batch; parts that do not fit together raise `ValueError`."""
    columns: dict[str, list[Any]] = {name: arrays[name].tolist() for name in _OF_BATCH}
    columns["events"] = header["events"]
    if (times := header["times"]) is not None:
        columns["when"] = (
            [datetime.fromisoformat(t) for t in times] if header["is_dated"] else times
        )
    for name in arrays.keys() & _COLUMNS.keys():
        sizes = arrays[f"n_{name if name in _COUNTED else 'ids'}"]
        columns[name] = _split_records(name, arrays[name].astype(_COLUMNS[name]), sizes)
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _split_records(
    name: str, rows: npt.NDArray[Any], sizes: npt.NDArray[Any]
) -> list[npt.NDArray[Any]]:
    n_dimensions = 2 if name in ("centers", "velocities") and len(sizes) else 1
    if rows.ndim != n_dimensions or (sizes < 0).any() or sizes.sum() != len(rows):
        raise ValueError(f"{name} must have {sizes.sum()} rows, got the shape {rows.shape}.")
    return np.split(rows, np.cumsum(sizes))[:-1]
