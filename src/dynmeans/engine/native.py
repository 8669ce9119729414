"""Prepares arrays and calls the compiled module."""

from typing import Any, cast

from dynmeans.algorithm.motion import moving_factors, velocity_mask
from dynmeans.engine import blas
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.execution import DEFAULT, Execution, choose_n_threads
from dynmeans.engine.orders import Orders
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import SEARCHES, VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

# What compiled code makes and reads without their constructors.
RECORDS = (ClusterState, Clustering, Penalties, VisitingOrders)
_MIN_WORK_FOR_BLAS = blas.SMALL_N_POINTS * blas.SMALL_N_FEATURES


def step(
    batch: Batch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    execution: Execution,
    search: str = "paper",
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch and return what is remembered, and the clustering."""
    points, is_accelerated = batch.points, execution.acceleration == "auto"
    n_threads, sgemm = _means(points, execution)
    arguments: Any = (
        points,
        batch.weights,
        orders,
        state,
        penalties,
        None
        if penalties.motion == "random_walk"
        else moving_factors(penalties.moving_features, points.shape[1]),
        elapsed,
        SEARCHES.index(search),
        is_accelerated,
        n_threads,
        sgemm,
        RECORDS,
    )
    if sgemm is None:
        return cast(tuple[ClusterState, Clustering], compiled.step(*arguments))
    with blas.one_thread():
        return cast(tuple[ClusterState, Clustering], compiled.step(*arguments))


def _means(points: BatchArray, execution: Execution) -> tuple[int, Any]:
    """Return how many threads work on the points, and BLAS where it is of use."""
    size, n_threads = points.size, execution.n_threads
    has_blas = size >= _MIN_WORK_FOR_BLAS and execution.acceleration == "auto"
    sgemm = blas.sgemm_for(points) if has_blas else None
    return choose_n_threads(size) if n_threads is None else n_threads, sgemm


def step_if_small(
    points: Any,
    weights: Any,
    state: ClusterState,
    penalties: Penalties,
    orders: Any,
    elapsed: Any,
    search: str = "paper",
) -> tuple[ClusterState, Clustering] | None:
    """Check and cluster a small batch in one crossing; None where anything needs more than that."""
    stepped: Any = compiled.step_if_small(
        points, weights, orders, state, penalties, elapsed, SEARCHES.index(search), RECORDS
    )
    return stepped  # type: ignore[no-any-return]


def predict_labels(
    points: BatchArray,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float = 0.0,
    execution: Execution = DEFAULT,
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point `elapsed` steps later, changing nothing."""
    moving = velocity_mask(penalties, state.n_features)
    is_accelerated = execution.acceleration == "auto"
    n_threads, sgemm = _means(points, execution)
    rule: Any = (points, state, penalties, moving, elapsed, is_accelerated)
    rule += (n_threads, sgemm, RECORDS)
    if sgemm is None:
        return compiled.predict(*rule)
    with blas.one_thread():
        return compiled.predict(*rule)
