"""Late passes that cost what the border costs: only rows that may change their slot are looked at.

Late in a run nearly all rows keep their slot, and centers move little. Every center is given a
margin; the rows that may change their slot while no center leaves its margin, the border, are held
by the device with the slots that they may choose. Passes over these alone have the labels, the sums
and the cost of passes over all rows, as long as no cluster opens, revives or empties. A pass in
which one would, and the last pass, are left to a look at all rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.sums import sum_over_slots
from dynmeans.engine.compiled import compiled
from dynmeans.engine.gpu.host.slots import BoolArray, Slots
from dynmeans.records.arrays import FloatArray

if TYPE_CHECKING:
    from dynmeans.engine.gpu.border import DeviceBorder

_PASSES_AHEAD = 8.0  # that a margin is meant for, at the speed of the last pass
_MIN_AHEAD, _MAX_AHEAD = 4.0, 4096.0
_ROWS_AHEAD = 4.0  # and rows that may join from the root of lambda away
_SMALL_N_MOVES = 128  # one row in so many moves, where the border is sought
_MAX_HELD, _FEW_HELD = 10, 2**16  # one row in so many, or so many of few
# Opening a border is worth so many looks at all rows, one by one; a pass has costs besides those of
# the rows it holds, and opening has more.
_WORTH, _PASS_ROWS, _OPENING_ROWS = 2.0, 2**18, 20 * 2**18
# Of the root of lambda; no margin is wider. Of many features one wide margin counts for all slots.
_FAR, _FAR_OF_MANY, _MANY_FEATURES = 0.25, 0.05, 16
_WAIT, _MAX_WAIT = (
    3,
    96,
)  # looks at all rows after borders that were too large, twice as many each time
_FEWEST, _MOST = 4, 32  # passes that are asked for at a time; a third of all may be for nothing


@dataclass(frozen=True, slots=True)
class BorderPass:
    """A pass that was made: rows that moved, and the terms of L_t by slot."""

    n_moved: int
    is_last: bool  # a center has left its margin
    terms: FloatArray  # of clusters: new, revival and displacement
    within: FloatArray  # of their rows

    def cost(self, is_seen: BoolArray) -> float:
        """L_t, Eq. 15."""
        return sum_over_slots(self.terms[is_seen]) + compiled.rounded_sum(self.within)


class Margins:
    """How far each center may move while the border is held; learned from how far they moved."""

    def __init__(self, n_points: int, n_features: int, new_penalty: float) -> None:
        self._n_points, self._reach = n_points, float(np.sqrt(new_penalty))
        self._widest = self._reach * (_FAR if n_features < _MANY_FEATURES else _FAR_OF_MANY)
        self._ahead, self._wait, self._n_failed = _PASSES_AHEAD, 0, 0
        self._before: Slots | None = None
        self._n_passes = 1  # since then

    def next(self, slots: Slots, counts: FloatArray, n_moved: int) -> FloatArray | None:
        """Return a margin for each slot; None where all rows are to be looked at."""
        before, n_passes = self._before, self._n_passes
        self._before, self._n_passes = slots, 1
        if self._wait:
            self._wait -= 1
            return None
        if before is None or not np.array_equal(before.is_inactive, slots.is_inactive):
            return None
        if not 0 < n_moved <= self._n_points / _SMALL_N_MOVES:
            return None
        steps = slots.centers - before.centers
        speeds = np.sqrt(np.einsum("ij,ij->i", steps, steps)) / n_passes
        margins = self._ahead * np.maximum(speeds, speeds.mean())
        with np.errstate(divide="ignore"):
            margins += _ROWS_AHEAD * self._reach / counts
        return np.where(slots.is_inactive, 0.0, np.minimum(margins, self._widest))

    def learn(self, n_held: int | None, n_passes: int, *, is_due: bool) -> None:
        """Take note of how many rows were held (None: too many), and for how many passes.

        A border that does not end because centers have left their margins has met an event, or the
        end: all rows are looked at next.
        """
        self._n_passes = max(1, n_passes)
        if n_held is None or n_held > max(self._n_points // _MAX_HELD, _FEW_HELD):
            self._ahead = max(self._ahead / 2.0, _MIN_AHEAD)
        elif is_due and n_passes * (n_held + _PASS_ROWS) < _WORTH * (
            self._n_points + _OPENING_ROWS
        ):
            self._ahead = min(self._ahead * 2.0, _MAX_AHEAD)
        self._n_failed = self._n_failed + 1 if n_held is None else 0
        long = min(_WAIT * 2 ** (self._n_failed - 1), _MAX_WAIT)
        self._wait = int(long) if n_held is None else 0 if is_due else 1


def run_border_passes(
    border: "DeviceBorder", cost_trace: list[float], is_seen: BoolArray, most: float
) -> tuple[int, bool]:
    """Make the passes over a border in which the cost falls, and carry on its trace.

    At most this many costs are in the trace then; the labels are those after the last of them.
    Returns how many passes were made, and whether they ended because centers left their margins.
    """
    n_kept = 0
    while len(cost_trace) < most:
        n_asked = int(min(max(_FEWEST, n_kept // 2), _MOST, most - len(cost_trace)))
        made, n_good = border.run(n_asked), 0
        for one in made:
            cost = one.cost(is_seen)
            if one.n_moved == 0 or not cost < cost_trace[-1] * (1.0 - NO_FALL):
                break
            cost_trace.append(cost)
            n_good += 1
        n_kept += n_good
        if any(one.n_moved for one in made[n_good:]):
            border.rewind(n_good)
        is_due = n_good == len(made) > 0 and made[-1].is_last
        if is_due or n_good < n_asked:
            return n_kept, is_due
    return n_kept, False
