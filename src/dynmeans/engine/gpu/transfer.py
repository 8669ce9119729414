"""Between memory and the device: large arrays pass through a ring of pinned buffers.

Memory that the system may move cannot be read by the card directly, and pinning all of it takes
longer than the copy. A few buffers are pinned once; threads fill some while the card empties
others.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import cupy as cp
import numpy as np

_BUFFER, _THREADS = 2**23, 8  # bytes; two buffers for each thread
_SMALL = 2**24  # bytes below which a plain copy is as fast


@cache
def _ring() -> list[list[Any]]:
    """Return two pinned buffers for each thread."""
    return [[_pinned() for _ in range(2)] for _ in range(_THREADS)]


def _pinned() -> Any:
    memory = cp.cuda.alloc_pinned_memory(_BUFFER)
    return np.frombuffer(memory, np.uint8, _BUFFER)


def to_device(array: Any) -> Any:
    """Return a copy on the device."""
    if array.nbytes < _SMALL:
        return cp.asarray(array)
    array = np.ascontiguousarray(array)
    there = cp.empty(array.shape, array.dtype)
    _copy(array.view(np.uint8).reshape(-1), there, is_upward=True)
    return there


def to_memory(array: Any) -> Any:
    """Return a copy in memory."""
    if array.nbytes < _SMALL:
        return cp.asnumpy(array)
    array = cp.ascontiguousarray(array)
    here = np.empty(array.shape, array.dtype)
    cp.cuda.get_current_stream().synchronize()
    _copy(here.view(np.uint8).reshape(-1), array, is_upward=False)
    return here


def _copy(here: Any, there: Any, *, is_upward: bool) -> None:
    """Copy bytes between `here` in memory and `there` on the device."""
    device, ring = cp.cuda.Device().id, _ring()

    def work(thread: int) -> None:
        with cp.cuda.Device(device), cp.cuda.Stream(non_blocking=True) as stream:
            starts = range(thread * _BUFFER, len(here), _THREADS * _BUFFER)
            waiting: list[Any] = []
            for turn, start in enumerate(starts):
                buffer, n = ring[thread][turn % 2], min(_BUFFER, len(here) - start)
                if len(waiting) == 2:
                    _finish(waiting.pop(0))
                if is_upward:
                    buffer[:n] = here[start : start + n]
                _start(buffer, there.data.ptr + start, n, stream, is_upward)
                done = stream.record()
                waiting.append((done, None if is_upward else (here, start, n, buffer)))
            for one in waiting:
                _finish(one)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(work, range(_THREADS)))


def _start(buffer: Any, there: int, n: int, stream: Any, is_upward: bool) -> None:
    runtime = cp.cuda.runtime
    pair = (there, buffer.ctypes.data) if is_upward else (buffer.ctypes.data, there)
    way = runtime.memcpyHostToDevice if is_upward else runtime.memcpyDeviceToHost
    runtime.memcpyAsync(*pair, n, way, stream.ptr)


def _finish(copy: tuple[Any, Any]) -> None:
    done, target = copy
    done.synchronize()
    if target is not None:
        here, start, n, buffer = target
        here[start : start + n] = buffer[:n]
