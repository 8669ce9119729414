"""Visiting orders on a device: a key for each row, compared and never sorted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.kernels import launch, load_module
from dynmeans.engine.orders import Orders
from dynmeans.records.orders import VisitingOrders

_WHOLE = 2**64


@dataclass(frozen=True, slots=True)
class DeviceOrder:
    """One visiting order."""

    keys: Any  # When each row is visited; None where its number is hashed on the way
    seed: int  # The seed of that hash
    ties: Any  # Weights that decide between equal keys
    n_keys: int  # Keys lie evenly from 0 to below this


def list_device_orders(
    orders: Orders, blocks: Blocks, weights: Any, row: str, n_steps: int
) -> Iterator[DeviceOrder]:
    """Yield the orders of a batch, the same as compiled code makes."""
    n, d = blocks.points.shape
    if not isinstance(orders, VisitingOrders):
        for order in orders:
            keys = cp.empty(n, np.uint64)
            keys[cp.asarray(order)] = cp.arange(n, dtype=np.uint64)
            yield DeviceOrder(keys, 0, None, n)
        return
    numbers = _split_mix(orders.row_seed(n_steps))
    if orders.by == "row":
        for _ in range(orders.n_init):
            yield DeviceOrder(None, next(numbers), None, _WHOLE)
        return
    module = load_module("rows", row)
    multipliers = cp.asarray(np.array([next(numbers) | 1 for _ in range(d)], dtype=np.uint64))
    hashes = cp.empty(n, np.uint64)
    for points, begin, end in blocks:
        rows = (points, np.int64(begin), np.int64(end))
        launch(module.get_function("hash_rows"), end - begin, (*rows, d, multipliers, hashes))
    for _ in range(orders.n_init):
        keys = cp.empty(n, np.uint64)
        arguments = (hashes, np.int64(n), np.uint64(next(numbers)), keys)
        launch(module.get_function("mix_keys"), n, arguments)
        yield DeviceOrder(keys, 0, weights, _WHOLE)


def _split_mix(state: int) -> Iterator[int]:
    """Yield the numbers of splitmix64."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % _WHOLE
        key = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) % _WHOLE
        key = ((key ^ (key >> 27)) * 0x94D049BB133111EB) % _WHOLE
        yield key ^ (key >> 31)
