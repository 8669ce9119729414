"""The specification itself, as a backend."""

from dynmeans.algorithm import dynamic_means
from dynmeans.algorithm import predict_labels as rule
from dynmeans.engine.batch import Batch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.orders import Orders, depth_of, list_orders
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


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
    depth = depth_of(orders, search)
    return dynamic_means.step(rows, state, penalties, listed, elapsed, batch.weights, depth)


def predict_labels(
    points: BatchArray,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float = 0.0,
    execution: Execution = DEFAULT,
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point, one after the other."""
    return rule.predict_labels(points, state, penalties, elapsed)
