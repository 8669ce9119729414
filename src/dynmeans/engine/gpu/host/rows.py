"""What the algorithm asks of the rows of a batch, wherever they lie.

A list of rows, a list of choices and the labels are arrays of the device; everything else is here,
small. `DeviceRows` answers with kernels; the tests have a twin in NumPy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from dynmeans.engine.gpu.host.bins import BatchBins, Magnitudes
from dynmeans.engine.gpu.host.border import Border
from dynmeans.engine.gpu.host.event_log import Choosers
from dynmeans.engine.gpu.host.slots import BoolArray, Memory, Slots, Versions
from dynmeans.engine.gpu.host.turns import TurnArray
from dynmeans.records.arrays import FloatArray, IntArray

Listed = Any  # an array on the device: rows, or one choice for each


@dataclass(frozen=True, slots=True)
class Compared:
    """All rows beside the slots of a moment."""

    # listed, wishes: the rows that want to move, and where to; OPEN_NEW where that is a new
    # cluster.
    listed: Listed
    wishes: Listed
    # left, joined: how many of them leave each slot, and want each; the last of `joined` counts
    # OPEN_NEW.
    left: IntArray
    joined: IntArray


class Rows(Protocol):
    """The rows of one batch with their weights, visiting order, labels and sums."""

    n_points: int
    n_features: int
    has_weights: bool
    labels: Listed

    def magnitudes(self) -> Magnitudes:
        """Return the largest coordinates and the range of the weights."""

    def start(self, order: Any, bins: BatchBins) -> None:
        """Begin a run: this order, no labels, no sums."""

    def window_limits(self) -> list[int]:
        """Return the keys that end the stretches of a first pass, but for the last."""

    def select(self, low: int, high: int) -> Listed:
        """List the rows that take part and have a key from `low` to below `high`."""

    def turns(self, listed: Listed | IntArray) -> TurnArray:
        """Return the turns of some rows."""

    def in_order(self, listed: Listed) -> Listed:
        """Return the rows in the order of their turns."""

    def points(self, numbers: IntArray) -> FloatArray:
        """Return some rows, as float64."""

    def choose(
        self, listed: Listed, base: Listed | None, versions: Versions, new_penalty: float
    ) -> Listed:
        """Return the cheapest version seen at a row's turn; `base`: of those at the start."""

    def cheapest(self, listed: Listed, slots: Slots, new_penalty: float) -> Listed:
        """Return the cheapest of these slots for each listed row, or OPEN_NEW."""

    def open_in_order(self, listed: Listed, new_penalty: float) -> IntArray:
        """Visit the rows one by one; one that lies within lambda of none before it is returned."""

    def nowhere(self, n: int) -> Listed:
        """Return OPEN_NEW for so many rows."""

    def proposing(self, listed: Listed, choices: Listed, is_dormant: BoolArray) -> Listed:
        """List those that chose to open or revive a cluster, in no order."""

    def put(self, choices: Listed, places: IntArray, numbers: IntArray) -> None:
        """Let the choices in some places be these."""

    def take(self, listed: Listed, at: IntArray) -> Listed:
        """Return some entries of a list."""

    def in_memory(self, listed: Listed) -> IntArray:
        """Return a list as an array of NumPy."""

    def label_rest(self, slots: Slots, low: int, new_penalty: float) -> Listed:
        """Label the rows from key `low` on that find an active slot; list the others."""

    def set_labels(self, listed: Listed, choices: Listed, slots: IntArray) -> None:
        """Label the rows by the slots of the versions they chose, but for those that open one."""

    def label_born(self, born: IntArray, n_start: int) -> None:
        """Label the rows that opened clusters, in the order of these."""

    def labels_of(self, listed: Listed) -> Listed:
        """Return the labels of some rows."""

    def drawn(self, versions: Versions, start: Slots, low: int, new_penalty: float) -> Listed:
        """Label rows from key `low` on that prefer the cheapest version that events added.

        Those for which it was not there at their turn may prefer another one: they are listed.
        """

    def followers(
        self, start: Slots, versions: Versions, extra: IntArray, new_penalty: float
    ) -> Listed:
        """List rows, not listed yet, that may prefer one of the `extra` versions to their own."""

    def begin_events(self, listed: Listed) -> None:
        """Let these rows count as listed and no others; events are about to be settled."""

    def join(self, first: Listed, second: Listed) -> Listed:
        """Put two lists together."""

    def compare(self, slots: Slots, new_penalty: float) -> Callable[[], Compared]:
        """Begin to look at every row; what waits for the answer has lists until the next look."""

    def open_border(
        self,
        slots: Slots,
        n_members: IntArray,
        memory: Memory,
        new_penalty: float,
        margins: FloatArray,
    ) -> Border | None:
        """Hold the rows that may change their slot while centers stay within margins, if few."""

    def count_moves(
        self, listed: Listed, choices: Listed, n_choices: int
    ) -> tuple[IntArray, IntArray]:
        """Count rows that leave each slot, and that join each version; the last is OPEN_NEW."""

    def choosers(
        self, listed: Listed, choices: Listed, versions: Versions, all_left: IntArray
    ) -> Choosers:
        """Return the rows that open or revive a cluster, leave or join one that all left."""

    def relabel(
        self, listed: Listed, choices: Listed, slots: IntArray | None, n_slots: int
    ) -> None:
        """Label the rows by the slots of their choices, if given, and move them in the sums."""

    def sum_up(self, n_slots: int) -> IntArray:
        """Add all rows to the sums of their slots; return how many each has."""

    def keep_slots(self, is_kept: BoolArray) -> None:
        """Close the gaps that other slots leave, in the labels and the sums."""

    def first_members(
        self, is_asked: BoolArray, share: FloatArray, wanted: IntArray
    ) -> tuple[Listed, IntArray]:
        """List the first members of some slots in a share of the keys, and count them.

        Of a slot that had too few there, none is listed.
        """

    def weights_of(self, numbers: IntArray) -> FloatArray | None:
        """Return what some rows weigh; None where every row weighs 1."""

    def slot_bins(self) -> FloatArray:
        """Return the sums of each slot, in bins."""

    def rename(self, slots: IntArray, numbers: IntArray, labels: IntArray) -> None:
        """Give all rows of each slot another one, and then some rows labels of their own."""

    def totals(self) -> tuple[FloatArray, FloatArray]:
        """Return w where rows have weights, w y and w |y|^2 of each slot; what rounding lost."""
