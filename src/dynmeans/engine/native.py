"""Prepares arrays and calls the compiled module."""

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Any, cast

import numpy as np

from dynmeans.algorithm.motion import moving_factors, moving_features
from dynmeans.engine import blas
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import INSTRUCTION_SET, compiled
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.orders import Orders
from dynmeans.engine.threads import choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import SEARCHES, VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

# What compiled code makes and reads without their constructors.
_RECORDS = (ClusterState, Clustering, Penalties, VisitingOrders)
_dtype_of = attrgetter("dtype")
_FEWEST_FOR_BLAS = blas.FEW_POINTS * blas.FEW_FEATURES


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
        None if penalties.motion == "still" else moving_factors(penalties.moving, points.shape[1]),
        elapsed,
        SEARCHES.index(search),
        is_accelerated,
        n_threads,
        sgemm,
        _RECORDS,
    )
    if sgemm is None:
        return cast(tuple[ClusterState, Clustering], compiled.step(*arguments))
    with blas.one_thread():
        return cast(tuple[ClusterState, Clustering], compiled.step(*arguments))


def _means(points: BatchArray, execution: Execution) -> tuple[int, Any]:
    """Return how many threads work on the points, and BLAS where it is of use."""
    size, n_threads = points.size, execution.n_threads
    has_blas = size >= _FEWEST_FOR_BLAS and execution.acceleration == "auto"
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
        points, weights, orders, state, penalties, elapsed, SEARCHES.index(search), _RECORDS
    )
    return stepped  # type: ignore[no-any-return]


def quick_follower(*records: Any) -> Any:
    """Return a function of a memory, points and elapsed that follows a small batch in one crossing.

    `records` are the classes of a follower's memory, step and lives, and when it has to count
    lives or to warn of many clusters; the function returns None where anything needs more.
    """
    return partial(compiled.follow_if_small, _RECORDS, records)


def predict_labels(
    points: BatchArray,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float = 0.0,
    execution: Execution = DEFAULT,
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point `elapsed` steps later, changing nothing."""
    moving = moving_features(penalties, state.n_features)
    is_accelerated = execution.acceleration == "auto"
    n_threads, sgemm = _means(points, execution)
    rule: Any = (points, state, penalties, moving, elapsed, is_accelerated)
    rule += (n_threads, sgemm, _RECORDS)
    if sgemm is None:
        return compiled.predict(*rule)
    with blas.one_thread():
        return compiled.predict(*rule)


class KeptSteps(Sequence[tuple[ClusterState, Clustering]]):
    """Steps of a sequence, whose records are made when they are looked at.

    Attributes
    ----------
    labels : list of IntArray
        Those of every batch.
    most_clusters : int
        The most clusters that were remembered after any of them.
    lives : tuple of FloatArray and IntArray of shape (n_identities,)
        Points and batches of each identity from 0 on.
    """

    __slots__ = ("_kept", "labels", "lives", "most_clusters")

    def __init__(self, found: Any) -> None:
        self.labels, self.most_clusters, self.lives, self._kept = found

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.labels)

    def __getitem__(self, number: Any) -> Any:
        """Return the state after a step, and its clustering."""
        return compiled.sequence_records(self._kept, number % len(self.labels), _RECORDS)

    def __iter__(self) -> Iterator[tuple[ClusterState, Clustering]]:
        """Go through the steps."""
        return (self[number] for number in range(len(self.labels)))


def sequence(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution,
) -> KeptSteps:
    """Cluster a sequence of small batches from nothing, without coming back in between."""
    arguments: Any = _sequence_arguments(batches, penalties, orders, elapsed, execution)
    return KeptSteps(compiled.sequence(*arguments))


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
    if len(set(map(_dtype_of, rows))) > 1:
        rows = [points.astype(np.float64, copy=False) for points in rows]
    n_threads = execution.n_threads
    if n_threads is None:
        most = max(map(len, rows), default=0)
        n_threads = choose_n_threads(most * batches[0].n_features if rows else 0)
    return (
        rows,
        [batch.weights for batch in batches],
        np.array(elapsed, dtype=np.float64),
        penalties,
        moving_features(penalties, batches[0].n_features) if batches else None,
        execution.is_accelerated,
        n_threads,
        orders.entropy,
        orders.n_init,
        orders.depth,
        _RECORDS,
    )
