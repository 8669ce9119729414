"""AssignParams: move every active cluster to its weighted mean (Eq. 12)."""

import numpy as np

from dynmeans.algorithm.motion import position_growth
from dynmeans.algorithm.sums import on_sphere, sum_by_slot, sum_units
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def prior_weights(state: ClusterState, penalties: Penalties) -> FloatArray:
    """gamma = 1 / (1/w + dt * tau): the confidence left after the time unseen.

    In steady motion the growth of the position's uncertainty takes the place of dt * tau.
    """
    return 1.0 / (1.0 / state.weights + position_growth(state, penalties))


def assign_params(
    points: FloatArray,
    point_weights: FloatArray,
    labels: IntArray,
    state: ClusterState,
    penalties: Penalties,
) -> tuple[FloatArray, FloatArray]:
    """Return the count n and the center theta of every slot, given the labels.

    A new cluster has no prior, so its center is the plain mean of its points.
    An unseen cluster keeps the center it is remembered by.
    """
    n_slots = max(state.n_clusters, int(labels.max(initial=-1)) + 1)
    units, w = sum_units(points, point_weights, state, penalties), point_weights[:, None]
    n = sum_by_slot(w, labels, n_slots, units.weight)[:, 0]
    sums = sum_by_slot(w * points, labels, n_slots, units.coordinates)  # n_kt * m_kt
    return n, weighted_means(n, sums, state, penalties)


def weighted_means(
    n: FloatArray, sums: FloatArray, state: ClusterState, penalties: Penalties
) -> FloatArray:
    """Theta = (gamma theta_old + n m) / (gamma + n), from n and n m of every slot.

    On the sphere it is gamma theta_old + n m at length 1.
    """
    n_remembered = state.n_clusters
    gamma = np.zeros(len(n))
    gamma[:n_remembered] = prior_weights(state, penalties)
    theta_old = np.zeros_like(sums)
    theta_old[:n_remembered] = state.centers

    theta, seen = theta_old.copy(), (n > 0)[:, None]
    numerator = theta_old * gamma[:, None] + sums
    if penalties.is_on_sphere:
        return np.where(seen, on_sphere(numerator), theta_old)
    np.divide(numerator, (gamma + n)[:, None], out=theta, where=seen)
    return theta
