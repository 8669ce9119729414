"""Frames of other libraries as tables that DuckDB reads, and columns given back as they came."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.spaces.sparse_rows import check_space_of_sparse, is_sparse, project_rows

LABEL, VECTOR = "cluster_id", "vector"
_WRITTEN = (str, int, float, np.number, Decimal, date, type(None))


@dataclass(frozen=True, slots=True, eq=False)
class InputTable:
    """Where rows came from, and so in which form results go back."""

    table: Any  # The rows as `runs.Source` reads them
    library: str = "pandas"  # {"pandas", "polars", "arrow"}; what frames are made with
    index: Any = None  # Index of a pandas frame

    def frame(self, table: pa.Table) -> Any:
        """Return a table in the library of the rows."""
        if self.library == "arrow":
            return table
        if self.library == "polars":
            return _polars().from_arrow(table)
        return table.to_pandas()

    def column(self, name: str, values: Any, is_known: Any, keys: Any = None) -> Any:
        """Return one value for each row, null where it was left out, on the frame's own index."""
        if self.library == "pandas":
            import pandas as pd

            if not is_known.all():
                is_float = values.dtype.kind == "f"
                values = (
                    np.where(is_known, values, np.nan)
                    if is_float
                    else pd.arrays.IntegerArray(values, ~is_known)
                )
            return pd.Series(values, index=keys if self.index is None else self.index, name=name)
        column = pa.array(values, mask=~is_known)
        return _polars().Series(name, column) if self.library == "polars" else column


def with_dates(table: pa.Table, zone: str | None) -> pa.Table:
    """Return a table whose windows are dates, where their names are; with a zone if there is one.

    >>> table = with_dates(pa.table({"window": ["2026-03-01T06:00:00+00:00", None]}), None)
    >>> table["window"].to_pylist()
    [datetime.datetime(2026, 3, 1, 6, 0), None]
    """
    for name in ("window", "first_window", "last_window"):
        if name not in table.column_names:
            continue
        try:
            when = [
                None if t is None else datetime.fromisoformat(t) for t in table[name].to_pylist()
            ]
        except ValueError:
            return table
        home = ZoneInfo(zone or "UTC")
        aware = [t if t is None or t.tzinfo else t.replace(tzinfo=home) for t in when]
        kept = aware if zone else [t and t.astimezone(home).replace(tzinfo=None) for t in aware]
        column = pa.array(kept, pa.timestamp("us", zone))
        table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def read_input_table(frame: Any, named: Iterable[str], folder: Path) -> InputTable:
    """Return the rows of a frame as a table; what streams is put into a file in `folder`."""
    if isinstance(frame, str | os.PathLike):
        return InputTable(os.fspath(frame))
    library, kind = type(frame).__module__.partition(".")[0], type(frame).__name__
    rows = folder / "rows.parquet"
    if library == "pandas" and kind == "DataFrame":
        return InputTable(_from_pandas(frame, list(named)), "pandas", frame.index)
    if library in ("duckdb", "_duckdb") and hasattr(frame, "write_parquet"):
        frame.write_parquet(str(rows))
        return InputTable(_on_disk(rows))
    if library == "polars" and kind in ("LazyFrame", "DataFrame"):
        return InputTable(_from_polars(frame, rows), "polars")
    if library == "pyarrow" and hasattr(frame, "scanner"):  # a dataset, read part by part
        return InputTable(frame, "arrow")
    if hasattr(frame, "__arrow_c_stream__") and kind != "Series":
        return InputTable(_without_short_floats(pa.table(frame)), "arrow")
    hint = "An array becomes a frame with pandas.DataFrame(array, columns=[...])."
    if is_sparse(frame):
        hint = (
            "Pass a frame of times, and the matrix as features: cluster(frame, features=matrix, "
            "space='cosine')."
        )
    raise InputError(
        "frame",
        "must be a frame of pandas or polars, an Arrow table, a DuckDB relation or a path, got {}",
        f"{type(frame).__module__}.{kind}",
        hint=hint,
    )


def sparse_vectors(matrix: Any, space: Any) -> Any:
    """Return the rows of a sparse matrix in few coordinates; rows of zeros are left out."""
    check_space_of_sparse("features", space)
    rows = project_rows("features", matrix)
    rows[~rows.any(axis=1)] = np.nan
    return rows


