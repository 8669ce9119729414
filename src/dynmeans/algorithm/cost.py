"""The cost L_t that each iteration lowers (Theorem 1, Eq. 15)."""

import numpy as np

from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.sums import squared_distances, sum_of, sum_over_slots, sum_units
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def clustering_cost(
    points: FloatArray,
    point_weights: FloatArray,
    labels: IntArray,
    counts: FloatArray,
    centers: FloatArray,
    state: ClusterState,
    penalties: Penalties,
) -> float:
    """Sum the new, revival, displacement and within-cluster terms of L_t."""
    placed = labels >= 0
    within = point_weights[placed] * squared_distances(points[placed], centers[labels[placed]])
    unit = sum_units(points, point_weights, state, penalties).cost
    return cluster_terms(counts, centers, state, penalties) + sum_of(within, unit)


def cluster_terms(
    counts: FloatArray, centers: FloatArray, state: ClusterState, penalties: Penalties
) -> float:
    """Sum what each cluster with points costs: lambda, or Q dt and gamma |theta - theta_old|^2."""
    n_remembered = state.n_clusters
    gamma = prior_weights(state, penalties)
    displaced = gamma * squared_distances(centers[:n_remembered], state.centers)
    terms = np.full(len(counts), penalties.new_penalty)
    terms[:n_remembered] = penalties.revival_penalty * state.ages + displaced
    return sum_over_slots(terms[counts > 0])
