"""The columns of a frame from outside, through Arrow: pandas, polars, Arrow or any other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dynmeans.engine.dask_input import is_on_dask
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.group_states import Key

_MAX_INTEGER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a frame play which part."""

    by: list[str]
    features: list[str]
    batch_column: str | None
    weight: str | None
    has_key_tuples: bool  # several columns make the key, or a list was given

    def column_names(self) -> list[str]:
        """All of them, each once."""
        extra = [name for name in (self.batch_column, self.weight) if name is not None]
        return list(dict.fromkeys([*self.by, *self.features, *extra]))


def choose_columns(
    frame: Any,
    by: str | Sequence[str],
    features: Sequence[str] | None,
    batch_column: str | None,
    weight: str | None,
) -> Columns:
    """Check that every named column is there; features are all other columns where not named."""
    present = [str(name) for name in column_names(frame)]
    keys = [by] if isinstance(by, str) else list(by)
    if not keys:
        raise ValueError("by must name at least one column, got none.")
    taken = {*keys, batch_column, weight}
    if features is None:
        features = [name for name in present if name not in taken]
    elif isinstance(features, str):
        features = [features]
    columns = Columns(keys, list(features), batch_column, weight, not isinstance(by, str))
    parts: dict[str, list[Any]] = {
        "by": keys,
        "features": columns.features,
        "batch_column": [batch_column],
        "weight": [weight],
    }
    for argument, names in parts.items():
        for name in names:
            if name is not None and name not in present:
                raise ValueError(
                    f"{argument} must name columns of the frame, got {name!r}; "
                    f"it has {', '.join(present)}."
                )
    if not columns.features:
        raise ValueError("features must name at least one column, got none.")
    if len(set(columns.features)) < len(columns.features) or taken & set(columns.features):
        raise ValueError(
            f"features must be different columns, none of them in by, batch_column or weight, "
            f"got {columns.features}."
        )
    return columns


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of any frame."""
    names = getattr(frame, "column_names", None)
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None or is_on_dask(frame):
        raise TypeError(
            "frame must be a pandas, polars or Arrow data frame in memory, got "
            f"{type(frame).__name__}. compute() brings one of Dask there."
        )
    return list(names)


def to_arrow(frame: Any, names: list[str]) -> pa.Table:
    """Return the named columns as an Arrow table; other columns are not looked at."""
    chosen = frame.select(names) if hasattr(frame, "select") else frame[names]
    if isinstance(chosen, pa.Table):
        return chosen
    if hasattr(chosen, "iloc"):
        return pa.Table.from_pandas(chosen, preserve_index=False)
    return chosen.to_arrow() if hasattr(chosen, "to_arrow") else pa.table(chosen)


def read_keys(table: pa.Table, columns: Columns) -> tuple[IntArray, list[Key]]:
    """Return the number of each row's key, and the keys in increasing order."""
    codes, values = _encode(table, columns.by[0])
    if not columns.has_key_tuples:
        return _renumber(codes, values)
    keys: list[Any] = [(value,) for value in values]
    for name in columns.by[1:]:
        more, values = _encode(table, name)
        # Both are numbered from 0 without gaps, so each is below the number of rows, and the
        # product of two of them fits 64 bits.
        pairs = pc.dictionary_encode(pa.array(codes * len(values) + more))
        codes = pairs.indices.to_numpy().astype(np.int64)
        firsts, lasts = np.divmod(pairs.dictionary.to_numpy(), max(len(values), 1))
        keys = [(*keys[i], values[j]) for i, j in zip(firsts.tolist(), lasts.tolist(), strict=True)]
    return _renumber(codes, keys)


def key_type(table: pa.Table, name: str) -> pa.DataType:
    """Return the type in which the keys of a column are given back."""
    kind = _value_type(table[name].type)
    if pa.types.is_uint64(kind):
        return pa.uint64()
    return pa.int64() if pa.types.is_integer(kind) else pa.string()


def _value_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _encode(table: pa.Table, name: str) -> tuple[IntArray, list[Any]]:
    """Return one key column as numbers into a list of its values, each once and each used."""
    if not table.num_rows:  # an empty column may have lost its type
        return np.empty(0, dtype=np.int64), []
    column = table[name]
    kind = _value_type(column.type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_view = str(kind) == "string_view"  # of pyarrow 16 and newer
    if not (pa.types.is_integer(kind) or is_text or is_view):
        raise TypeError(
            f"by must name columns of integers or text, got {name!r} of type {column.type}. "
            "Cast it to text first."
        )
    # A dictionary from outside may hold a value twice, or one that no row has, or none at all.
    if pa.types.is_dictionary(column.type):
        column = column.cast(kind)
    column = pc.dictionary_encode(_fill_missing(column, "by", name))
    return column.indices.to_numpy().astype(np.int64), column.dictionary.to_pylist()


def _renumber(codes: npt.NDArray[Any], values: list[Key]) -> tuple[IntArray, list[Key]]:
    """Number the keys in increasing order."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[codes], [values[i] for i in order]


def read_points(table: pa.Table, features: list[str], order: IntArray | None) -> BatchArray:
    """Return the features, row by row: float32 if all of them are, else float64."""
    is_single = all(pa.types.is_float32(table[name].type) for name in features)
    points = np.empty((table.num_rows, len(features)), np.float32 if is_single else np.float64)
    for j, name in enumerate(features):
        values = read_numbers(table, name, "features")
        points[:, j] = values if order is None else values[order]
    return points


def read_numbers(table: pa.Table, name: str, argument: str) -> npt.NDArray[Any]:
    """Return one numeric column; a missing value becomes NaN."""
    column = table[name]
    if not (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_boolean(column.type)
    ):
        raise TypeError(
            f"{argument} must name columns of numbers, got {name!r} of type {column.type}."
        )
    return np.asarray(column.to_numpy())


def read_batches(table: pa.Table, name: str) -> tuple[IntArray | FloatArray, str]:
    """Return the values of the batch column as numbers, and what they were."""
    column = _fill_missing(table[name], "batch_column", name)
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        try:
            column = column.cast(pa.timestamp("ns")).cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"batch_column must have times from 1678 to 2261, which fit nanoseconds, in column "
                f"{name!r}: {error}"
            ) from error
        return np.asarray(column.to_numpy()), "time"
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TypeError(
            f"batch_column must name a column of numbers or times, got {name!r} of type {kind}."
        )
    values = np.asarray(column.to_numpy())
    is_whole = bool(pa.types.is_integer(kind))
    is_bad = values > _MAX_INTEGER if is_whole else ~np.isfinite(values)
    if np.any(is_bad):
        row, rule = int(np.flatnonzero(is_bad)[0]), "at most 2**63 - 1" if is_whole else "finite"
        raise ValueError(f"batch_column must be {rule}, got {values[row]} in row {row}.")
    if is_whole:
        return values.astype(np.int64), "integer"
    return values.astype(np.float64), "number"


def _fill_missing(column: pa.ChunkedArray, argument: str, name: str) -> pa.Array:
    """Return a column in one piece, or refuse it where a row has no value."""
    joined = column.combine_chunks()
    if joined.null_count:
        row = int(np.flatnonzero(joined.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(
            f"{argument} must have a value in every row, got none in column {name!r} of row {row}."
        )
    return joined
