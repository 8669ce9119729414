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
    """C_t: every remembered cluster, one row each, oldest identity first.

    The arrays are copied in and read-only: a state is a value.

    Attributes
    ----------
    ids : IntArray of shape (n_clusters,)
        Identity of each cluster for life; never reused.
    centers : FloatArray of shape (n_clusters, n_features)
        theta. Position when last seen.
    weights : FloatArray of shape (n_clusters,)
        w. Confidence in that position, in units of observations.
    ages : FloatArray of shape (n_clusters,)
        dt as the next batch will see it if it comes one step later; 1 means seen in the
        last batch.
    next_id : int
        Identity the next new cluster will get.
    n_steps : int
        t. Batches taken in so far, empty ones included.
    counts : FloatArray of shape (n_clusters,)
        n when last seen, in observations; the weights where it is not given.
    time : float
        Steps of time so far: the sum of all `elapsed`.
    velocities : FloatArray of shape (n_clusters, n_features), optional
        v. Distance a step when last seen; None where clusters keep no course.
    velocity_covariances : FloatArray of shape (n_clusters, 2), optional
        P12 and P22. Covariance of position and velocity, and variance of velocity, of each axis in
        units of the noise; None where clusters keep no course.

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
    """One batch clustered: K_t, Z_t and L_t.

    Attributes
    ----------
    labels : IntArray of shape (n_points,)
        z. Identity of each point's cluster. -1 only for a point of weight 0 that no cluster
        would take. A Dask array in the chunks of the batch, where that was on a cluster.
    ids : IntArray of shape (n_active,)
        Identities of the clusters seen in this batch, in increasing order.
    counts : array of shape (n_active,)
        n. Points of each, as integers; their total weight, as floats, if weights were given.
    centers : FloatArray of shape (n_active, n_features)
        theta. Positions in this batch.
    cost : float
        L_t of the restart that was kept.
    n_iter : int
        Passes that restart made over the batch.
    cost_trace : FloatArray of shape (n_iter,)
        L_t after every pass; it never rises.
    execution : str
        What ran the step: "native", "reference", "gpu" or "dask". Every one gives the same bits.
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
