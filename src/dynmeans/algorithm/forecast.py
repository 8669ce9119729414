"""Where remembered clusters are expected, and from how far a point would still be theirs."""

from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.update_state import advance_time
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Where clusters are expected, one row each.

    Attributes
    ----------
    ids : IntArray of shape (n_clusters,)
        Identities.
    centers : FloatArray of shape (n_clusters, n_features)
        theta + v dt. Expected places.
    radii : FloatArray of shape (n_clusters,)
        Distance at which reviving the cluster costs as much as a new one; 0 where it cannot be
        revived any more.
    """

    ids: IntArray
    centers: FloatArray
    radii: FloatArray


def forecast(state: ClusterState, elapsed: float, penalties: Penalties) -> Forecast:
    """Look `elapsed` steps ahead: solve Q dt + scale r^2 = lambda for r."""
    arrived = advance_time(state, elapsed, penalties)
    costs = revival_costs(arrived, penalties)
    left = np.maximum(penalties.new_penalty - costs.offsets, 0.0)
    return Forecast(arrived.ids, arrived.centers, np.sqrt(left / costs.scales))
