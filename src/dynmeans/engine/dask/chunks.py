"""Chunks of the batch: their futures, and what workers find out about them where they lie."""

import zlib
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.core import flatten
from distributed import Client, Future, futures_of, get_client

from dynmeans.engine.checks import (
    MAX_COORDINATE,
    MAX_WEIGHT,
    as_floats,
    as_rows,
    check_weights,
)
from dynmeans.engine.compiled import compiled
from dynmeans.engine.device_input import to_numpy
from dynmeans.records.arrays import BatchArray, FloatArray

WAYS_OUT = (
    "Start one first: from dask.distributed import Client; client = Client() uses this machine, "
    'Client("tcp://host:8786") a cluster.'
)


class RowsChangedError(RuntimeError):
    """A chunk was computed again, and holds other rows than it did."""


@dataclass(frozen=True, slots=True)
class ChunkSummary:
    """One chunk of points or weights: its shape, its content in short, what is wrong with it."""

    # n_rows, n_features: its shape.
    n_rows: int = 0
    n_features: int = 0
    columns: tuple[Any, ...] | None = None  # Names of the columns of a data frame
    checksum: int = 0  # Of its values, as `checksum` makes it
    has_weight: bool = True  # Whether any value is above 0; asked of weights
    error: Exception | None = None  # Why it cannot be taken at all
    # bad_row, bad_value: the first row with a value that is not allowed.
    bad_row: int | None = None
    bad_value: float = 0.0


def find_client(points: Any) -> Client:
    """Return the client that futures in the batch came from, or the one that is running."""
    futures = points if isinstance(points, list | tuple) else futures_of(points)
    if futures:
        return futures[0].client
    try:
        return get_client(timeout=0)
    except ValueError as error:
        raise ValueError(f"a Dask batch needs a running Dask client. {WAYS_OUT}") from error


def point_chunks(client: Client, points: Any, name: str) -> list[Future]:
    """Futures of the chunks of a Dask array, a Dask data frame or a list of futures."""
    if isinstance(points, list | tuple):
        return list(points)
    if hasattr(points, "npartitions") and hasattr(points, "columns"):
        _check_dtypes(points, name)
        return _compute_all(client, points)
    if not isinstance(points, da.Array):
        raise TypeError(
            f"{name} must be a Dask array, a Dask data frame or a list of futures, "
            f"got {type(points).__name__}."
        )
    if points.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {points.shape}.")
    if points.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must be numeric, got dtype {points.dtype}.")
    return _compute_all(client, points if points.numblocks[1] == 1 else points.rechunk({1: -1}))


def _check_dtypes(frame: Any, name: str) -> None:
    bad = [
        str(column)
        for column, dtype in frame.dtypes.items()
        if getattr(dtype, "kind", "O") not in "fiub"
    ]
    if bad:
        raise TypeError(
            f"{name} must have numeric columns, got {', '.join(bad)}. "
            "Choose columns first: frame[['x', 'y']]."
        )


def _compute_all(client: Client, collection: Any) -> list[Future]:
    """Futures of the chunks: those of a persisted collection as they are."""
    known = {future.key: future for future in futures_of(collection)}
    keys = list(flatten(collection.__dask_keys__()))
    if all(key in known for key in keys):
        return [known[key] for key in keys]
    parts = np.ravel(collection.to_delayed(optimize_graph=False)).tolist()
    futures: list[Future] = client.compute(parts, optimize_graph=False)
    return futures


def weight_chunks(client: Client, weights: Any, sizes: list[int]) -> list[Future]:
    """Futures of weights, in the chunks of the points where that can be chosen."""
    if isinstance(weights, list | tuple) and weights and isinstance(weights[0], Future):
        return list(weights)
    if not hasattr(weights, "to_delayed"):
        weights = da.from_array(check_weights(weights, sum(sizes)), chunks=(tuple(sizes),))
    is_known = isinstance(weights, da.Array) and not np.isnan(weights.shape).any()
    if is_known and weights.ndim == 1 and weights.shape[0] == sum(sizes):
        weights = weights.rechunk((tuple(sizes),))
    return _compute_all(client, weights)


def describe_points(chunks: list[Any]) -> list[ChunkSummary]:
    """Look at some chunks of points."""
    return [_describe_points(chunk) for chunk in chunks]


def describe_weights(chunks: list[Any]) -> list[ChunkSummary]:
    """Look at the weights of some chunks."""
    return [_describe_weights(chunk) for chunk in chunks]


def columns_of(chunk: Any) -> tuple[Any, ...] | None:
    """Names of the columns of a data frame, None for an array."""
    return tuple(chunk.columns) if hasattr(chunk, "columns") else None


def to_rows(chunk: Any) -> BatchArray:
    """Return a chunk as rows of floats, without a copy where it is that already."""
    return as_rows(_values_of(chunk))


def _values_of(chunk: Any) -> Any:
    """Return the values of a frame or an array, from its GPU where it lies on one."""
    return chunk.to_numpy() if hasattr(chunk, "to_numpy") else to_numpy(chunk)


def to_weights(chunk: Any) -> FloatArray:
    """Return the weights of a chunk as floats."""
    array = _values_of(chunk)
    if array.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, got shape {array.shape}.")
    return as_floats("sample_weight", array)


def checksum(array: BatchArray) -> int:
    """CRC-32 of the values and the shape."""
    return zlib.crc32(repr((array.shape, array.dtype.str)).encode(), zlib.crc32(array.data))


def _describe_points(chunk: Any) -> ChunkSummary:
    try:
        rows = to_rows(chunk)
    except (TypeError, ValueError) as error:
        return ChunkSummary(error=error)
    bad_row, bad_value = None, 0.0
    if not compiled.all_within(rows, MAX_COORDINATE):
        allowed = np.abs(rows) <= np.float64(MAX_COORDINATE)
        bad_row = int(allowed.all(axis=1).argmin())
        bad_value = float(rows[bad_row][~allowed[bad_row]][0])
    n_rows, n_features = rows.shape
    return ChunkSummary(
        n_rows,
        n_features,
        columns_of(chunk),
        checksum(rows),
        bad_row=bad_row,
        bad_value=bad_value,
    )


def _describe_weights(chunk: Any) -> ChunkSummary:
    try:
        weights = to_weights(chunk)
    except (TypeError, ValueError) as error:
        return ChunkSummary(error=error)
    allowed = (weights >= 0) & (weights <= MAX_WEIGHT)
    bad_row = None if allowed.all() else int(allowed.argmin())
    bad_value = 0.0 if bad_row is None else float(weights[bad_row])
    has_weight = bool((weights > 0).any())
    return ChunkSummary(
        len(weights), 1, None, checksum(weights), has_weight, bad_row=bad_row, bad_value=bad_value
    )
