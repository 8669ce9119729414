"""DP-Means: Dynamic Means on one batch with nothing remembered."""

import numpy as np
import numpy.typing as npt

from dynmeans.engine.step import step
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def dp_means(
    points: npt.ArrayLike,
    new_penalty: float,
    *,
    orders: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    backend: str = "native",
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch by itself; identities count from 0.

    Examples
    --------
    >>> _, found = dp_means([[0.0], [0.4], [9.0]], 1.0, orders=[[0, 1, 2]])
    >>> found.labels.tolist(), found.centers.tolist()
    ([0, 0, 1], [[0.2], [9.0]])
    """
    rows = np.asarray(points)
    return step(
        rows,
        ClusterState.empty(rows.shape[1] if rows.ndim == 2 else 0),
        dp_means_penalties(new_penalty),
        orders=orders,
        sample_weight=sample_weight,
        backend=backend,
    )


def dp_means_penalties(new_penalty: float) -> Penalties:
    """Return penalties whose memory is never used: with one batch, Q and tau play no part."""
    return Penalties(new_penalty, revival_penalty=0.0, drift=0.0)
