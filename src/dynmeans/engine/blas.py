"""The BLAS that SciPy brings, for the filter over many features."""

import importlib
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from dynmeans.records.arrays import BatchArray

# Below, the compiled search over panels of clusters is as fast (docs/speed.md).
_FEW_FEATURES = 16
_FEW_POINTS = 512


def sgemm_for(points: BatchArray) -> Any:
    """Return SciPy's sgemm as a capsule where the batch is large enough for it, else None."""
    if points.shape[1] < _FEW_FEATURES or len(points) < _FEW_POINTS:
        return None
    return _sgemm()


def one_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread while ours call it: theirs would only compete with them."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited


@cache
def _sgemm() -> Any:
    return importlib.import_module("scipy.linalg.cython_blas").__pyx_capi__["sgemm"]


@cache
def _controller() -> Any:
    _sgemm()  # The library must be loaded to be found.
    return importlib.import_module("threadpoolctl").ThreadpoolController()
