"""Visiting orders on a device: a key for each row, compared and never sorted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.algorithm.visiting_orders import split_mix
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.kernels import launch, load_module
from dynmeans.engine.orders import Orders
from dynmeans.records.orders import VisitingOrders

_WHOLE = 2**64


@dataclass(frozen=True, slots=True)
class DeviceOrder:
    """One visiting order."""

    keys: Any  # When each row is visited
    ties: Any  # What decides between equal keys; None where there are none
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
            yield DeviceOrder(keys, None, n)
        return
    numbers = split_mix(orders.seed, n_steps, d + orders.n_init)
    module = load_module("rows", row)
    multipliers = cp.asarray(numbers[:d] | np.uint64(1))
    hashes, ties = cp.empty((2, n), np.uint64)
    for points, begin, end in blocks:
        rows = (points, np.int64(begin), np.int64(end), d, multipliers, weights)
        launch(module.get_function("hash_rows"), end - begin, (*rows, hashes, ties))
    for number in numbers[d:]:
        keys = cp.empty(n, np.uint64)
        launch(module.get_function("mix_keys"), n, (hashes, np.int64(n), number, keys))
        yield DeviceOrder(keys, ties, _WHOLE)
