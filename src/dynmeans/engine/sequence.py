"""Many batches from nothing: small ones all at once in compiled code, others one by one."""

from collections.abc import Iterator, Sequence
from typing import cast

from dynmeans.engine import native
from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.guard import check_growth
from dynmeans.engine.step import step_batch
from dynmeans.records.arrays import IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

_SMALL_BATCH = 20_000  # Above, the time of a step makes up for coming back to Python.


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
    if kept is not None:
        for stepped in kept:
            check_growth(state, stepped[0], None)
            state = stepped[0]
            yield stepped
        return
    for batch, gap in zip(batches, elapsed, strict=True):
        state, clustering = step_batch(batch, state, penalties, orders, gap, execution)
        yield state, clustering


def small_sequence(
    batches: Sequence[AnyBatch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
    execution: Execution = DEFAULT,
) -> native.KeptSteps | None:
    """Cluster small batches all at once in compiled code; None where one is large or elsewhere."""
    is_plain = execution.backend == "native" and execution.max_clusters is None
    if not is_plain or orders.by != "content":
        return None
    if set(map(type, batches)) != {Batch}:
        return None
    small = cast(Sequence[Batch], batches)
    if max([len(batch.points) for batch in small]) > _SMALL_BATCH:
        return None
    return native.sequence(small, penalties, orders, elapsed, execution)


def label_sequence(
    batches: Sequence[Batch],
    penalties: Penalties,
    orders: VisitingOrders,
    elapsed: Sequence[float],
) -> tuple[IntArray, int, int]:
    """As `step_sequence`, with less to show for it.

    Returns the labels of all points that weigh something, batch after batch; how many clusters
    the batches had, all together; and how many identities there were.
    """
    return native.sequence_labels(batches, penalties, orders, elapsed)
