"""Parquet parts of a run's labels: each written whole under another name, then renamed."""

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.runs.reading.window import Window

FOLDER = "labels"
KEPT_SECONDS = 3600.0  # files stay so long after their rows were joined, for copies of the folder
_TEMPORARY = ".new"


@dataclass(frozen=True, slots=True)
class LabelFile:
    """One committed file of labels."""

    name: str
    first_step: int
    last_step: int
    n_rows: int
    n_bytes: int
    sha256: str


def make_label_table(
    window: Window, step: int, first_row: int, labels: IntArray, distances: FloatArray
) -> pa.Table:
    """Return the labels of one window: step, row_id, time, cluster_id, distance, and what else."""
    n = window.n_points
    row_ids = np.arange(first_row, first_row + n) if window.row_ids is None else window.row_ids
    columns = {
        "step": _numbers(np.full(n, step, dtype=np.int64)),
        "row_id": _column("row_ids", row_ids),
    }
    if window.times is not None and window.times.dtype.kind == "M":
        micros = window.times.astype("datetime64[us]").view(np.int64)
        columns["time"] = _numbers(micros, pa.timestamp("us", tz="UTC"))
    elif window.times is not None:
        columns["time"] = _numbers(window.times.astype(np.float64, copy=False))
    columns |= {"cluster_id": _numbers(labels), "distance": _numbers(distances)}
    if window.rows is not None:
        columns["row"] = _numbers(window.rows.astype(np.int64, copy=False))
    if window.truth is not None:
        columns["true_label"] = _column("truth", window.truth)
    return pa.table(columns)


def write_part(
    folder: Path,
    table: pa.Table,
    first_step: int,
    last_step: int,
    *,
    name: str | None = None,
    like: Path | None = None,
) -> LabelFile:
    """Write a part and see it on disk; it belongs to the run once the manifest names it.

    With `like`, it is as old as that file.
    """
    plain = [name for name in ("row_id", "time", "distance", "row") if name in table.column_names]
    encoded = [name for name in table.column_names if name not in plain]
    sink = pa.BufferOutputStream()
    pq.write_table(
        table, sink, compression="zstd", compression_level=1, use_dictionary=encoded,
        row_group_size=1 << 20, write_page_checksum=True,
        column_encoding=_encodings(table, plain),
    )  # fmt: skip
    data = memoryview(sink.getvalue())
    name = name or f"part-{first_step:012d}.parquet"
    temporary = folder / (name + _TEMPORARY)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if like is not None:
            os.utime(temporary, ns=(like.stat().st_atime_ns, like.stat().st_mtime_ns))
        os.replace(temporary, folder / name)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(folder)
    digest = hashlib.sha256(data).hexdigest()
    return LabelFile(name, first_step, last_step, table.num_rows, len(data), digest)


def read_part(folder: Path, part: LabelFile, columns: list[str] | None = None) -> pa.Table:
    """Read a part whose bytes are those that were written, or raise an error."""
    path = folder / part.name
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise ValueError(f"the run is damaged: {str(path)!r} is missing.") from error
    _check_bytes(path, data, part)
    try:
        # `read_table` would load pandas, 70 MB, into every process that joins parts.
        table = pq.ParquetFile(pa.BufferReader(data)).read(columns)
        return table if columns is None else table.select(columns)
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"the run is damaged: {str(path)!r} cannot be read: {error}") from error


def check_parts(folder: Path, parts: Iterable[LabelFile], *, contents: bool = False) -> None:
    """See that every part is there and has its size, or also its very bytes."""
    for part in parts:
        path = folder / part.name
        size = path.stat().st_size if path.exists() else None
        if size != part.n_bytes:
            found = "is missing" if size is None else f"has {size} bytes, not {part.n_bytes}"
            raise ValueError(f"the run is damaged: {str(path)!r} {found}.")
        if contents:
            _check_bytes(path, path.read_bytes(), part)


def _check_bytes(path: Path, data: bytes, part: LabelFile) -> None:
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise ValueError(f"the run is damaged: {str(path)!r} was changed after it was written.")


def remove_orphans(folder: Path, parts: Iterable[LabelFile]) -> None:
    """Delete files that no commit names: what a stopped process left behind.

    Files of steps that are in another part now were joined, and stay for an hour.
    """
    known = {part.name: part.last_step for part in parts}
    last, oldest = max(known.values(), default=-1), time.time() - KEPT_SECONDS
    for path in sorted(folder.glob("part-*.parquet*")):
        first = path.name[5:17]
        is_joined = path.suffix == ".parquet" and first.isdecimal() and int(first) <= last
        if path.name not in known and not (is_joined and path.stat().st_mtime > oldest):
            path.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder itself durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _encodings(table: pa.Table, plain: list[str]) -> dict[str, str]:
    """Numbers that grow pack well as differences; text is left to its default."""
    types = {name: table.schema.field(name).type for name in plain}
    return {
        name: "PLAIN" if pa.types.is_floating(dtype) else "DELTA_BINARY_PACKED"
        for name, dtype in types.items()
        if pa.types.is_integer(dtype) or pa.types.is_timestamp(dtype) or pa.types.is_floating(dtype)
    }


def _numbers(values: Any, dtype: Any = None) -> pa.Array:
    """Wrap numbers as they are; `pa.array` would load pandas to see whether they are a series."""
    values = np.ascontiguousarray(values)
    dtype = pa.from_numpy_dtype(values.dtype) if dtype is None else dtype
    return pa.Array.from_buffers(dtype, len(values), [None, pa.py_buffer(values)])


def _column(name: str, values: Any) -> pa.Array:
    """Integers as 64 bits, everything else as Arrow reads it; text may come as objects."""
    if values.dtype.kind == "u" and len(values) and values.max() >= 2**63:
        raise ValueError(f"{name} must be integers of at most 63 bits or text, got {values.max()}.")
    if values.dtype.kind in "iu":
        return _numbers(values.astype(np.int64, copy=False))
    try:
        column = pa.array(values)
    except pa.ArrowException as error:
        raise TypeError(f"{name} must hold integers or text: {error}.") from error
    # Of text that is missing in every row of this window.
    return column.cast(pa.string()) if pa.types.is_null(column.type) else column
