"""What is known after a batch of an any-time clustering."""

from dataclasses import dataclass

import numpy.typing as npt

from dynmeans.engine.batch import make_rows
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig
from dynmeans.follow.predict import predict
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class AnytimeResult:
    """A clustering of the batches so far, and an estimate of its cost.

    Attributes
    ----------
    memory : Memory
        The clusters found so far, with their space and lambda; `memory.save(path)` writes them to a
        file.
    cost : float
        Estimate of the DP-Means cost of all rows, divided by their number: the mean over the
        held-out sample of the squared distance to the nearest center, at most lambda, and lambda
        for each cluster, shared by all rows.
    cost_stderr : float
        Standard error of `cost`, from the size of the sample.
    n_batches, n_points : int
        Number of batches and rows so far.
    seconds : float
        Time of work so far: reading, clustering and estimating.
    stop_reason : str or None
        What ended the run: "time_limit", "max_batches" or "no_gain", or "end_of_source" for an
        iterator; None while the run continues.

    See Also
    --------
    fit_anytime : Returns the last one.
    dynmeans.anytime.iter_anytime : Yields one after every batch.
    """

    memory: Memory
    cost: float
    cost_stderr: float
    n_batches: int
    n_points: int
    seconds: float
    stop_reason: str | None = None

    @property
    def centers(self) -> FloatArray:
        """theta, one row for each cluster, in the units of the rows."""
        return self.memory.centers

    @property
    def new_penalty(self) -> float:
        """lambda, in the unit of the space."""
        assert self.memory.penalties is not None, "settled before the first batch"
        return self.memory.penalties.new_penalty

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.memory.clusters.n_clusters

    def predict(self, points: npt.ArrayLike) -> IntArray:
        """Give the cluster of each row, -1 where all are farther than lambda."""
        rows = make_rows(points, self.memory.n_features)
        labels: IntArray = predict(ModelConfig(space=self.memory.space), self.memory, rows)[0]
        return labels
