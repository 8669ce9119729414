"""The slots as they stand at one moment, and every version of them within a pass."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.assign_params import prior_weights
from dynmeans.engine.gpu.host.turns import FIRST, NEVER, TurnArray
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RememberedSlots:
    """The remembered clusters: J_k = offset + scale * |y - center|^2 of reviving each."""

    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    gamma: FloatArray
    revivals: FloatArray  # Q dt, the term of L_t
    is_on_sphere: bool = False  # centers have length 1

    @classmethod
    def of(cls, state: ClusterState, penalties: Penalties) -> "RememberedSlots":
        """Read them off a state that has let time pass."""
        costs = revival_costs(state, penalties)
        gamma = prior_weights(state, penalties)
        revivals = penalties.revival_penalty * state.ages
        is_on_sphere = penalties.is_on_sphere
        return cls(state.centers, costs.offsets, costs.scales, gamma, revivals, is_on_sphere)

    def __len__(self) -> int:
        """Return how many are remembered."""
        return len(self.centers)

    def revive_slots(self, slots: IntArray, points: FloatArray) -> FloatArray:
        """Return the centers of clusters revived at these points; on the sphere at theta_old."""
        if self.is_on_sphere:
            return self.centers[slots]
        gamma = self.gamma[slots][:, None]
        centers: FloatArray = (gamma * self.centers[slots] + points) / (gamma + 1.0)
        return centers


@dataclass(frozen=True, slots=True)
class Slots:
    """Remembered clusters first, then new ones by birth; the dormant ones have no points."""

    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    is_inactive: BoolArray

    @classmethod
    def asleep(cls, memory: RememberedSlots) -> "Slots":
        """Return the slots before the first point: every remembered cluster can be revived."""
        is_inactive = np.ones(len(memory), dtype=bool)
        return cls(memory.centers, memory.offsets, memory.scales, is_inactive)

    @classmethod
    def at(cls, centers: FloatArray, n_members: IntArray, memory: RememberedSlots) -> "Slots":
        """Return the slots between passes: those without points lie as remembered."""
        is_inactive = n_members == 0
        offsets, scales = np.zeros(len(centers)), np.ones(len(centers))
        asleep = np.flatnonzero(is_inactive)
        offsets[asleep], scales[asleep] = memory.offsets[asleep], memory.scales[asleep]
        return cls(centers, offsets, scales, is_inactive)

    def __len__(self) -> int:
        """Return the number of slots."""
        return len(self.centers)


@dataclass(frozen=True, slots=True)
class Versions:
    """What there is to choose from in a pass; a row sees a version after `since` up to `until`.

    The first are those at the `start` of the pass. At any moment a slot has one version at most.
    """

    slots: IntArray
    centers: FloatArray
    offsets: FloatArray
    scales: FloatArray
    is_inactive: BoolArray
    since: TurnArray
    until: TurnArray
    start: Slots

    @classmethod
    def freeze(cls, slots: Slots) -> "Versions":
        """Return the slots as they stand, for all rows."""
        n = len(slots)
        since, until = np.full(n, FIRST), np.full(n, NEVER)
        numbers, dormant = np.arange(n), slots.is_inactive
        table = (numbers, slots.centers, slots.offsets, slots.scales, dormant)
        return cls(*table, since, until, slots)

    @property
    def n_start(self) -> int:
        """Return how many there are at the start of the pass."""
        return len(self.start)

    def __len__(self) -> int:
        """Return the number of versions."""
        return len(self.slots)

    @property
    def n_last(self) -> int:
        """Return how many slots there are after the last row of a first pass."""
        return int((self.until["row"] == NEVER["row"]).sum())

    def last(self) -> Slots:
        """Return the slots after the last row of a first pass, in which none is emptied."""
        if self.n_last == len(self) and (self.slots[1:] > self.slots[:-1]).all():
            return Slots(self.centers, self.offsets, self.scales, self.is_inactive)
        stays = np.flatnonzero(self.until["row"] == NEVER["row"])
        stays = stays[np.argsort(self.slots[stays])]
        return Slots(
            self.centers[stays], self.offsets[stays], self.scales[stays], self.is_inactive[stays]
        )

    def added_slots(self) -> tuple[Slots, IntArray, TurnArray]:
        """Return what events of a first pass added, by slot: centers, slots, and since when."""
        new = self.n_start + np.argsort(self.slots[self.n_start :])
        added = (self.centers[new], self.offsets[new], self.scales[new], self.is_inactive[new])
        return Slots(*added), self.slots[new], self.since[new]
