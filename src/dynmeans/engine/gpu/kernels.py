"""CUDA kernels: compiled for the card at hand when first called, then from CuPy's cache."""

from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.sources import source_of

THREADS = 256
_PLAIN_SHARED = 2**14  # bytes; above, with what kernels declare themselves, a block has to ask


@cache
def load_module(family: str, row: str, **constants: int) -> Any:
    """Compile one family for rows of `row` (float or double)."""
    options = ["-std=c++17", f"-DROW={row}"]
    options += [f"-D{name}={value}" for name, value in constants.items()]
    return cp.RawModule(code=source_of(family), options=tuple(options), backend="nvrtc")


@cache
def multiprocessors() -> int:
    """Return how many blocks of the largest size run side by side."""
    return int(cp.cuda.Device().attributes["MultiProcessorCount"])


@cache
def shared_bytes() -> int:
    """Return the most shared memory that one block may ask for."""
    return int(cp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


def launch(
    kernel: Any,
    n_threads: int,
    arguments: tuple[Any, ...],
    *,
    block: int = THREADS,
    shared: int = 0,
) -> None:
    """Run a kernel whose threads stride over `n_threads` pieces of work; none: nothing is run."""
    if n_threads <= 0:
        return
    n_blocks = min(-(-n_threads // block), multiprocessors() * (2048 // block) * 4)
    launch_blocks(kernel, n_blocks, arguments, block=block, shared=shared)


def launch_blocks(
    kernel: Any, n_blocks: int, arguments: tuple[Any, ...], *, block: int = THREADS, shared: int = 0
) -> None:
    """Run a kernel on so many blocks."""
    if shared > _PLAIN_SHARED:
        kernel.max_dynamic_shared_size_bytes = shared
    kernel((n_blocks,), (block,), tuple(map(_argument, arguments)), shared_mem=shared)


def _argument(value: Any) -> Any:
    """Integers are 32 bits unless they say otherwise; None is the null pointer."""
    if value is None:
        return np.uint64(0)
    if isinstance(value, int):
        return np.int32(value)
    return np.float64(value) if isinstance(value, float) else value


def upload(*arrays: Any) -> list[Any]:
    """Copy small arrays to the device in one go."""
    flat = [np.ascontiguousarray(array) for array in arrays]
    starts = np.cumsum([0] + [-(-array.nbytes // 256) * 256 for array in flat])
    packed = np.empty(max(int(starts[-1]), 1), dtype=np.uint8)
    for array, start in zip(flat, starts, strict=False):
        packed[start : start + array.nbytes] = array.view(np.uint8).ravel() if array.size else 0
    there = cp.asarray(packed)
    views = []
    for array, start in zip(flat, starts, strict=False):
        kind = array.dtype if array.dtype.names is None else np.dtype(np.uint8)
        shape = array.shape if array.dtype.names is None else (array.nbytes,)
        views.append(cp.ndarray(shape, kind, there.data + int(start)))
    return views
