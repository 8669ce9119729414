"""Between memory and the device: large arrays pass through a ring of pinned buffers.

Memory that the system may move cannot be read by the card directly, and pinning all of it takes
longer than the copy. A few buffers are pinned once; threads fill some while the card empties
others.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock, Thread
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.blocks import ALIGNMENT, Blocks
from dynmeans.engine.gpu.gpu_batch import first_bad
from dynmeans.records.arrays import IntArray

_BUFFER, _THREADS = 2**23, 12  # bytes; two buffers for each thread
_BESIDE = 64  # bytes that a step keeps on the card for each row, and some to spare
_MAPPED = 2  # cudaHostRegisterMapped
_PINNED = 1  # cudaMemoryTypeHost
_SMALL = 2**24  # bytes below which a plain copy is as fast
_BLOCK = 2**28  # bytes of a block of rows that the card has no room for
_one_copy = Lock()  # at a time: the ring belongs to the process


@cache
def _ring() -> list[list[Any]]:
    """Return two pinned buffers for each thread of a copy."""
    return [[_pin() for _ in range(2)] for _ in range(_THREADS)]


def _pin() -> Any:
    memory = cp.cuda.alloc_pinned_memory(_BUFFER)
    return np.frombuffer(memory, np.uint8, _BUFFER)


def to_device(array: Any) -> Any:
    """Return a copy on the device."""
    if array.nbytes < _SMALL:
        return cp.asarray(array)
    array = np.ascontiguousarray(array)
    there, raw = cp.empty(array.shape, array.dtype), array.view(np.uint8).reshape(-1)

    def fill(start: int, buffer: Any) -> None:
        buffer[:] = raw[start : start + len(buffer)]

    _copy(there, fill, is_upward=True)
    return there


def maybe_copy_to_device(array: Any) -> Any:
    """Return a copy on the card; None if it has no room, or if a value is not allowed."""
    there = to_device(array) if fits(array) else None
    return None if there is None or first_bad(there) is not None else there


@contextmanager
def rows_for_device(array: Any) -> Iterator[Blocks]:
    """Give rows that kernels can read until the end: a copy on the card if it has room.

    Otherwise the rows stay in memory, pinned there, and cross the bus in every pass.
    """
    if fits(array):
        yield Blocks(to_device(array))
        return
    with _pin_rows(np.require(array, requirements="C")) as rows:
        memory = cp.cuda.UnownedMemory(rows.ctypes.data, rows.nbytes, rows, cp.cuda.Device().id)
        there = cp.ndarray(rows.shape, rows.dtype, cp.cuda.MemoryPointer(memory, 0))
        try:
            yield Blocks(there, max(1, _BLOCK // rows[:1].nbytes))
        finally:
            cp.cuda.get_current_stream().synchronize()


def fits(array: Any) -> bool:
    """Return whether the card has room for these rows and for what is stored for each."""
    beside = len(array) * _BESIDE if array.ndim == 2 else 0
    pool, (free, _) = cp.get_default_memory_pool(), cp.cuda.runtime.memGetInfo()
    return bool(array.nbytes + beside < 0.95 * (free + pool.free_bytes()))


@contextmanager
def _pin_rows(array: Any) -> Iterator[Any]:
    """Give the same rows in memory that the card can read: pinned where they are, or a copy."""
    runtime, start = cp.cuda.runtime, array.ctypes.data
    if start % ALIGNMENT == 0:
        ends = (start, start + array.nbytes - 1)
        if all(runtime.pointerGetAttributes(end).type == _PINNED for end in ends):
            yield array
            return
        try:
            runtime.hostRegister(start, array.nbytes, _MAPPED)
        except runtime.CUDARuntimeError:  # of a file mapped for reading, for example
            pass
        else:
            try:
                yield array
            finally:
                runtime.hostUnregister(start)
            return
    memory = cp.cuda.PinnedMemoryPointer(cp.cuda.PinnedMemory(array.nbytes), 0)
    copy = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    copy[:] = array
    yield copy


def to_memory(array: Any, here: Any = None) -> Any:
    """Return a copy in memory: new, or what is given."""
    here = np.empty(array.shape, array.dtype) if here is None else here
    if array.nbytes < _SMALL:
        here[...] = cp.asnumpy(array)
        return here
    array = cp.ascontiguousarray(array)
    raw = here.view(np.uint8).reshape(-1)

    def drain(start: int, buffer: Any) -> None:
        raw[start : start + len(buffer)] = buffer

    _copy(array, drain, is_upward=False)
    return here


class LabelBuffer:
    """Memory for labels, touched while the device is at work.

    The system clears new memory when it is first touched, which takes longer than the copy.
    """

    def __init__(self, n_labels: int) -> None:
        self._labels = np.empty(n_labels, np.int64)
        self._is_needed = False
        self._thread = Thread(target=self._touch)
        self._thread.start()

    def _touch(self) -> None:
        for start in range(0, len(self._labels), _BUFFER):
            if self._is_needed:
                return
            self._labels[start : start + _BUFFER] = 0

    def take(self) -> IntArray:
        """Return the memory, touched or not."""
        self._is_needed = True
        self._thread.join()
        return self._labels


def download_ids(numbers: Any, names: IntArray, room: LabelBuffer) -> IntArray:
    """Return in memory the name of each number: half the bytes cross. -1 stands for the last."""
    here = room.take()
    if not np.array_equal(names[:-1], np.arange(len(names) - 1)):
        is_short = names.max(initial=0) < 2**31
        numbers = cp.asarray(names.astype(np.int32) if is_short else names)[numbers]

    def drain(start: int, buffer: Any) -> None:
        some, first = buffer.view(numbers.dtype), start // numbers.itemsize
        np.copyto(here[first : first + len(some)], some)

    if numbers.nbytes < _SMALL:
        here[:] = cp.asnumpy(numbers)
        return here
    _copy(numbers, drain, is_upward=False)
    return here


def _copy(there: Any, serve: Callable[[int, Any], None], *, is_upward: bool) -> None:
    """Copy bytes to or from `there` on the device; `serve` fills a buffer before, or drains it.

    The current stream may still write to memory of the pool: streams of the copy wait for it.
    """
    device, ready = cp.cuda.Device().id, cp.cuda.get_current_stream().record()

    def work(thread: int) -> None:
        with cp.cuda.Device(device), cp.cuda.Stream(non_blocking=True) as stream:
            stream.wait_event(ready)
            starts = range(thread * _BUFFER, there.nbytes, _THREADS * _BUFFER)
            waiting: list[Any] = []
            for turn, start in enumerate(starts):
                buffer = ring[thread][turn % 2][: min(_BUFFER, there.nbytes - start)]
                if len(waiting) == 2:
                    _finish(waiting.pop(0))
                if is_upward:
                    serve(start, buffer)
                _start(buffer, there.data.ptr + start, stream, is_upward)
                done = stream.record()
                waiting.append((done, None if is_upward else partial(serve, start, buffer)))
            for one in waiting:
                _finish(one)

    with _one_copy, ThreadPoolExecutor(_THREADS) as pool:
        ring = _ring()
        list(pool.map(work, range(_THREADS)))


def _start(buffer: Any, there: int, stream: Any, is_upward: bool) -> None:
    runtime = cp.cuda.runtime
    pair = (there, buffer.ctypes.data) if is_upward else (buffer.ctypes.data, there)
    way = runtime.memcpyHostToDevice if is_upward else runtime.memcpyDeviceToHost
    runtime.memcpyAsync(*pair, len(buffer), way, stream.ptr)


def _finish(copy: tuple[Any, Any]) -> None:
    done, finish = copy
    done.synchronize()
    if finish is not None:
        finish()
