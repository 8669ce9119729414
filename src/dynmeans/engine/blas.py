"""The BLAS that SciPy brings, for the filter over many features; and how many threads it has."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from dynmeans.records.arrays import BatchArray

# Below, the compiled search over panels of clusters is as fast (docs/design/engine.md).
SMALL_N_FEATURES = 16
SMALL_N_POINTS = 512


def sgemm_for(points: BatchArray) -> Any:
    """Return SciPy's sgemm as a capsule where the batch is large enough for it, else None."""
    if points.shape[1] < SMALL_N_FEATURES or len(points) < SMALL_N_POINTS:
        return None
    return _sgemm()


class _SharedLimit:
    """BLAS at one thread while anyone needs it so; as it was once the last has left.

    The setting belongs to the whole process. If each step kept and restored it separately, a step
    that began during another would restore the one thread of that other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limit.restore_original_limits()


_shared_limit = _SharedLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread: its own threads would compete with ours.

    And wherever a product or a decomposition leads to a choice: its last bits depend on the number
    of threads, and visiting orders follow the bits.
    """
    _shared_limit.enter()
    try:
        yield
    finally:
        _shared_limit.leave()


@cache
def _sgemm() -> Any:
    from scipy.linalg import cython_blas

    return cython_blas.__pyx_capi__["sgemm"]


@cache
def _controller() -> Any:
    _sgemm()  # The library must be loaded to be found.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
