"""The label rule (Eq. 5) for points that change nothing: which cluster would take them?"""

from dataclasses import replace

import numpy as np

from dynmeans.algorithm.assign_labels import UNLABELLED, revival_costs
from dynmeans.algorithm.sums import squared_distances
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def predict_labels(
    points: BatchArray, state: ClusterState, penalties: Penalties
) -> tuple[IntArray, FloatArray]:
    """Return each point's cheapest identity and its cost J, as of the last batch.

    Clusters seen in that batch count as active, the others as remembered. Where a new cluster
    would be cheaper the label is -1 and the cost is lambda.
    """
    is_active = state.ages == 1.0
    dormant = revival_costs(replace(state, ages=_time_unseen(state)), penalties)
    offsets = np.where(is_active, 0.0, dormant.offsets)
    scales = np.where(is_active, 1.0, dormant.scales)

    labels = np.full(len(points), UNLABELLED)
    lowest = np.full(len(points), penalties.new_penalty)
    for i, y in enumerate(points):
        costs = offsets + scales * squared_distances(y, state.centers)
        if len(costs) and costs.min() <= penalties.new_penalty:
            k = int(np.argmin(costs))
            labels[i], lowest[i] = state.ids[k], costs[k]
    return labels, lowest


def _time_unseen(state: ClusterState) -> FloatArray:
    """dt as of the last batch; clusters seen in it keep 1, which is not used."""
    return np.where(state.ages > 1.0, state.ages - 1.0, 1.0)
