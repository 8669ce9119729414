"""Rows in blocks that fit on the card, for kernels that pass over all of them.

Rows on the card are one block. Rows in pinned memory are copied block after block, each while
kernels are at work on the one before; kernels that look at a few rows read them over the bus.
"""

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np

ALIGNMENT = 16  # bytes: kernels read two coordinates at a time


class Blocks:
    """The rows of a batch: `points` on the card, or pinned in memory, in blocks of `n_rows`."""

    def __init__(self, points: Any, n_rows: int | None = None) -> None:
        self.points = points
        self._n_rows = n_rows or max(1, len(points))
        self._bytes = points.shape[1] * points.itemsize  # of a row
        self._room: list[Any] = []
        if n_rows is not None:
            self._room = [cp.empty(n_rows * self._bytes, np.uint8) for _ in range(2)]
            self._stream = cp.cuda.Stream(non_blocking=True)
            # The room may be memory that the current stream has not done with.
            self._stream.wait_event(cp.cuda.get_current_stream().record())
            self._done: list[Any] = [None, None]

    def __iter__(self) -> Iterator[tuple[Any, int, int]]:
        """Yield for each block where row 0 would lie, and its first and its last row plus 1."""
        n = len(self.points)
        for number, begin in enumerate(range(0, n, self._n_rows)):
            end = min(n, begin + self._n_rows)
            if not self._room:
                yield self.points, begin, end
                continue
            yield self._bring(number % 2, begin, end), begin, end
            self._done[number % 2] = cp.cuda.get_current_stream().record()

    def _bring(self, place: int, begin: int, end: int) -> np.uint64:
        room, runtime, first = self._room[place], cp.cuda.runtime, begin * self._bytes
        if self._done[place] is not None:
            self._stream.wait_event(self._done[place])
        size, way = (end - begin) * self._bytes, runtime.memcpyHostToDevice
        here = self.points.data.ptr + first
        runtime.memcpyAsync(room.data.ptr, here, size, way, self._stream.ptr)
        cp.cuda.get_current_stream().wait_event(self._stream.record())
        return np.uint64(room.data.ptr - first)
