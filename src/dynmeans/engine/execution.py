"""Execution: how a step is run; never what it finds."""

import importlib.util
import os
from dataclasses import dataclass
from functools import cache, lru_cache
from numbers import Integral
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count

BACKENDS = ("native", "reference", "gpu", "auto")
ACCELERATIONS = ("auto", "none")
MAX_THREADS = 1024
# Rows in memory: from about here on a step on one H200 took less time than on 16 cores beside it
# (500,000 x 2: as long; 1,000,000 x 2: less than half); below, the CPU was up to four times faster.
_GPU_PAYS = 400_000
# Coordinates below which starting a thread costs more than it brings (docs/design/engine.md).
_LARGE = 200_000


@dataclass(frozen=True, slots=True)
class Execution:
    """Backend, acceleration and threads; any choice gives the same bits."""

    # {"native", "reference", "gpu", "auto"}; compiled code, the specification in NumPy, or kernels
    # on an NVIDIA GPU. "auto" takes a GPU where there is one with room for the batch, and this has
    # 400,000 coordinates or more; and compiled code otherwise; `Clustering.execution` says which
    # it was.
    backend: str = "native"
    # {"auto", "none"}; whether the compiled code may leave out comparisons that cannot change a
    # label, or visits every point in every pass.
    acceleration: str = "auto"
    # Threads of the compiled code: by default all cores for large batches, one for small ones.
    n_threads: int | None = None
    # Refuse a step that would leave more clusters remembered, by the rule of `engine.guard`.
    max_clusters: int | None = None

    def __post_init__(self) -> None:
        """Refuse an unknown name or an impossible number of threads."""
        for name, known in (("backend", BACKENDS), ("acceleration", ACCELERATIONS)):
            if getattr(self, name) not in known:
                value = getattr(self, name)
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
        if self.max_clusters is not None:
            check_count("max_clusters", self.max_clusters)
        if self.n_threads is None:
            return
        if isinstance(self.n_threads, bool) or not isinstance(self.n_threads, Integral):
            raise TypeError(f"n_threads must be an integer or None, got {self.n_threads!r}.")
        if not 1 <= int(self.n_threads) <= MAX_THREADS:
            raise InputError("n_threads", f"must be from 1 to {MAX_THREADS}", got=self.n_threads)

    @property
    def is_compiled(self) -> bool:
        """Whether a small batch is clustered in one call into C++."""
        return self.backend == "native" and self.acceleration == "auto"

    @property
    def is_accelerated(self) -> bool:
        """Whether comparisons that cannot change a label may be left out."""
        return self.acceleration == "auto"

    def load(self, n_coordinates: int = 0) -> Any:
        """Return the module that runs a step in memory: `step` and `predict_labels`.

        `n_coordinates` are the rows times the features of the batch, which "auto" goes by.
        """
        if self.backend == "gpu":
            _check_process()
        if self.backend != "auto":
            return _load(self.backend)
        return _load("auto" if n_coordinates >= _GPU_PAYS and _has_gpu() else "native")


DEFAULT = Execution()


def get_execution(*values: Any) -> Execution:
    """Return the same record for the same values: checking takes as long as a small step."""
    try:
        return _known(*values)
    except TypeError:  # of a value that cannot be hashed, too
        return Execution(*values)


_known = lru_cache(maxsize=64, typed=True)(
    lambda *values: DEFAULT if (made := Execution(*values)) == DEFAULT else made
)


def choose_n_threads(n_coordinates: int) -> int:
    """One for small work; for large work every core this process may use.

    OMP_NUM_THREADS is respected: pools of workers set it so that they do not get in each
    other's way.
    """
    if n_coordinates < _LARGE:
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(n_cores or 1, int(limit) if limit.isdigit() and int(limit) > 0 else 1 << 30)


def _has_gpu() -> bool:
    """Return whether this process can use a GPU; one that was forked later cannot."""
    return _process_with_gpu() == os.getpid()


@cache
def _process_with_gpu() -> int | None:
    if importlib.util.find_spec("cupy") is None:
        return None
    try:
        import cupy

        n_devices = int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # CuPy's own errors, of a missing driver or card, have no common base.
        return None
    return os.getpid() if n_devices else None


@cache
def _first_process() -> int:
    return os.getpid()


def _check_process() -> None:
    """Refuse a GPU that a parent of this process has used: CUDA does not survive a fork."""
    if _first_process() != os.getpid():
        raise RuntimeError(
            "backend 'gpu' cannot be used in a process forked from one that used it. Start "
            'processes with multiprocessing.get_context("spawn"), or take backend="auto".'
        )


@cache
def _load(backend: str) -> Any:
    if backend != "gpu":
        from dynmeans.engine import auto, native, reference

        return {"auto": auto, "native": native, "reference": reference}[backend]
    try:
        from dynmeans.engine.gpu import backend as on_gpu
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"backend 'gpu' needs {error.name}: pip install 'dynmeans[gpu]', "
            "or 'dynmeans[gpu-cuda12]' for CUDA 12.",
            name=error.name,
        ) from error
    return on_gpu
