"""The sets a batch is divided into, and the identity each holds, while moves are tried.

Given the sets, L_t is their scatter plus one term for each: lambda for a new cluster, and for a
remembered one Q dt + gamma n/(gamma + n) |m - theta_old|^2, which is what is left of Eq. 15 once
the center is the best one (Eq. 12). So a move is judged by the weights and means of the sets it
touches.
"""

from collections.abc import Sequence

import numpy as np

from dynmeans.algorithm.assign_labels import UNLABELED
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.algorithm.sums import squared_distances, sum_by_slot, sum_of, sum_units
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

NEW = -1  # the owner of a set that is a new cluster


class SetsBatch:
    """What stays as it is while the sets change: the points, in which order, and the memory."""

    def __init__(
        self,
        points: FloatArray,
        point_weights: FloatArray,
        state: ClusterState,
        penalties: Penalties,
        order: IntArray,
    ) -> None:
        self.points, self.weights, self.order = points, point_weights, order
        self.theta_old, self.gamma = state.centers, prior_weights(state, penalties)
        self.offsets = penalties.revival_penalty * state.ages  # Q dt
        self.new_penalty = penalties.new_penalty
        self.units = sum_units(points, point_weights, state, penalties)

    def sums(self, rows: IntArray, part: IntArray, n_parts: int) -> tuple[FloatArray, FloatArray]:
        """n and n m of each part of some rows."""
        w = self.weights[rows, None]
        n = sum_by_slot(w, part, n_parts, self.units.weight)[:, 0]
        return n, sum_by_slot(w * self.points[rows], part, n_parts, self.units.coordinates)

    def weighted_sum(self, rows: IntArray, values: FloatArray) -> float:
        """Sum of w times a value of the unit of the cost."""
        return sum_of(self.weights[rows] * values, self.units.cost)

    def term(self, n: float, mean: FloatArray, owner: int) -> float:
        """What a set costs beyond its scatter."""
        if owner == NEW:
            return self.new_penalty
        gamma = self.gamma[owner]
        lag = float(squared_distances(mean, self.theta_old[owner]))
        return float(self.offsets[owner] + gamma * n / (gamma + n) * lag)


class Sets:
    """The sets with their members in visiting order, n, n m, and owners."""

    def __init__(self, batch: SetsBatch, labels: IntArray) -> None:
        self.batch = batch
        slots = labels[batch.order]
        active = np.unique(slots)
        n_remembered = len(batch.gamma)
        self.owners = [int(k) if k < n_remembered else NEW for k in active]
        self.members = [batch.order[slots == k] for k in active]
        self.is_taken = np.isin(np.arange(n_remembered), active)
        self.n, self.sums = np.empty(len(active)), np.empty((len(active), batch.points.shape[1]))
        for k in range(len(active)):
            self._sum(k)

    def __len__(self) -> int:
        """Count the sets, those that were emptied by a merge included."""
        return len(self.owners)

    def _sum(self, k: int) -> None:
        rows = self.members[k]
        n, sums = self.batch.sums(rows, np.zeros(len(rows), dtype=np.int64), 1)
        self.n[k], self.sums[k] = n[0], sums[0]

    def mean(self, k: int) -> FloatArray:
        """The mean m of a set."""
        mean: FloatArray = self.sums[k] / self.n[k]
        return mean

    def term(self, k: int) -> float:
        """What set k costs beyond its scatter."""
        return self.batch.term(self.n[k], self.mean(k), self.owners[k])

    def mass(self, k: int) -> float:
        """gamma + n: what the center stands for."""
        return float(
            (self.batch.gamma[self.owners[k]] if self.owners[k] != NEW else 0.0) + self.n[k]
        )

    def center(self, k: int) -> FloatArray:
        """Theta (Eq. 12)."""
        numerator = self.sums[k]
        if (owner := self.owners[k]) != NEW:
            numerator = self.batch.theta_old[owner] * self.batch.gamma[owner] + numerator
        center: FloatArray = numerator / self.mass(k)
        return center

    def cheapest_free(self, n: float, mean: FloatArray) -> tuple[float, int]:
        """The lowest term of a set that may take any identity no one holds; ties to the oldest."""
        lowest, owner = np.inf, NEW
        for j in np.flatnonzero(~self.is_taken).tolist():
            term = self.batch.term(n, mean, j)
            if term < lowest:
                lowest, owner = term, j
        if lowest <= self.batch.new_penalty:
            return lowest, owner
        return self.batch.new_penalty, NEW

    def own(self, k: int, owner: int) -> None:
        """Give set k another identity, and free the one it held."""
        if self.owners[k] != NEW:
            self.is_taken[self.owners[k]] = False
        if owner != NEW:
            self.is_taken[owner] = True
        self.owners[k] = owner

    def append(self, rows: IntArray) -> int:
        """Add a set without an identity."""
        self.owners.append(NEW)
        self.members.append(rows)
        self.n = np.append(self.n, 0.0)
        self.sums = np.vstack([self.sums, np.zeros_like(self.sums[:1])])
        self._sum(len(self) - 1)
        return len(self) - 1

    def replace(self, k: int, rows: IntArray) -> None:
        """Give set k other members; without any it is gone, and so is its claim to an identity."""
        self.members[k] = rows
        self._sum(k)
        if not len(rows):
            self.own(k, NEW)

    def in_order(self, ks: Sequence[int]) -> IntArray:
        """The members of some sets, as they are visited."""
        wanted = np.zeros(len(self.batch.points), dtype=bool)
        for k in ks:
            wanted[self.members[k]] = True
        return self.batch.order[wanted[self.batch.order]]

    def labels(self) -> IntArray:
        """Slots: remembered clusters keep theirs, new ones follow in the order of the sets."""
        labels = np.full(len(self.batch.points), UNLABELED)
        next_slot = len(self.batch.gamma)
        for k, rows in enumerate(self.members):
            if not len(rows):
                continue
            slot = self.owners[k]
            if slot == NEW:
                slot, next_slot = next_slot, next_slot + 1
            labels[rows] = slot
        return labels
