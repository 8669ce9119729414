"""Algorithm 2, Cluster: alternate labels and parameters until the cost stops falling."""

import math
from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.assign_labels import UNLABELED, assign_labels
from dynmeans.algorithm.assign_params import assign_params
from dynmeans.algorithm.cost import clustering_cost
from dynmeans.algorithm.sphere import follow_points
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

NO_FALL = 1e-12  # A relative fall or rise of the cost below this counts as none.


@dataclass(frozen=True, slots=True)
class Solution:
    """One run of Algorithm 2, by slot: remembered clusters first, then new ones by birth."""

    labels: IntArray
    counts: FloatArray
    centers: FloatArray
    cost_trace: list[float]

    @property
    def cost(self) -> float:
        """L_t after the last pass."""
        return self.cost_trace[-1]


def has_risen(cost_trace: list[float]) -> bool:
    """Whether the last pass raised the cost, which takes points that weigh less than 1 (0004)."""
    return len(cost_trace) > 1 and cost_trace[-2] < cost_trace[-1] * (1.0 - NO_FALL)


def cluster(
    points: FloatArray,
    point_weights: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
) -> Solution:
    """Cluster one batch given what is remembered from earlier batches."""
    nothing = Solution(np.full(len(points), UNLABELED), np.empty(0), state.centers, [])
    return run_passes(points, point_weights, state, penalties, order, nothing)


def run_passes(
    points: FloatArray,
    point_weights: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
    start: Solution,
    most: float = math.inf,
) -> Solution:
    """Alternate labels and parameters from a start on, until the cost stops falling.

    Or until its trace has this many entries.
    """
    before = start
    while True:
        if penalties.is_on_sphere and not before.cost_trace:
            labels = follow_points(points, point_weights, state, penalties, order)
        else:
            labels = assign_labels(points, before.labels, before.centers, state, penalties, order)
        counts, centers = assign_params(points, point_weights, labels, state, penalties)
        cost = clustering_cost(points, point_weights, labels, counts, centers, state, penalties)
        cost_trace = [*before.cost_trace, cost]
        fell = not before.cost_trace or cost < before.cost * (1.0 - NO_FALL)
        if has_risen(cost_trace):
            return before
        after = Solution(labels, counts, centers, cost_trace)
        if not fell or np.array_equal(labels, before.labels) or len(cost_trace) == most:
            return after
        before = after
