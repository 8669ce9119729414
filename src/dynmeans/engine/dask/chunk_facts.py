"""What workers find out about a chunk of the batch; values are checked where they lie."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT, as_floats, as_rows
from dynmeans.engine.compiled import compiled
from dynmeans.records.arrays import BatchArray, FloatArray


@dataclass(frozen=True, slots=True)
class ChunkFacts:
    """One chunk: its shape, whether it can be used as it is, and what is wrong with it.

    Attributes
    ----------
    n_rows, n_features : int
        Its shape.
    dtype : str
        "float64" or "float32", as the workers will compare it.
    is_ready : bool
        Whether it needs no conversion.
    error : Exception, optional
        Why it cannot be taken at all.
    bad_row, bad_value : int, float, optional
        The first row with a value that is not allowed.
    has_weight : bool
        For weights, whether any is above 0.
    """

    n_rows: int = 0
    n_features: int = 0
    dtype: str = "float64"
    is_ready: bool = False
    error: Exception | None = None
    bad_row: int | None = None
    bad_value: float = 0.0
    has_weight: bool = True


def describe_points(chunk: Any) -> ChunkFacts:
    """Look at one chunk of points."""
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
    is_ready = rows is chunk
    return ChunkFacts(n_rows, n_features, str(rows.dtype), is_ready, None, bad_row, bad_value)


def describe_weights(chunk: Any) -> ChunkFacts:
    """Look at the weights of one chunk."""
    try:
        weights = to_weights(chunk)
    except (TypeError, ValueError) as error:
        return ChunkFacts(error=error)
    allowed = (weights >= 0) & (weights <= MAX_WEIGHT)
    bad_row = None if allowed.all() else int(np.argmin(allowed))
    bad_value = 0.0 if bad_row is None else float(weights[bad_row])
    return ChunkFacts(
        len(weights),
        1,
        is_ready=weights is chunk,
        bad_row=bad_row,
        bad_value=bad_value,
        has_weight=bool((weights > 0).any()),
    )


def to_rows(chunk: Any) -> BatchArray:
    """Return a chunk as rows of floats: the very same object where it is that already."""
    array = chunk.to_numpy() if hasattr(chunk, "to_numpy") else np.asarray(chunk)
    rows = as_rows(array)
    return chunk if rows is array and array is chunk else rows


def to_wide_rows(chunk: Any) -> FloatArray:
    """Return a chunk as rows of float64."""
    return to_rows(chunk).astype(np.float64, copy=False)


def to_weights(chunk: Any) -> FloatArray:
    """Return the weights of a chunk as floats."""
    array = chunk.to_numpy() if hasattr(chunk, "to_numpy") else np.asarray(chunk)
    if array.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got shape {array.shape}.")
    return as_floats("sample_weight", array)


def hold(value: Any) -> Any:
    """Keep a value on the cluster in a form that it can make again."""
    return value
