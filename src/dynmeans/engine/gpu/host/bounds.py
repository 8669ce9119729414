"""Hamerly's bound: rows that keep their slot although all centers moved, known without comparing.

For each row a lower bound on the square root of the cost of every slot but its own. While centers
move, active ones by at most `drift` in all, it falls by no more than that: the distance to a center
changes by no more than the center moves, and dormant slots stay where they are. A row whose own
cost is lower keeps its slot. Bounds are stored with the drift at their time added, so that moving
the centers touches no row; when a slot opens, revives or empties, all are forgotten.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dynmeans.engine.gpu.host.slots import Slots

_ROUNDING = 1.0 + 1e-9
_MAX_DRIFT = 1e30  # above, the bounds might not fit into a float


class Bounds:
    """A bound for each row of a batch."""

    def __init__(self, allocate: Callable[[], Any]) -> None:
        self._allocate = allocate
        self._values: Any = None
        self._slots: Slots | None = None
        self.drift = 0.0

    @property
    def values(self) -> Any:
        """One float32 for each row, on the device, allocated on first access."""
        if self._values is None:
            self._values = self._allocate()
        return self._values

    def forget(self) -> None:
        """Know nothing."""
        self._slots, self.drift = None, 0.0

    def renew(self, slots: Slots) -> None:
        """All values were written again against these slots, without any drift."""
        self._slots, self.drift = slots, 0.0

    def follow(self, slots: Slots) -> bool:
        """Let the centers move to these; False if no bound is known."""
        before = self._slots
        if before is None or not np.array_equal(before.is_inactive, slots.is_inactive):
            self.forget()
            return False
        steps = slots.centers - before.centers
        farthest = math.sqrt(np.einsum("ij,ij->i", steps, steps).max(initial=0.0))
        drift = (self.drift + farthest * _ROUNDING) * _ROUNDING
        if not drift < _MAX_DRIFT:
            self.forget()
            return False
        self._slots, self.drift = slots, drift
        return True
