"""A GPU for a large batch; compiled code where the card turns out to have no room for it."""

from typing import Any

from dynmeans.engine import native

_NO_MEMORY = 2  # cudaErrorMemoryAllocation, and the driver's error of the same meaning


def step(*arguments: Any) -> Any:
    """Cluster one batch, as every backend does."""
    if arguments[2].is_on_sphere:
        return native.step(*arguments)
    return _on_gpu("step", arguments) or native.step(*arguments)


def predict_labels(*arguments: Any) -> Any:
    """Return the identity and the cost of each point, as every backend does."""
    return _on_gpu("predict_labels", arguments) or native.predict_labels(*arguments)


def maybe_copy_to_device(points: Any) -> Any:
    """Copy rows to the GPU, if it has room for them."""
    return _on_gpu("maybe_copy_to_device", (points,))


def _on_gpu(name: str, arguments: tuple[Any, ...]) -> Any:
    """Return what the GPU makes of it; None where it has no room."""
    try:
        from dynmeans.engine.gpu import backend

        return getattr(backend, name)(*arguments)
    except Exception as error:  # CuPy's own errors are known by their number alone.
        if not isinstance(error, MemoryError) and getattr(error, "status", None) != _NO_MEMORY:
            raise
    return None
