"""A History as one Parquet file, a row for each batch; a checksum in it covers every byte."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.files.damage import read_regular_file, refusing_damage
from dynmeans.files.history_tables import EVENT
from dynmeans.files.whole_file import whole_file

if TYPE_CHECKING:
    from dynmeans.records.history import History

Made = TypeVar("Made")

_MAGIC = b"PAR1"
_WANTED = "a dynmeans history"
_VERSION = b"1"
# The checksum is that of the file with zeros in its own place, which this name marks.
_MARK, _N_HEX = b"dynmeans-sha256=", 64
# Run-length encoding makes long equal columns almost free on disk, and they are not in memory.
_MAX_BYTES, _MAX_RATIO = 1 << 30, 20

_INTEGERS = ("labels", "ids")
_FLOATS = ("counts", "centers", "weights", "ages", "cost_trace")
_SCHEMA = pa.schema(
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
        ("events", pa.list_(EVENT)),
    ]
)
# Of histories whose clusters keep a course.
_STEADY_SCHEMA = _SCHEMA.append(pa.field("velocities", pa.list_(pa.float64())))


def write_history(history: "History", path: str | os.PathLike[str]) -> None:
    """Write one Parquet file, replacing an old one only once all is on disk."""
    rows = [
        {
            **{name: getattr(record, name) for name in ("step", "time", "n_remembered")},
            **{name: getattr(record, name).ravel() for name in (*_INTEGERS, *_FLOATS)},
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
        b"names": json.dumps(_names(history)).encode(),
        b"checksum": _MARK + b"0" * _N_HEX,
    }
    sink = pa.BufferOutputStream()
    schema = _STEADY_SCHEMA if history.is_steady else _SCHEMA
    pq.write_table(pa.Table.from_pylist(rows, schema=schema.with_metadata(metadata)), sink)
    with whole_file(path) as temporary, open(temporary, "wb") as file:
        file.write(_signed(sink.getvalue().to_pybytes()))


def _signed(data: bytes) -> bytes:
    digest, place = hashlib.sha256(data).hexdigest().encode(), data.rindex(_MARK) + len(_MARK)
    return data[:place] + digest + data[place + _N_HEX :]


def read_history(
    path: str | os.PathLike[str], make: Callable[[int | None, list[dict[str, Any]], Any], Made]
) -> Made:
    """Return `make(window, records, feature_names)` of what `write_history` wrote.

    Anything else raises `ValueError` with the reason.
    """
    data = read_regular_file(path, _MAGIC, _WANTED)
    with refusing_damage(path, _WANTED):
        _check_checksum(data)
        file = pq.ParquetFile(pa.BufferReader(data))
        metadata = file.schema_arrow.metadata or {}
        version = metadata.get(b"dynmeans.history")
        is_known = any(map(file.schema_arrow.equals, (_SCHEMA, _STEADY_SCHEMA)))
        if version != _VERSION or not is_known:
            raise ValueError(f"this dynmeans reads version {_VERSION!r}, got {version!r}.")
        _check_size(file.metadata, len(data))
        records = _records(file.read(), int(metadata[b"n_features"]))
        names = json.loads(metadata.get(b"names", b"{}"))
        _give_dates(records, names)
        return make(int(metadata[b"window"]) or None, records, names.get("features"))


def _names(history: "History") -> dict[str, Any]:
    """Names of features and dates of batches, as JSON values."""
    times = history.times
    is_dated = times is not None and len(times) > 0 and isinstance(times[0], datetime)
    dates = [time.isoformat() for time in times or () if isinstance(time, datetime)]
    return {
        "features": history.feature_names,
        "times": dates if is_dated else times,
        "is_dated": is_dated,
    }


def _give_dates(records: list[dict[str, Any]], names: dict[str, Any]) -> None:
    times = names.get("times")
    if times is None:
        return
    for record, time in zip(records, times, strict=True):
        record["when"] = datetime.fromisoformat(time) if names["is_dated"] else time


def _check_checksum(data: bytes) -> None:
    place = data.rfind(_MARK) + len(_MARK)
    if place < len(_MARK):
        raise ValueError("it has no checksum.")
    digest = hashlib.sha256(data[:place])
    digest.update(b"0" * _N_HEX)
    digest.update(data[place + _N_HEX :])
    if digest.hexdigest().encode() != data[place : place + _N_HEX]:
        raise ValueError("it was changed after it was written: checksum differs.")


def _check_size(metadata: Any, n_bytes: int) -> None:
    """Refuse what would take far more memory than the file, before anything is read."""
    n_values = sum(
        metadata.row_group(group).column(column).num_values
        for group in range(metadata.num_row_groups)
        for column in range(metadata.num_columns)
    )
    limit = max(_MAX_BYTES, _MAX_RATIO * n_bytes)
    if not 0 <= 8 * n_values <= limit:
        raise ValueError(f"it claims {n_values} numbers, more than {limit} bytes can hold.")


def _records(table: pa.Table, n_features: int) -> list[dict[str, Any]]:
    """Return the fields of each batch."""
    for name in table.column_names:
        if table[name].null_count:
            raise ValueError(f"{name} is missing in one of its rows.")
    columns: dict[str, list[Any]] = {
        name: table[name].to_pylist() for name in ("step", "time", "n_remembered", "events")
    }
    tables = [name for name in ("centers", "velocities") if name in table.column_names]
    for name in {*_INTEGERS, *_FLOATS, *tables}:
        columns[name] = _arrays(table[name], np.int64 if name in _INTEGERS else np.float64)
    for name in tables:
        columns[name] = [
            rows.reshape(len(ids), n_features)
            for ids, rows in zip(columns["ids"], columns[name], strict=True)
        ]
    for name in ("counts", "weights", "ages"):
        if any(len(a) != len(b) for a, b in zip(columns[name], columns["ids"], strict=True)):
            raise ValueError(f"{name} must have one value for each of ids.")
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _arrays(column: pa.ChunkedArray, dtype: type) -> list[npt.NDArray[Any]]:
    """Return the lists of a column of lists."""
    arrays: list[npt.NDArray[Any]] = []
    for chunk in column.chunks:
        if chunk.values.null_count:
            raise ValueError("a number is missing in one of its lists.")
        offsets = chunk.offsets.to_numpy()
        values = chunk.values.to_numpy().astype(dtype)
        arrays += [values[start:end] for start, end in pairwise(offsets.tolist())]
    return arrays
