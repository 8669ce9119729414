"""Many batches from nothing: small ones all at once in compiled code, others one by one."""

from collections.abc import Iterator, Sequence

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
    small = [b for b in batches if isinstance(b, Batch) and b.n_points <= _SMALL_BATCH]
    state = ClusterState.empty(batches[0].n_features)
    is_plain = execution.backend == "native" and execution.max_clusters is None
    if is_plain and orders.by == "content" and len(small) == len(batches):
        for stepped in native.sequence(small, penalties, orders, elapsed, execution):
            check_growth(state, stepped[0], None)
            state = stepped[0]
            yield stepped
        return
    for batch, gap in zip(batches, elapsed, strict=True):
        state, clustering = step_batch(batch, state, penalties, orders, gap, execution)
        yield state, clustering


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
