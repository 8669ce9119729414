"""Prepares arrays and calls the compiled module."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dynmeans.algorithm.motion import moving_factors, moving_features
from dynmeans.engine import blas
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import INSTRUCTION_SET, compiled
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.orders import Orders
from dynmeans.engine.threads import choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

_new_record: Any = compiled.new_record
_CLUSTERING_FIELDS = tuple(getattr(Clustering, name) for name in Clustering.__slots__)
_STATE_FIELDS = tuple(getattr(ClusterState, name) for name in ClusterState.__slots__)


def instruction_set() -> str:
    """Name the instruction set of the module in use."""
    return INSTRUCTION_SET


def step(
    batch: Batch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    execution: Execution,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch and return what is remembered, and the clustering."""
    points, n_threads = batch.points, execution.n_threads
    is_accelerated = execution.is_accelerated
    sgemm = blas.sgemm_for(points) if is_accelerated else None
    call, visits = _how_to_visit(orders, state.n_steps)
    arguments: Any = (
        points,
        batch.weights,
        *visits,
        state.ids,
        state.centers,
        state.weights,
        state.ages,
        state.counts,
        state.next_id,
        (state.velocities, state.velocity_covariances),
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        penalties.revival == "exact",
        None if penalties.motion == "still" else moving_factors(penalties.moving, points.shape[1]),
        elapsed,
        is_accelerated,
        choose_n_threads(points.size) if n_threads is None else n_threads,
        sgemm,
    )
    if sgemm is None:
        arrays = call(*arguments)
    else:
        with blas.one_thread():
            arrays = call(*arguments)
    return _to_records(arrays, state.n_steps + 1, state.time + elapsed)


def _how_to_visit(orders: Orders, n_steps: int) -> tuple[Any, tuple[Any, ...]]:
    """Choose the compiled function and its arguments for these orders."""
    if not isinstance(orders, VisitingOrders):
        return compiled.step, (orders,)
    by_content = orders.by == "content"
    visits = (orders.entropy, n_steps, orders.n_init, by_content)
    return compiled.step_in_random_orders, visits


def predict_labels(
    points: BatchArray, state: ClusterState, penalties: Penalties, elapsed: float = 0.0
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point `elapsed` steps later, changing nothing."""
    return compiled.predict(
        points,
        state.ids,
        state.centers,
        state.weights,
        state.ages,
        (state.velocities, state.velocity_covariances),
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        penalties.revival == "exact",
        moving_features(penalties, state.n_features),
        elapsed,
    )


def sequence(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution,
) -> Iterator[tuple[ClusterState, Clustering]]:
    """Cluster a sequence of small batches from nothing, without coming back in between."""
    arguments = _sequence_arguments(batches, penalties, orders, elapsed, execution)
    time = 0.0
    for t, arrays in enumerate(compiled.sequence(*arguments)):
        time += elapsed[t]
        yield _to_records(arrays, t + 1, time)


def sequence_labels(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
) -> tuple[IntArray, int, int]:
    """As `sequence`: labels, clusters of all batches together, identities."""
    return compiled.sequence_labels(
        *_sequence_arguments(batches, penalties, orders, elapsed, DEFAULT)
    )


def _sequence_arguments(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution,
) -> Any:
    rows = [batch.points for batch in batches]
    if len({points.dtype for points in rows}) > 1:
        rows = [points.astype(np.float64, copy=False) for points in rows]
    n_threads = execution.n_threads
    if n_threads is None:
        n_threads = choose_n_threads(max((points.size for points in rows), default=0))
    return (
        rows,
        [batch.weights for batch in batches],
        np.array(elapsed, dtype=np.float64),
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        penalties.revival == "exact",
        moving_features(penalties, batches[0].n_features) if batches else None,
        execution.is_accelerated,
        n_threads,
        orders.entropy,
        orders.n_init,
    )


def _to_records(arrays: Any, n_steps: int, time: float) -> tuple[ClusterState, Clustering]:
    """Give the arrays of one step their names; they are right and read-only already."""
    (labels, ids, counts, centers, cost_trace), remembered, next_id = arrays
    cost, n_iter = cost_trace.item(-1), len(cost_trace)
    clustering = _new_record(
        Clustering, _CLUSTERING_FIELDS, (labels, ids, counts, centers, cost, n_iter, cost_trace)
    )
    ids, centers, weights, ages, counts, velocities, covariances = remembered
    state = _new_record(
        ClusterState,
        _STATE_FIELDS,
        (
            ids,
            centers,
            weights,
            ages,
            next_id,
            n_steps,
            counts,
            time,
            velocities,
            covariances,
            None,
        ),
    )
    return state, clustering
