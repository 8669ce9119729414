"""What happened, batch by batch."""

from dataclasses import dataclass, field

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.state import Clustering, ClusterState


@dataclass(frozen=True, slots=True, eq=False)
class StepRecord:
    """One batch: what was seen in it, and what is remembered after it.

    Attributes
    ----------
    time : float
        Steps of time since before the first batch.
    clustering : Clustering
        Labels of the rows, active clusters, cost of every pass.
    state : ClusterState
        Every remembered cluster after the batch.
    """

    time: float
    clustering: Clustering
    state: ClusterState


@dataclass(slots=True, eq=False)
class History:
    """The record of a sequence of batches, oldest first."""

    steps: list[StepRecord] = field(default_factory=list)

    def append(self, elapsed: float, clustering: Clustering, state: ClusterState) -> None:
        """Add the batch that came `elapsed` steps after the last one."""
        before = self.steps[-1].time if self.steps else 0.0
        self.steps.append(StepRecord(before + elapsed, clustering, state))

    @property
    def labels(self) -> list[IntArray]:
        """Identities of the rows of every batch."""
        return [step.clustering.labels for step in self.steps]

    @property
    def costs(self) -> list[float]:
        """L_t of every batch."""
        return [step.clustering.cost for step in self.steps]

    def track(self, cluster_id: int) -> tuple[list[float], list[FloatArray]]:
        """Times at which a cluster was seen, and its centers then."""
        times, centers = [], []
        for step in self.steps:
            for row in (step.clustering.ids == cluster_id).nonzero()[0]:
                times.append(step.time)
                centers.append(step.clustering.centers[row])
        return times, centers
