"""Centers on the unit sphere: for points of length 1 that are compared by their cosine.

The cost L_t stays that of the paper, with centers of length 1. Three rules differ from the plain
algorithm, and the cost still falls in every later pass (Theorem 1):

- AssignParams. With S = sum of w y, a cluster costs a constant less 2 theta (S + gamma theta_old).
  Over vectors of length 1 that is lowest for theta = (S + gamma theta_old) / |S + gamma theta_old|,
  so new centers never raise the cost. If the sum is zero, every theta costs the same.
- Revival. A remembered cluster is revived at theta_old, for Q dt + |y - theta_old|^2, without the
  discount of Eq. 5. That is what L_t rises by, since the cluster is not displaced; so a point that
  chooses it lowers the cost by what it saves. With the discount a small old cluster would be
  cheaper for an unrelated point than a new one, and be used again for strangers.
- First pass. Each center follows its points: a sum that the next point is compared with. Before
  the first pass there is no cost that could rise. In later passes centers stand still.
"""

import numpy as np

from dynmeans.algorithm.assign_labels import UNLABELED, revival_costs
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.sums import on_sphere, squared_distances
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def follow_points(
    points: FloatArray,
    point_weights: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
) -> IntArray:
    """Give each point the slot that is cheapest as its turn comes: the first pass.

    The center of a cluster is gamma theta_old + sum of w y so far, at length 1. Ties go as in
    `assign_labels`.
    """
    labels = np.full(len(points), UNLABELED)
    centers, offsets = state.centers.copy(), revival_costs(state, penalties).offsets.copy()
    sums = prior_weights(state, penalties)[:, None] * state.centers
    for i in order:
        y = points[i]
        costs = offsets + squared_distances(y, centers)
        k = int(np.argmin(costs)) if len(costs) else UNLABELED
        if k == UNLABELED or costs[k] > penalties.new_penalty:
            k = len(centers)
            centers, sums = np.vstack([centers, y]), np.vstack([sums, np.zeros_like(y)])
            offsets = np.append(offsets, 0.0)
        sums[k] = sums[k] + point_weights[i] * y
        centers[k], offsets[k] = on_sphere(sums[k : k + 1])[0], 0.0
        labels[i] = k
    return labels
