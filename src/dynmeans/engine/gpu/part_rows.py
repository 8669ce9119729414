"""Chunks of a batch on many machines that lie on a GPU: taken, checked and opened there."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.backend import predict_labels
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.device_orders import DeviceOrder
from dynmeans.engine.gpu.device_rows import DeviceRows
from dynmeans.engine.gpu.gpu_batch import GpuBatch, as_cupy, as_floats, first_bad, widen
from dynmeans.engine.gpu.host.bins import BatchBins
from dynmeans.engine.gpu.labeled_rows import find_magnitudes
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

__all__ = [
    "are_in_range",
    "arrays",
    "fingerprint",
    "in_memory",
    "magnitudes",
    "open_rows",
    "predict",
    "to_floats",
    "widen",
]

arrays = cp


def to_floats(chunk: Any, name: str, n_dimensions: int) -> Any:
    """Return a chunk as floats, on the device; float32 stays float32."""
    return as_floats(as_cupy(chunk), name, n_dimensions)


def are_in_range(rows: Any) -> bool:
    """Say whether every coordinate is finite and small enough to be squared."""
    return first_bad(rows) is None


def magnitudes(points: Any, weights: Any) -> tuple[FloatArray, float, float]:
    """Return the largest coordinate of each feature, the least and the largest weight."""
    found = find_magnitudes(Blocks(points), weights)
    return found.farthest, found.lightest, found.heaviest


def fingerprint(array: Any) -> bytes:
    """Return a few bytes that follow from all values and their places."""
    bits = array.reshape(-1).view(np.uint32 if array.itemsize == 4 else np.uint64)
    total, part = 0, 2**24
    for start in range(0, len(bits), part):
        some = bits[start : start + part].astype(np.uint64)
        places = 2 * cp.arange(start, start + len(some), dtype=np.uint64) + np.uint64(1)
        mixed = (some ^ (some >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15) + places
        total += int(((mixed ^ (mixed >> np.uint64(29))) * places).sum())
    return (total % 2**64).to_bytes(8, "little")


def open_rows(points: Any, weights: Any, keys: Any, n_keys: int, bins: BatchBins) -> DeviceRows:
    """Return rows that answer as those of a whole batch do."""
    rows = DeviceRows(Blocks(points), weights)
    rows.start(DeviceOrder(keys, 0, None, n_keys), bins)
    return rows


def predict(points: Any, state: ClusterState, penalties: Penalties) -> IntArray:
    """Return the label that each row would get, in memory."""
    labels: IntArray = predict_labels(GpuBatch(points, None, "cupy"), state, penalties)[0].get()
    return labels


def in_memory(array: Any) -> Any:
    """Return a copy in memory."""
    return cp.asnumpy(array)
