"""Elkan's bound: which versions a row may prefer to its own cluster, by its slot alone."""

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from dynmeans.engine.gpu.host.slots import Slots, Versions
from dynmeans.records.arrays import FloatArray, IntArray

_SLACK, _FAR_OFF, _TINY = 1e-9, 1e3, 1e-280


def near_versions(
    start: Slots, versions: Versions, extra: IntArray, new_penalty: float
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """List, slot after slot, the versions among `extra` that some row of the slot may prefer.

    Returns where each slot's list begins, with the end of the last, and the lists. A row pays at
    most lambda for its slot, so a version that it would prefer only above lambda is left out.
    """
    active = np.flatnonzero(~start.is_inactive)
    gaps = cdist(start.centers[active], versions.centers[extra], "sqeuclidean")
    kept = keeping_cost(gaps, versions.offsets[extra], versions.scales[extra])
    is_other = active[:, None] != versions.slots[extra]
    at, which = np.nonzero((kept <= new_penalty) & is_other)
    n_of_slot = np.zeros(len(start) + 1, dtype=np.int32)
    np.add.at(n_of_slot, active[at] + 1, 1)
    return np.cumsum(n_of_slot, dtype=np.int32), extra[which].astype(np.int32)


def keeping_cost(squared_gaps: FloatArray, offsets: FloatArray, scales: FloatArray) -> FloatArray:
    """Return the highest own cost up to which a row surely keeps its cluster.

    `squared_gaps` are those between the row's center and that of a version. The argument is in
    center_bounds.hpp of the compiled code.
    """
    kept = 0.25 * (1.0 - _SLACK) * squared_gaps  # of active versions: half of the gap, squared
    asleep = np.flatnonzero((offsets > 0.0) | (scales < 1.0))
    if len(asleep):
        offsets, scales, squares = offsets[asleep], scales[asleep], squared_gaps[..., asleep]
        gaps = np.sqrt(squares)
        half, constant = scales * gaps, offsets + scales * squares
        with np.errstate(invalid="ignore", divide="ignore"):
            roots = constant / (half + np.sqrt(half * half + (1.0 - scales) * constant))
        kept[..., asleep] = np.minimum(roots, _FAR_OFF * gaps) ** 2 * (1.0 - _SLACK)
    kept[(squared_gaps < _TINY) | (kept < _TINY)] = 0.0
    return kept
