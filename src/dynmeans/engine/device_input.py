"""Recognize batches on a GPU without loading a library for it."""

from typing import Any

import numpy as np

from dynmeans.engine.execution import DEFAULT, Execution

_GPU = Execution("gpu")
_LARGE = 2**25  # bytes from which a check in memory takes longer than one on a card
_CUDA = (2, 13)  # kinds of device in DLPack: CUDA, and CUDA's managed memory


def is_on_device(points: object) -> bool:
    """Return whether this is an array on a GPU: of CuPy, torch, JAX or any with DLPack."""
    if isinstance(points, np.ndarray | list | tuple):
        return False
    where = getattr(points, "__dlpack_device__", None)
    if where is None:
        return hasattr(points, "__cuda_array_interface__")
    return int(where()[0]) in _CUDA


def maybe_copy_to_device(points: Any, execution: Execution) -> Any:
    """Copy large rows of NumPy to the GPU they are meant for; None if a value is not allowed."""
    if execution.backend not in ("auto", "gpu") or type(points) is not np.ndarray:
        return None
    is_plain = points.dtype in (np.float64, np.float32) and points.flags.c_contiguous
    if points.ndim != 2 or points.nbytes < _LARGE or not (is_plain and points.flags.aligned):
        return None
    copy = getattr(execution.load(points.size), "maybe_copy_to_device", None)
    return None if copy is None else copy(points)


def to_numpy(array: Any) -> Any:
    """Return an array as NumPy's, wherever it lies."""
    return _GPU.load().to_numpy(array) if is_on_device(array) else np.asarray(array)


def device_engine(execution: Execution = DEFAULT) -> Any:
    """Load what runs a step on a GPU."""
    if execution.backend == "reference":
        raise ValueError(
            "backend must be native or gpu for a batch on a GPU, got 'reference'. "
            "Copy the batch to memory for the reference."
        )
    return _GPU.load()


def take_device_batch(points: Any, sample_weight: Any, n_features: int | None, name: str) -> Any:
    """Check a batch on a GPU."""
    return _GPU.load().prepare_batch(points, sample_weight, n_features, name)
