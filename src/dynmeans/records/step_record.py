"""StepRecord: labels, centers, cost and events of one batch."""

from dataclasses import dataclass

from dynmeans.inputs.batch_times import BatchTime
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event


@dataclass(frozen=True, slots=True, eq=False)
class StepRecord:
    """One batch.

    Attributes
    ----------
    step : int
        Number of the batch, from 0.
    time : float
        Steps so far, the batch's own `elapsed` included.
    labels : IntArray of shape (n_points,)
        Identity of each row.
    ids, counts, centers, weights, ages : arrays with one row for each cluster seen
        Identity, n, theta and w after the batch, and dt when it came (0 for a new cluster).
    cost_trace : FloatArray
        L_t after every pass.
    n_remembered : int
        Clusters in memory after the batch, seen or not.
    events : tuple of Event
        What happened to the clusters.
    when : datetime, float or str, optional
        Date or name of the batch, where the batches came with any.
    velocities : FloatArray of shape (n_clusters, n_features), optional
        How far each cluster seen moves in a step of time; None where they keep no course.
    """

    step: int
    time: float
    labels: IntArray
    ids: IntArray
    counts: FloatArray
    centers: FloatArray
    weights: FloatArray
    ages: FloatArray
    cost_trace: FloatArray
    n_remembered: int
    events: tuple[Event, ...]
    when: BatchTime | None = None
    velocities: FloatArray | None = None

    @property
    def cost(self) -> float:
        """L_t of the batch."""
        return float(self.cost_trace[-1])

    @property
    def n_iter(self) -> int:
        """Passes over the batch."""
        return len(self.cost_trace)
