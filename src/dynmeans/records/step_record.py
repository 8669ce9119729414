"""StepRecord: labels, centers, cost and events of one batch."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynmeans.inputs.batch_times import When
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.state import Clustering, ClusterState

EventFinder = Callable[[ClusterState, float, Clustering, ClusterState], list[Event]]


@dataclass(frozen=True, slots=True, eq=False)
class StepRecord:
    """One batch.

    Attributes
    ----------
    step : int
        Number of the batch, from 0.
    time : float
        Steps of time taken in, the batch's own `elapsed` included.
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
    when: When | None = None
    velocities: FloatArray | None = None

    @property
    def cost(self) -> float:
        """L_t of the batch."""
        return float(self.cost_trace[-1])

    @property
    def n_iter(self) -> int:
        """Passes over the batch."""
        return len(self.cost_trace)


def make_record(
    before: ClusterState,
    elapsed: float,
    clustering: Clustering,
    after: ClusterState,
    find_events: EventFinder,
    when: When | None = None,
) -> StepRecord:
    """Return the record of the batch that came `elapsed` steps after `before`."""
    rows = np.searchsorted(after.ids, clustering.ids)
    velocities = None if after.velocities is None else after.velocities[rows]
    was_known = np.isin(clustering.ids, before.ids)
    ages = np.zeros(len(clustering.ids))
    known_rows = np.searchsorted(before.ids, clustering.ids[was_known])
    ages[was_known] = before.ages[known_rows] - 1.0 + elapsed
    return StepRecord(
        step=before.n_steps,
        time=after.time,
        labels=clustering.labels,
        ids=clustering.ids,
        counts=np.asarray(clustering.counts, dtype=np.float64),
        centers=clustering.centers,
        weights=after.weights[rows],
        ages=ages,
        cost_trace=np.asarray(clustering.cost_trace),
        n_remembered=after.n_clusters,
        events=tuple(find_events(before, elapsed, clustering, after)),
        when=when,
        velocities=velocities,
    )
