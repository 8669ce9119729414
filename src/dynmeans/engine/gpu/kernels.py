"""CUDA kernels: compiled for the present card when first called, then from CuPy's cache."""

import itertools
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.sources import source_of

THREADS = 256
_N_PIECES, _PIECE = 8, 2**21  # of pinned memory; bytes
_LINE = 256  # bytes: arrays that are copied together begin at multiples of it
_PLAIN_SHARED = 2**14  # bytes; above, with what kernels declare themselves, a block has to ask


class Module:
    """One family of kernels, compiled; its functions are looked up once."""

    def __init__(self, code: str, options: tuple[str, ...]) -> None:
        self._module = cp.RawModule(code=code, options=options, backend="nvrtc")
        self._functions: dict[str, Any] = {}

    def get_function(self, name: str) -> Any:
        """Return a kernel."""
        if name not in self._functions:
            self._functions[name] = self._module.get_function(name)
        return self._functions[name]


@cache
def load_module(family: str, row: str, **constants: int) -> Module:
    """Compile one family for rows of `row` (float or double)."""
    options = ["-std=c++17", f"-DROW={row}"]
    options += [f"-D{name}={value}" for name, value in constants.items()]
    return Module(source_of(family), tuple(options))


def row_type(points: Any) -> str:
    """Return the type of the rows, as kernels are compiled for it."""
    return "double" if points.dtype == np.float64 else "float"


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


_asked: dict[Any, int] = {}  # the most shared memory that a kernel has asked for


def launch_blocks(
    kernel: Any,
    n_blocks: int | tuple[int, ...],
    arguments: tuple[Any, ...],
    *,
    block: int = THREADS,
    shared: int = 0,
) -> None:
    """Run a kernel on this many blocks."""
    if shared > _asked.get(kernel, _PLAIN_SHARED):
        kernel.max_dynamic_shared_size_bytes = _asked[kernel] = shared
    grid = (n_blocks,) if isinstance(n_blocks, int) else n_blocks
    kernel(grid, (block,), as_arguments(arguments), shared_mem=shared)


def as_arguments(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values as kernels take them."""
    return tuple(map(_kernel_argument, values))


def _kernel_argument(value: Any) -> Any:
    """Integers are 32 bits by default; None is the null pointer."""
    kind = type(value)
    if kind is int:
        return np.int32(value)
    if kind is float:
        return np.float64(value)
    return np.uint64(0) if value is None else value


class _Staging(threading.local):
    """Pinned memory from which arrays are copied while the host does other things."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Any, Any]] = []
        self._turn = 0

    def next(self) -> tuple[Any, Any]:
        """Return memory that no copy reads any more, and the event to record after the next one."""
        if len(self._pieces) < _N_PIECES:
            memory = cp.cuda.alloc_pinned_memory(_PIECE)
            piece = (np.frombuffer(memory, np.uint8, _PIECE), cp.cuda.Event(disable_timing=True))
            self._pieces.append(piece)
            return piece
        self._turn = (self._turn + 1) % _N_PIECES
        self._pieces[self._turn][1].synchronize()
        return self._pieces[self._turn]


_staging = _Staging()


def upload(*arrays: Any) -> list[Any]:
    """Copy small arrays to the device in one go."""
    flat = [np.ascontiguousarray(array) for array in arrays]
    starts = _starts(flat)
    size = max(starts[-1], 1)
    there = cp.empty(size, np.uint8)
    packed, copied = _staging.next() if size <= _PIECE else (np.empty(size, np.uint8), None)
    for array, start in zip(flat, starts, strict=False):
        if array.size:
            packed[start : start + array.nbytes] = array.view(np.uint8).ravel()
    if copied is None:
        there.set(packed)
    else:
        stream = cp.cuda.get_current_stream()
        there.data.copy_from_host_async(packed.ctypes.data, size, stream)
        copied.record(stream)
    views = []
    for array, start in zip(flat, starts, strict=False):
        kind = array.dtype if array.dtype.names is None else np.dtype(np.uint8)
        shape = array.shape if array.dtype.names is None else (array.nbytes,)
        views.append(cp.ndarray(shape, kind, there.data + start))
    return views


def download(*arrays: Any) -> list[Any]:
    """Copy small arrays of the device to memory, with one wait for all."""
    starts = _starts(arrays)
    if starts[-1] > _PIECE:
        return [array.get() for array in arrays]
    packed, _ = _staging.next()
    stream = cp.cuda.get_current_stream()
    for array, start in zip(arrays, starts, strict=False):
        if array.size:
            array.data.copy_to_host_async(packed.ctypes.data + start, array.nbytes, stream)
    stream.synchronize()
    return [
        packed[start : start + array.nbytes].view(array.dtype).reshape(array.shape).copy()
        for array, start in zip(arrays, starts, strict=False)
    ]


def count_of(counter: Any) -> int:
    """Return what a kernel counted, in the first place of an array, once it has ended."""
    return int(download(counter[:1])[0][0])


def _starts(arrays: Sequence[Any]) -> list[int]:
    sizes = (-(-array.nbytes // _LINE) * _LINE for array in arrays)
    return [0, *itertools.accumulate(sizes)]
