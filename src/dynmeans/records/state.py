"""What is remembered between batches (C_t), and what one batch yields (K_t, Z_t, L_t)."""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.cluster_rows import (
    ClusterRows,
    check_cluster_arrays,
    check_velocities,
    freeze_arrays,
)

_ARRAYS = ("ids", "centers", "weights", "ages", "counts")
_COURSES = ("velocities", "velocity_covariances")


@dataclass(frozen=True, slots=True, eq=False)
class ClusterState(ClusterRows):
    """The remembered clusters as arrays, one row each, in order of their IDs (C_t of [1]_).

    The arrays are read-only copies: a state is a value.

    Attributes
    ----------
    ids : IntArray of shape (n_clusters,)
        ID of each cluster; never reused.
    centers : FloatArray of shape (n_clusters, n_features)
        theta. Position in the last batch in which the cluster was active.
    weights : FloatArray of shape (n_clusters,)
        w. Confidence in that position, in units of observations.
    ages : FloatArray of shape (n_clusters,)
        dt as the next batch will see it if it comes one step later; 1 means seen in the
        last batch.
    next_id : int
        ID of the next new cluster.
    n_steps : int
        t. Number of batches so far, empty ones included.
    counts : FloatArray of shape (n_clusters,)
        n in that batch, in observations. Default: `weights`.
    time : float
        Steps of time so far: the sum of all `elapsed`.
    velocities : FloatArray of shape (n_clusters, n_features), optional
        v. Distance per step; None for random walks.
    velocity_covariances : FloatArray of shape (n_clusters, 2), optional
        P12 and P22. Covariance of position and velocity, and variance of velocity, of each axis in
        units of the noise; None for random walks.

    See Also
    --------
    Clustering : The result of one batch.
    Memory : The state with its space, penalties and seed.
    step : Takes a state and returns the next one.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

    Examples
    --------
    >>> state = ClusterState.empty(n_features=2)
    >>> state.n_clusters, state.n_features, state.next_id
    (0, 2, 0)
    """

    ids: IntArray
    centers: FloatArray
    weights: FloatArray
    ages: FloatArray
    next_id: int
    n_steps: int = 0
    counts: FloatArray = None  # type: ignore[assignment]
    time: float = 0.0
    velocities: FloatArray | None = None
    velocity_covariances: FloatArray | None = None

    def __post_init__(self) -> None:
        """Copy the arrays, freeze them and check what every other part relies on."""
        if self.counts is None:
            object.__setattr__(self, "counts", self.weights)
        freeze_arrays(self, _ARRAYS)
        check_cluster_arrays(self, _ARRAYS)
        if self.velocities is not None or self.velocity_covariances is not None:
            freeze_arrays(self, _COURSES)
            check_velocities(self)

    @classmethod
    def empty(cls, n_features: int) -> "ClusterState":
        """C_1: nothing is remembered before the first batch."""
        return _empty(n_features)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle: arrays off a network may not be aligned."""
        return ClusterState, tuple(getattr(self, field.name) for field in fields(self))


@lru_cache(maxsize=64, typed=True)  # a value: one for all who begin
def _empty(n_features: int) -> ClusterState:
    nothing = np.empty(0)
    return ClusterState(nothing.astype(np.int64), np.empty((0, n_features)), nothing, nothing, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The result of one batch: labels, active clusters and cost (Z_t, K_t and L_t of the paper).

    Attributes
    ----------
    labels : IntArray of shape (n_points,)
        z. Cluster ID of each point; -1 only for a point of weight 0 that would start a new
        cluster. A Dask array for a Dask batch.
    ids : IntArray of shape (n_active,)
        IDs of the active clusters, in increasing order.
    counts : array of shape (n_active,)
        n. Points of each, as integers; their total weight, as floats, if weights were given.
    centers : FloatArray of shape (n_active, n_features)
        theta. Positions in this batch.
    cost : float
        L_t with the visiting order of lowest cost.
    n_iter : int
        Number of passes with that order.
    cost_trace : FloatArray of shape (n_iter,)
        L_t after every pass; it never rises.
    execution : str
        Backend: "native", "reference", "gpu" or "dask". The result is the same.

    See Also
    --------
    step : Returns it with the next state.
    ClusterState : The remembered clusters after the batch.

    Examples
    --------
    >>> from dynmeans import ClusterState, Penalties, VisitingOrders, step
    >>> state = ClusterState.empty(n_features=1)
    >>> penalties = Penalties(1.0, max_gap=5, reach=1.5)
    >>> orders = VisitingOrders(0, 1)
    >>> state, clustering = step([[0.0], [0.2], [9.0]], state, penalties, orders=orders)
    >>> clustering.labels.tolist(), clustering.counts.tolist()
    ([1, 1, 0], [1, 2])
    """

    labels: IntArray
    ids: IntArray
    counts: IntArray | FloatArray
    centers: FloatArray
    cost: float
    n_iter: int
    cost_trace: FloatArray
    execution: str = "reference"

    def __post_init__(self) -> None:
        """Freeze the arrays: what happened cannot be changed afterwards."""
        for array in (self.labels, self.ids, self.counts, self.centers, self.cost_trace):
            if isinstance(array, np.ndarray):  # Labels on a cluster are never written to.
                array.setflags(write=False)
