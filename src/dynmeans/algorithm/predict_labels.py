"""The label rule (Eq. 5) for points that change nothing: which cluster would take them?"""

import numpy as np

from dynmeans.algorithm.assign_labels import UNLABELED, revival_costs
from dynmeans.algorithm.motion import predict_state
from dynmeans.algorithm.sums import squared_distances
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def predict_labels(
    points: BatchArray, state: ClusterState, penalties: Penalties, elapsed: float = 0.0
) -> tuple[IntArray, FloatArray]:
    """Return each point's cheapest identity and its cost J, `elapsed` steps after the last batch.

    At the time of that batch, clusters seen in it count as active, the others as remembered; later,
    all are remembered. Where a new cluster would be cheaper the label is -1 and the cost lambda.
    """
    is_active = (state.ages == 1.0) & (elapsed == 0.0)
    expected = predict_state(state, _time_unseen(state, elapsed), penalties)
    dormant = revival_costs(expected, penalties)
    centers = np.where(is_active[:, None], state.centers, expected.centers)
    offsets = np.where(is_active, 0.0, dormant.offsets)
    scales = np.where(is_active, 1.0, dormant.scales)

    labels = np.full(len(points), UNLABELED)
    lowest = np.full(len(points), penalties.new_penalty)
    for i, y in enumerate(points):
        costs = offsets + scales * squared_distances(y, centers)
        if len(costs) and costs.min() <= penalties.new_penalty:
            k = int(np.argmin(costs))
            labels[i], lowest[i] = state.ids[k], costs[k]
    return labels, lowest


def _time_unseen(state: ClusterState, elapsed: float) -> FloatArray:
    """dt at that time; clusters seen in the last batch keep 1 there, which is not used."""
    if elapsed > 0.0:
        return state.ages - 1.0 + elapsed
    return np.where(state.ages > 1.0, state.ages - 1.0, 1.0)
