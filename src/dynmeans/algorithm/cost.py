"""The cost L_t that each iteration lowers (Theorem 1, Eq. 15)."""

import math

import numpy as np

from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.double_double import two_product, two_sum, weighted_squares
from dynmeans.algorithm.sums import precise_sums, squared_distances, sum_over_slots, sum_units
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
    within = within_slots(points, point_weights, labels, centers, state, penalties)
    return cluster_terms(counts, centers, state, penalties) + math.fsum(within.tolist())


def within_slots(
    points: FloatArray,
    point_weights: FloatArray,
    labels: IntArray,
    centers: FloatArray,
    state: ClusterState,
    penalties: Penalties,
) -> FloatArray:
    """Sum w |y - theta|^2 over the points of each slot, from sums that need no point again.

    With S = sum of w y and Q = sum of w |y|^2 it is Q + theta (n theta - 2 S). The sums are exact;
    what this cancels, far from the origin, double-double arithmetic has to spare.
    """
    units, placed = sum_units(points, point_weights, state, penalties), labels >= 0
    w, y, slots, n_slots = point_weights[placed], points[placed], labels[placed], len(centers)
    terms = np.column_stack([w, w[:, None] * y, *weighted_squares(y, w)])
    unit_of = np.array([units.weight, *units.coordinates, units.square, units.square])
    sums, rests = precise_sums(terms, slots, n_slots, unit_of)
    cost, rest = sums[:, -2], rests[:, -2] + sums[:, -1]
    for j, theta in enumerate(centers.T, start=1):
        mass, lost = two_product(sums[:, 0], theta)
        lost += rests[:, 0] * theta
        twice, lost_twice = two_sum(mass, -2.0 * sums[:, j])
        lost = lost_twice + (lost - 2.0 * rests[:, j])
        part, lost_part = two_product(twice, theta)
        cost, lost_cost = two_sum(cost, part)
        rest = rest + (lost_cost + (lost_part + lost * theta))
    return np.maximum(0.0, cost + rest)


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
