"""The first pass on the sphere by compiled code, for backends that keep rows elsewhere."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine import blas
from dynmeans.engine.batch import Batch
from dynmeans.engine.compiled import compiled
from dynmeans.records.arrays import FloatArray, IntArray


def follow_rows(
    rows: Batch,
    order: IntArray,
    centers: FloatArray,
    offsets: FloatArray,
    sums: FloatArray,
    new_penalty: float,
) -> tuple[npt.NDArray[np.int32], FloatArray, FloatArray, FloatArray]:
    """Visit rows one by one, in this order; every center follows the rows that join it.

    Returns their labels, and the centers, the costs of reviving them and the sums of all slots
    afterwards, from which other rows can continue (native/passes/following_pass.hpp).
    """
    sgemm: Any = blas.sgemm_for(rows.points)
    visited, clusters = order.astype(np.uint32), map(np.ascontiguousarray, (centers, offsets, sums))
    arguments: Any = (rows.points, rows.weights, visited, *clusters, new_penalty, sgemm)
    with blas.one_thread() if sgemm else nullcontext():
        found: Any = compiled.follow_rows(*arguments)
    return found[0], found[1], found[2], found[3]
