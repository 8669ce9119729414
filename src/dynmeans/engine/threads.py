"""How many threads one step uses."""

import os

# Coordinates below which starting a thread costs more than it brings (docs/speed.md).
_LARGE = 200_000


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
