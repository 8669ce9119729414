"""Algorithm 1 on a device: one step over a batch, its restarts, and what is remembered."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.update_state import advance_time, update_state
from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.device_orders import list_device_orders
from dynmeans.engine.gpu.device_rows import DeviceRows
from dynmeans.engine.gpu.gpu_batch import GpuBatch, as_cupy, prepare_batch
from dynmeans.engine.gpu.host.bins import bins_of_batch
from dynmeans.engine.gpu.host.cluster import Found, cluster
from dynmeans.engine.gpu.host.deep_search import run_deep_search_on_device
from dynmeans.engine.gpu.predict import device_distances, predict_labels, predict_on_device
from dynmeans.engine.gpu.transfer import (
    LabelBuffer,
    download_ids,
    maybe_copy_to_device,
    rows_for_device,
    to_device,
    to_memory,
)
from dynmeans.engine.orders import Orders, depth_of
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

__all__ = [
    "device_distances",
    "maybe_copy_to_device",
    "predict_labels",
    "prepare_batch",
    "step",
    "to_numpy",
]


def step(
    batch: Batch | GpuBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    execution: Execution,
    search: str = "paper",
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch and return what is remembered, and the clustering.

    Labels are returned where the batch lies.
    """
    if not batch.has_weight:
        return _let_pass(batch, state, penalties, orders, elapsed)
    depth = depth_of(orders, search)
    with _on_device(batch) as (blocks, weights):
        stepped = _step_on_device(batch, blocks, weights, state, penalties, orders, elapsed, depth)
        cp.cuda.get_current_stream().synchronize()
        return stepped


def _step_on_device(
    batch: Batch | GpuBatch,
    blocks: Blocks,
    weights: Any,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    depth: int,
) -> tuple[ClusterState, Clustering]:
    rows, arrived = DeviceRows(blocks, weights, batch), advance_time(state, elapsed, penalties)
    points = blocks.points
    has_weights = weights is not None
    is_plain = isinstance(batch, Batch) and not has_weights
    room = LabelBuffer(len(points) if is_plain else 0)
    bins = bins_of_batch(rows.magnitudes(), len(points), has_weights, arrived, penalties)
    best: Found | None = None
    slots: Any = None
    n_orders = orders.n_init if isinstance(orders, VisitingOrders) else len(orders)
    for order in list_device_orders(orders, blocks, weights, rows.row, state.n_steps):
        found = cluster(rows, order, bins, arrived, penalties)
        # The first of equals is kept: a later one must be lower.
        if best is None or found.cost_trace[-1] < best.cost_trace[-1] * (1.0 - NO_FALL):
            best, slots = found, rows.labels.copy() if n_orders > 1 else rows.labels
    assert best is not None, "orders has at least one row"
    if depth:
        rows.labels = slots
        best = run_deep_search_on_device(rows, bins, arrived, penalties, best, depth)
        slots = rows.labels
    new_state = update_state(best.counts, best.centers, arrived, state.centers, penalties, elapsed)
    n_new = len(best.counts) - state.n_clusters
    ids = np.concatenate([state.ids, state.next_id + np.arange(n_new)])
    if is_plain:
        labels = download_ids(slots, np.append(ids, -1), room)
    else:
        named = cp.asarray(np.append(ids, -1))[slots]
        if has_weights:
            bystanders = cp.flatnonzero(weights == 0)
            named[bystanders] = predict_on_device(points[bystanders], new_state, penalties)[0]
        labels = _deliver(batch, named)
    return new_state, _name_clusters(best, ids, labels, is_counted=not has_weights)


def to_numpy(array: Any) -> Any:
    """Return a copy in memory of an array on a device, whichever library made it."""
    return to_memory(as_cupy(array))


def _let_pass(
    batch: Batch | GpuBatch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
) -> tuple[ClusterState, Clustering]:
    """A batch in which no row takes part only lets time pass."""
    here = batch.to_numpy("a batch without weight")
    after, clustering = native.step(here, state, penalties, orders, elapsed, DEFAULT)
    if isinstance(batch, Batch):
        return after, clustering
    fields = (clustering.ids, clustering.counts, clustering.centers, clustering.cost)
    labels = batch.deliver(cp.asarray(clustering.labels))
    trace = clustering.cost_trace
    return after, Clustering(labels, *fields, clustering.n_iter, trace, clustering.execution)


@contextmanager
def _on_device(batch: Batch | GpuBatch) -> Iterator[tuple[Blocks, Any]]:
    """Give rows and weights that kernels can read until the end."""
    if isinstance(batch, GpuBatch):
        yield Blocks(batch.points), batch.weights
        return
    weights = None if batch.weights is None else to_device(batch.weights)
    if batch.there is not None:
        yield Blocks(batch.there), weights
    else:
        with rows_for_device(batch.points) as blocks:
            yield blocks, weights


def _deliver(batch: Batch | GpuBatch, labels: Any) -> Any:
    return batch.deliver(labels) if isinstance(batch, GpuBatch) else to_memory(labels)


def _name_clusters(found: Found, ids: IntArray, labels: Any, *, is_counted: bool) -> Clustering:
    """Keep the slots that were seen, under their identities."""
    seen = found.counts > 0
    counts = found.counts[seen]
    return Clustering(
        labels=labels,
        ids=ids[seen],
        counts=counts.astype(np.int64) if is_counted else counts,
        centers=found.centers[seen],
        cost=found.cost_trace[-1],
        n_iter=len(found.cost_trace),
        cost_trace=np.array(found.cost_trace),
        execution="gpu",
    )
