"""AssignLabels: each point to its cheapest cluster (Eq. 5)."""

from dataclasses import dataclass

import numpy as np

from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.motion import position_growth
from dynmeans.algorithm.sums import squared_distances
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

UNLABELED = -1


@dataclass(frozen=True, slots=True)
class RevivalCosts:
    """J_k = offset + scale * |y - theta_old|^2 of reviving each remembered cluster."""

    offsets: FloatArray
    scales: FloatArray


def revival_costs(state: ClusterState, penalties: Penalties) -> RevivalCosts:
    """Q dt and the factor on the distance: 1/(tau dt + 1), or the exact one (decision 0001)."""
    growth = position_growth(state, penalties)  # tau dt, unless clusters keep a course
    fading = growth if penalties.revival == "paper" else 1.0 / state.weights + growth
    if penalties.is_on_sphere:  # no discount on the distance (sphere.py)
        fading = np.zeros_like(growth)
    return RevivalCosts(penalties.revival_penalty * state.ages, 1.0 / (fading + 1.0))


def assign_labels(
    points: FloatArray,
    labels: IntArray,
    centers: FloatArray,
    state: ClusterState,
    penalties: Penalties,
    order: IntArray,
) -> IntArray:
    """Visit the points in `order` and give each the slot that is cheapest at that moment.

    Slots ``0 .. state.n_clusters - 1`` are the remembered clusters, later ones are new.
    `centers` are those that `labels` led to; they stand still within the pass, except that a
    cluster is created or revived at its first point and gone with its last.
    """
    board = _ClusterTable(labels, centers, state, penalties)
    labels = labels.copy()
    for i in order:
        left, y = labels[i], points[i]
        costs = board.offsets + board.scales * squared_distances(y, board.centers)
        # Ties go to the lowest slot, and to any cluster before a new one (decision 0002).
        k = int(np.argmin(costs)) if len(costs) else UNLABELED
        if k == UNLABELED or costs[k] > penalties.new_penalty:
            k = board.open_new(y)
        elif board.counts[k] == 0:
            board.revive(k, y)
        board.counts[k] += 1
        labels[i] = k
        if left != UNLABELED:
            board.leave(left)
    return _compact_slots(labels, board, state.n_clusters)


class _ClusterTable:
    """The clusters as they stand at one moment of a pass: J_k = offset + scale * distance^2."""

    def __init__(
        self,
        labels: IntArray,
        centers: FloatArray,
        state: ClusterState,
        penalties: Penalties,
    ) -> None:
        self.state, self.gamma, self.penalties = state, prior_weights(state, penalties), penalties
        self.dormant = revival_costs(state, penalties)
        self.centers = centers.copy()
        self.counts = np.bincount(labels[labels >= 0], minlength=len(centers))
        self.offsets, self.scales = np.zeros(len(centers)), np.ones(len(centers))
        for k in np.flatnonzero(self.counts == 0).tolist():
            self._deactivate(k)

    def open_new(self, y: FloatArray) -> int:
        self.centers = np.vstack([self.centers, y])
        self.counts = np.append(self.counts, 0)
        self.offsets, self.scales = np.append(self.offsets, 0.0), np.append(self.scales, 1.0)
        return len(self.centers) - 1

    def revive(self, k: int, y: FloatArray) -> None:
        gamma, theta_old = self.gamma[k], self.state.centers[k]
        if not self.penalties.is_on_sphere:
            self.centers[k] = (gamma * theta_old + y) / (gamma + 1.0)
        self.offsets[k], self.scales[k] = 0.0, 1.0

    def leave(self, k: int) -> None:
        self.counts[k] -= 1
        if self.counts[k] == 0:
            self._deactivate(k)

    def _deactivate(self, k: int) -> None:
        """An emptied remembered cluster falls back to its memory; an emptied new one is gone."""
        if k < self.state.n_clusters:
            self.centers[k] = self.state.centers[k]
            self.offsets[k], self.scales[k] = self.dormant.offsets[k], self.dormant.scales[k]
        else:
            self.offsets[k] = np.inf


def _compact_slots(labels: IntArray, board: _ClusterTable, n_remembered: int) -> IntArray:
    """Close the slots of new clusters that emptied; the others keep their order."""
    kept = (np.arange(len(board.counts)) < n_remembered) | (board.counts > 0)
    slots = np.append(np.cumsum(kept) - 1, UNLABELED)
    return slots[labels]
