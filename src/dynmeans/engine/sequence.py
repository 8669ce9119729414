"""Many batches from nothing: small ones all at once in compiled code, others one by one."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from dynmeans.algorithm.motion import velocity_mask
from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.compiled import compiled
from dynmeans.engine.execution import DEFAULT, Execution, choose_n_threads
from dynmeans.engine.guard import check_growth
from dynmeans.engine.native import RECORDS
from dynmeans.engine.step import step_batch
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

_SMALL_BATCH = 20_000  # Above, the time of a step makes up for coming back to Python.


class SmallSteps:
    """Steps of a sequence of small batches; their records are made when they are looked at."""

    def __init__(self, found: Any) -> None:
        # Labels of every batch; the most clusters that were remembered after any of them; points
        # and batches of each identity from 0 on.
        self.labels, self.most_clusters, self.lifetimes, self._kept = found

    def __getitem__(self, number: int) -> tuple[ClusterState, Clustering]:
        """Return the state after a step, and its clustering."""
        found: Any = compiled.sequence_records(self._kept, number % len(self.labels), RECORDS)
        return found  # type: ignore[no-any-return]


def step_sequence(
    batches: Sequence[AnyBatch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution = DEFAULT,
) -> Iterator[tuple[ClusterState, Clustering]]:
    """Cluster the batches one after the other, from nothing; the same bits as step by step."""
    state = ClusterState.empty(batches[0].n_features)
    kept = small_sequence(batches, penalties, orders, elapsed, execution)
    for t, (batch, gap) in enumerate(zip(batches, elapsed, strict=True)):
        if kept is None:
            stepped = step_batch(batch, state, penalties, orders, gap, execution)
        else:
            stepped = kept[t]
            check_growth(state, stepped[0], None)
        state = stepped[0]
        yield stepped


def small_sequence(
    batches: Sequence[AnyBatch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution = DEFAULT,
) -> SmallSteps | None:
    """Cluster small batches all at once in compiled code; None where one is large or elsewhere."""
    is_plain = execution.backend == "native" and execution.max_clusters is None
    if not is_plain or set(map(type, batches)) != {Batch}:
        return None
    small = cast(Sequence[Batch], batches)
    if max([len(batch.points) for batch in small]) > _SMALL_BATCH:
        return None
    return SmallSteps(compiled.sequence(*_arguments(small, penalties, orders, elapsed, execution)))


def label_sequence(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
) -> tuple[IntArray, int, int]:
    """As `step_sequence`: labels of points that weigh something, clusters of all batches, ids."""
    return compiled.sequence_labels(*_arguments(batches, penalties, orders, elapsed, DEFAULT))


def _arguments(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution,
) -> Any:
    rows = [batch.points for batch in batches]
    if len({points.dtype for points in rows}) > 1:
        rows = [points.astype(np.float64, copy=False) for points in rows]
    n_features = rows[0].shape[1]
    return (
        rows,
        [batch.weights for batch in batches],
        np.array(elapsed, dtype=np.float64),
        penalties,
        velocity_mask(penalties, n_features),
        execution.is_accelerated,
        execution.n_threads or choose_n_threads(max(map(len, rows)) * n_features),
        orders.seed,
        orders.n_init,
        orders.depth,
        RECORDS,
    )
