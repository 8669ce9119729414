"""A GPU for a large batch; compiled code where the card turns out to have no room for it."""

import importlib
from typing import Any

from dynmeans.engine import native

_NO_MEMORY = 2  # cudaErrorMemoryAllocation, and the driver's error of the same meaning


def step(*arguments: Any) -> Any:
    """Cluster one batch, as every backend does."""
    return _by_gpu_or_native("step", arguments)


def predict_labels(*arguments: Any) -> Any:
    """Return the identity and the cost of each point, as every backend does."""
    return _by_gpu_or_native("predict_labels", arguments)


def _by_gpu_or_native(name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        backend = importlib.import_module("dynmeans.engine.gpu.backend")
        return getattr(backend, name)(*arguments)
    except Exception as error:  # CuPy's own errors are known by their number alone.
        if not isinstance(error, MemoryError) and getattr(error, "status", None) != _NO_MEMORY:
            raise
    return getattr(native, name)(*arguments)
