"""What `engine/gpu/transfer.py` and `blocks.py` ask of CuPy, in memory, at the worst moments.

The current stream does its work as late as it may, streams of a copy as early as they may. Memory
of the pool is given out while earlier work of the current stream still writes to it, as
CuPy's pool does.
"""

import ctypes
import importlib
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

import numpy as np

_PAUSE = 2e-5  # seconds in which another thread may fill the buffer that is about to be copied


class Stream:
    """Work in order: at once, or when somebody waits for it."""

    def __init__(self, non_blocking=False):
        self.ptr, self._is_eager = id(self), non_blocking
        self._work, self._n_done, self._n_asked = deque(), 0, 0
        self._lock = threading.RLock()
        _streams[self.ptr] = self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def add(self, work):
        self._work.append(work)
        self._n_asked += 1
        if self._is_eager:
            self.synchronize()

    def run_to(self, n):
        with self._lock:
            while self._n_done < n:
                self._work.popleft()()
                self._n_done += 1

    def synchronize(self):
        self.run_to(self._n_asked)

    def record(self):
        n = self._n_asked
        return SimpleNamespace(synchronize=lambda: self.run_to(n))

    def wait_event(self, event):
        self.add(event.synchronize)


class Array:
    """An array on the device."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.nbytes, self.itemsize = values.nbytes, values.itemsize
        self.data = SimpleNamespace(ptr=values.ctypes.data)

    def __len__(self):
        return len(self.values)


class Device:
    """The only one."""

    id = 0

    def __init__(self, number=0):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


_streams = {}


def _copy(to, source, size, way, stream):
    def work():
        time.sleep(_PAUSE)
        ctypes.memmove(to, source, size)

    _streams[stream].add(work)


class Fake:
    """A module in place of CuPy; `current` is the stream of everybody who asks for one."""

    def __init__(self):
        self.current, self.free = Stream(), deque()
        self.module = ModuleType("cupy")
        runtime = SimpleNamespace(
            memcpyAsync=_copy, memcpyHostToDevice=1, memcpyDeviceToHost=2, registered=set()
        )
        self.module.cuda = SimpleNamespace(
            Stream=Stream,
            Device=Device,
            runtime=runtime,
            get_current_stream=lambda: self.current,
            alloc_pinned_memory=bytearray,
        )
        self.module.empty = self.empty
        self.module.ascontiguousarray = lambda array: array

    def empty(self, shape, dtype=float):
        """Return memory that was freed, if there is any, whoever still writes to it."""
        if self.free:
            return Array(self.free.popleft().view(dtype).reshape(shape))
        return Array(np.empty(shape, dtype))


@contextmanager
def modules_on(fake, *names):
    """Import modules of `dynmeans.engine.gpu` anew beside a fake CuPy; forget them afterwards."""
    whole = [f"dynmeans.engine.gpu.{name}" for name in ("transfer", "blocks")]
    before = {name: sys.modules.pop(name, None) for name in ("cupy", *whole)}
    sys.modules["cupy"] = fake.module
    try:
        yield [importlib.import_module(f"dynmeans.engine.gpu.{name}") for name in names]
    finally:
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module
