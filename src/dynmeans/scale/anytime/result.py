"""What is known after a batch of an any-time clustering."""

from dataclasses import dataclass

import numpy.typing as npt

from dynmeans.engine.predict import predict_labels
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import dp_means_penalties
from dynmeans.records.state import ClusterState


@dataclass(frozen=True, slots=True, eq=False)
class AnytimeResult:
    """A usable clustering, and an estimate of how good it is.

    Attributes
    ----------
    state : ClusterState
        The clusters found so far; `state.save(path)` writes them to a file.
    new_penalty : float
        lambda.
    cost : float
        Estimate of the DP-Means cost of all rows, divided by their number: the mean over the
        held-out sample of the squared distance to the nearest center, at most lambda, and lambda
        for each cluster, shared by all rows.
    cost_error : float
        Standard error of `cost`, for the sample is one of many.
    n_batches, n_points : int
        Batches and rows taken in so far.
    seconds : float
        Time of work so far: reading, clustering and estimating.
    stopped_by : str or None
        What ended the run: "time_limit", "max_batches" or "no_gain", or "end_of_source" for an
        iterator; None while it goes on.
    """

    state: ClusterState
    new_penalty: float
    cost: float
    cost_error: float
    n_batches: int
    n_points: int
    seconds: float
    stopped_by: str | None = None

    @property
    def centers(self) -> FloatArray:
        """theta, one row for each cluster."""
        return self.state.centers

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.state.n_clusters

    def predict(self, points: npt.ArrayLike) -> IntArray:
        """Give the cluster of each row, -1 where all are farther than lambda."""
        return predict_labels(points, self.state, dp_means_penalties(self.new_penalty))[0]