def with_vector_column(origin: InputTable, array: Any) -> InputTable:
    """Return the rows with one more column, which holds a row of the array for each."""
    rows = np.asarray(array)
    n_rows = None if isinstance(origin.table, str) else _n_rows(origin.table)
    if n_rows is None:
        hint = "Read the rows into a frame first, or name a column of vectors."
        raise InputError("features", "as an array needs a frame, not a path", hint=hint)
    if rows.ndim != 2 or len(rows) != n_rows or rows.dtype.kind not in "fiu":
        raise InputError(
            "features",
            "must be names of columns, or an array of numbers with one row for each of {:,} rows",
            n_rows,
            got=f"an array of shape {rows.shape} and type {rows.dtype}",
        )
    kept = rows.astype(np.float32 if rows.dtype.itemsize <= 4 else np.float64)
    table = origin.table if isinstance(origin.table, pa.Table) else origin.table.to_table()
    if VECTOR in table.column_names:
        raise InputError(
            "frame", "has a column {!r}, the name used for the array; rename it", VECTOR
        )
    return replace(origin, table=table.append_column(VECTOR, _as_vectors(kept)))


def _as_vectors(rows: Any) -> pa.Array:
    """Return an array as a column of vectors, null where a number is missing."""
    mask = ~np.isfinite(rows).all(axis=1)
    values = pa.array(np.ascontiguousarray(rows).ravel())
    return pa.FixedSizeListArray.from_arrays(
        values, rows.shape[1], mask=pa.array(mask) if mask.any() else None
    )


def _n_rows(table: Any) -> int:
    return int(table.num_rows if hasattr(table, "num_rows") else table.count_rows())


def _on_disk(rows: Path) -> Any:
    """Return a file as a table without a name: a run must not remember one that is temporary."""
    from pyarrow.dataset import dataset

    return dataset(rows)


def _from_polars(frame: Any, rows: Path) -> Any:
    """Convert a frame, or write a lazy one; Arrow has no integers of more than 64 bits."""
    pl = _polars()
    kinds = frame.collect_schema().items()
    wide = [name for name, dtype in kinds if str(dtype) in ("Int128", "UInt128")]
    try:
        frame = frame.with_columns(pl.col(wide).cast(pl.Int64)) if wide else frame
        if not hasattr(frame, "sink_parquet"):
            return frame.to_arrow()
        frame.sink_parquet(rows)
    except pl.exceptions.InvalidOperationError as error:
        rule = ": column {!r} holds an integer of more than 64 bits"
        raise InputError("frame", rule, wide[0] if wide else "", hint="Cast it.") from error
    return _on_disk(rows)


def _from_pandas(frame: Any, named: list[str]) -> pa.Table:
    """Convert column by column; one that no table can hold is left out unless it was requested."""
    levels = [n for n in frame.index.names if n is not None and n not in frame.columns]
    parts = {str(level): frame.index.get_level_values(level) for level in levels}
    for j, name in enumerate(frame.columns):
        if str(name) in parts:
            raise InputError("frame", "must have one column of each name, got {!r} twice", name)
        parts[str(name)] = frame.iloc[:, j]
    columns = {}
    for name, values in parts.items():
        try:
            columns[name] = _as_arrow(values)
        except (pa.ArrowException, OverflowError) as error:
            if name in named:
                text = str(error).partition("\n")[0].rstrip(".")
                rule = ": column {!r} cannot be read: {}"
                raise InputError("frame", rule, name, text) from error
    return pa.table(columns)


def _as_arrow(values: Any) -> pa.Array:
    """Convert one column; a word among numbers, as spreadsheets have it, makes all of them text."""
    dtype = str(values.dtype)
    if dtype.startswith("period"):
        # The dates they begin with: a table would hold bare numbers.
        values = (values.dt if hasattr(values, "dt") else values).to_timestamp()
    elif dtype == "float16":
        values = values.astype("float32")  # DuckDB knows no shorter one
    try:
        found = pa.array(values, from_pandas=True)
    except UnicodeEncodeError:  # half a surrogate pair, which is no text in any file
        return _as_texts(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        if not all(isinstance(value, _WRITTEN) for value in values):
            raise
        return _as_texts(values)
    # Moments with an offset, others, dates and numbers: Arrow would take all for one kind.
    is_doubtful = dtype == "object" and pa.types.is_temporal(found.type)
    kinds = {_moment_kind(v) for v in values if not _is_missing(v)} if is_doubtful else set()
    return _as_texts(values) if len(kinds) > 1 else found


def _moment_kind(value: Any) -> str:
    if isinstance(value, int | float | np.number):
        return "number"
    if not isinstance(value, datetime):
        return "date"
    return "local" if getattr(value, "tzinfo", None) is None else "with an offset"


def _as_texts(values: Any) -> pa.Array:
    texts = [None if _is_missing(value) else str(value) for value in values]
    plain = [text and text.encode("utf-8", "replace").decode() for text in texts]
    return pa.array(plain, from_pandas=True)


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _without_short_floats(table: pa.Table) -> pa.Table:
    """Return 16-bit floats as 32-bit ones: DuckDB knows no shorter ones."""
    fields = [
        field.with_type(pa.float32()) if pa.types.is_float16(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, metadata=table.schema.metadata))


def _polars() -> Any:
    import polars

    return polars
