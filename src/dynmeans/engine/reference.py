"""The specification itself, as a backend."""

from dynmeans.algorithm import dynamic_means
from dynmeans.algorithm.predict_labels import predict_labels
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

__all__ = ["predict_labels", "step"]


def step(
    points: BatchArray,
    state: ClusterState,
    penalties: Penalties,
    orders: IntArray,
    elapsed: float,
    point_weights: FloatArray | None,
    revival: str,
    *,
    acceleration: str = "auto",
    n_threads: int | None = None,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch slowly; there is one way to do that, and one thread."""
    rows = points.astype(float, copy=False)
    return dynamic_means.step(rows, state, penalties, orders, elapsed, point_weights, revival)
