"""The specification itself, as a backend."""

from dynmeans.algorithm import dynamic_means
from dynmeans.algorithm.predict_labels import predict_labels
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import Execution
from dynmeans.engine.orders import Orders, is_deep, list_orders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

__all__ = ["predict_labels", "step"]


def step(
    batch: Batch,
    state: ClusterState,
    penalties: Penalties,
    orders: Orders,
    elapsed: float,
    execution: Execution,
    search: str = "paper",
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch slowly; there is one way to do that, and one thread."""
    rows = batch.points.astype(float, copy=False)
    listed = list_orders(orders, batch, state.n_steps)
    deep = is_deep(orders, search)
    return dynamic_means.step(rows, state, penalties, listed, elapsed, batch.weights, deep)
