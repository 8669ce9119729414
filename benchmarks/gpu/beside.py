"""Beside the kernels: what a user would write instead, and how rows and labels cross the bus."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import cupy as cp
import numpy as np
import torch

from dynmeans.engine.gpu import transfer
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.transfer import LabelBuffer, download_ids, to_device


def seconds(work: Any) -> tuple[float, Any]:
    """Return how long `work` takes, the device's part included, and what it gives."""
    cp.cuda.Device().synchronize()
    start = time.perf_counter()
    result = work()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - start, result


def median_ms(work: Any, n: int = 7) -> float:
    """Return the median time of `work` by events of the device."""
    work()
    times = []
    for _ in range(n):
        start, end = cp.cuda.Event(), cp.cuda.Event()
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(start, end))
    return float(np.median(times))


def other_ways(rows_array: Any, n_slots: int) -> dict[str, float | str]:
    """What a user would write: all distances, then the least; scaled from some rows."""
    n = len(rows_array)
    m = min(n, 2**21)
    centers = rows_array[:n_slots]
    ways: dict[str, float | str] = {}
    squares = (centers**2).sum(axis=1)
    part = 2**18

    def by_cupy() -> None:
        for start in range(0, m, part):
            cp.argmin(squares - 2 * (rows_array[start : start + part] @ centers.T), axis=1)

    ways["cupy_matmul_float64_ms"] = median_ms(by_cupy, 3) * n / m
    points, others = (
        torch.as_tensor(rows_array[:m], device="cuda"),
        torch.as_tensor(centers, device="cuda"),
    )

    def by_torch() -> None:
        for start in range(0, m, part):
            torch.cdist(points[start : start + part], others).argmin(1)
        torch.cuda.synchronize()

    by_torch()
    spent, _ = seconds(by_torch)
    ways["torch_cdist_float64_ms"] = 1e3 * spent * n / m
    ways["cuml_kmeans_pass_ms"] = "not installed"
    if find_spec("cuml") is not None:
        ways["cuml_kmeans_pass_ms"] = _cuml_pass(rows_array[:m], centers) * n / m
    return ways


def _cuml_pass(points: Any, centers: Any) -> float:
    """One pass of cuML's KMeans, in ms."""
    model = import_module("cuml").KMeans(len(centers), init=centers, n_init=1, max_iter=1)
    model.fit(points)
    return 1e3 * seconds(lambda: model.fit(points))[0]


def copies(n: int = 10**8) -> dict[str, float]:
    """NumPy rows in and labels out: plain copies, and the ring of pinned buffers.

    A step touches the memory of its labels while the device works; untouched memory is slower.
    """
    rows, slots, ids = np.ones((n, 2)), cp.ones(n, np.int32), np.append(np.arange(9) + 7, -1)
    to_device(rows[: 2**22])

    def out(pause: float) -> float:
        room = LabelBuffer(n)
        time.sleep(pause)
        return 1e3 * seconds(lambda: download_ids(slots, ids, room))[0]

    return {
        "in_plain_ms": 1e3 * seconds(lambda: cp.asarray(rows))[0],
        "in_ring_ms": 1e3 * min(seconds(lambda: to_device(rows))[0] for _ in range(3)),
        "out_plain_ms": 1e3 * seconds(lambda: ids[cp.asnumpy(slots)])[0],
        "out_ring_ms": min(out(1.0) for _ in range(3)),
        "out_ring_untouched_ms": min(out(0.0) for _ in range(3)),
    }


@contextmanager
def blocks_by_bus(here: Any) -> Iterator[Blocks]:
    """Rows in memory as a step takes them when the card has no room for them."""
    fits, transfer.fits = transfer.fits, lambda array: False
    try:
        with transfer.rows_for_device(here) as blocks:
            yield blocks
    finally:
        transfer.fits = fits
