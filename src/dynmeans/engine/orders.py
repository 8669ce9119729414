"""Visiting orders of one batch, made where they are used."""

import numpy.typing as npt

from dynmeans.algorithm.visiting_orders import visiting_orders
from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_orders
from dynmeans.engine.compiled import compiled
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import SEARCHES, VisitingOrders

Orders = VisitingOrders | IntArray


def depth_of(orders: Orders, search: str) -> int:
    """What follows Algorithm 2 (0 nothing, 1 splits, 2 all moves); listed orders do not set it."""
    return orders.depth if isinstance(orders, VisitingOrders) else SEARCHES.index(search)


def take_orders(orders: npt.ArrayLike | VisitingOrders, n_points: int) -> Orders:
    """Check visiting orders from outside; those given by their seed need no check."""
    return orders if isinstance(orders, VisitingOrders) else check_orders(orders, n_points)


def list_orders(orders: Orders, batch: Batch, n_steps: int) -> IntArray:
    """Return the orders of this batch, one permutation of the rows in each row."""
    if not isinstance(orders, VisitingOrders):
        return orders
    return visiting_orders(batch.points, batch.weights, orders.seed, n_steps, orders.n_init)


def content_order(points: BatchArray, weights: FloatArray | None = None) -> IntArray:
    """Return the one order of these rows that does not depend on the order they came in."""
    order: IntArray = compiled.visiting_orders(points, 0, 0, 1, weights)[0]
    return order
