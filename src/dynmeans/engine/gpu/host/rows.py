"""The rows of a batch as the algorithm uses them.

A list of rows, a list of choices and the labels are arrays of the device; everything else is here,
small. `DeviceRows` answers with kernels; the tests have a twin in NumPy.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dynmeans.records.arrays import IntArray

if TYPE_CHECKING:
    from dynmeans.engine.gpu.device_rows import DeviceRows

Rows: TypeAlias = "DeviceRows"
Listed = Any  # an array on the device: rows, or one choice for each


@dataclass(frozen=True, slots=True)
class Compared:
    """All rows against the slots of a moment."""

    # listed, wishes: the rows that want to move, and where to; OPEN_NEW where that is a new
    # cluster.
    listed: Listed
    wishes: Listed
    # left, joined: how many of them leave each slot, and want each; the last of `joined` counts
    # OPEN_NEW.
    left: IntArray
    joined: IntArray
