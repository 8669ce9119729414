"""What workers find out about one chunk of the batch; values are checked where they lie."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT, as_floats, as_rows
from dynmeans.engine.compiled import compiled
from dynmeans.records.arrays import BatchArray, FloatArray


class RowsChangedError(RuntimeError):
    """A chunk was computed again, and holds other rows than it did."""


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One chunk of points or weights: its shape, its content in short, and what is wrong with it.

    Attributes
    ----------
    n_rows, n_features : int
        Its shape.
    columns : tuple, optional
        Names of the columns of a data frame.
    checksum : int
        Of its values, as `checksum` makes it.
    has_weight : bool
        Whether any value is above 0; asked of weights.
    error : Exception, optional
        Why it cannot be taken at all.
    bad_row, bad_value : int, float, optional
        The first row with a value that is not allowed.
    """

    n_rows: int = 0
    n_features: int = 0
    columns: tuple[Any, ...] | None = None
    checksum: int = 0
    has_weight: bool = True
    error: Exception | None = None
    bad_row: int | None = None
    bad_value: float = 0.0


def describe_points(chunks: list[Any]) -> list[ChunkFacts]:
    """Look at some chunks of points."""
    return [_describe_points(chunk) for chunk in chunks]


def describe_weights(chunks: list[Any]) -> list[ChunkFacts]:
    """Look at the weights of some chunks."""
    return [_describe_weights(chunk) for chunk in chunks]


def columns_of(chunk: Any) -> tuple[Any, ...] | None:
    """Names of the columns of a data frame, None for an array."""
    return tuple(chunk.columns) if hasattr(chunk, "columns") else None


def to_rows(chunk: Any) -> BatchArray:
    """Return a chunk as rows of floats, without a copy where it is that already."""
    return as_rows(chunk.to_numpy() if hasattr(chunk, "to_numpy") else np.asarray(chunk))


def to_weights(chunk: Any) -> FloatArray:
    """Return the weights of a chunk as floats."""
    array = chunk.to_numpy() if hasattr(chunk, "to_numpy") else np.asarray(chunk)
    if array.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got shape {array.shape}.")
    return as_floats("sample_weight", array)


def checksum(array: BatchArray) -> int:
    """CRC-32 of the values and the shape."""
    return zlib.crc32(repr((array.shape, array.dtype.str)).encode(), zlib.crc32(array.data))


def _describe_points(chunk: Any) -> ChunkFacts:
    try:
        rows = to_rows(chunk)
    except (TypeError, ValueError) as error:
        return ChunkFacts(error=error)
    bad_row, bad_value = None, 0.0
    if not compiled.all_within(rows, MAX_COORDINATE):
        allowed = np.abs(rows) <= MAX_COORDINATE
        bad_row = int(np.argmin(allowed.all(axis=1)))
        bad_value = float(rows[bad_row][~allowed[bad_row]][0])
    n_rows, n_features = rows.shape
    return ChunkFacts(
        n_rows,
        n_features,
        columns_of(chunk),
        checksum(rows),
        bad_row=bad_row,
        bad_value=bad_value,
    )


def _describe_weights(chunk: Any) -> ChunkFacts:
    try:
        weights = to_weights(chunk)
    except (TypeError, ValueError) as error:
        return ChunkFacts(error=error)
    allowed = (weights >= 0) & (weights <= MAX_WEIGHT)
    bad_row = None if allowed.all() else int(np.argmin(allowed))
    bad_value = 0.0 if bad_row is None else float(weights[bad_row])
    has_weight = bool((weights > 0).any())
    return ChunkFacts(
        len(weights), 1, None, checksum(weights), has_weight, bad_row=bad_row, bad_value=bad_value
    )
