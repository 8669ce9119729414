"""The label rule for rows on a cluster; nothing is computed before it is asked for."""

from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from scipy.spatial.distance import cdist

from dynmeans.engine import native
from dynmeans.engine.checks import checked_points
from dynmeans.engine.dask import device
from dynmeans.engine.dask.chunks import to_rows
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def predict_labels(
    points: Any, state: ClusterState, penalties: Penalties, elapsed: float = 0.0
) -> tuple[da.Array, da.Array]:
    """Return the identity and the cost of each row as Dask arrays in the chunks of `points`."""
    parts = [
        da.map_blocks(
            # Within a partial: as an argument, older releases of Dask take a record apart.
            partial(_predict, (state, penalties, elapsed, column)),
            _as_array(points),
            drop_axis=1,
            dtype=dtype,
            meta=np.empty(0, dtype=dtype),
        )
        for column, dtype in ((0, np.int64), (1, np.float64))
    ]
    return parts[0], parts[1]


def distances(points: Any, state: ClusterState) -> da.Array:
    """Return the distance of each row to each center as a Dask array, a chunk for each of rows."""
    rows = _as_array(points)
    return da.map_blocks(
        partial(_distances, state),
        rows,
        chunks=(rows.chunks[0], (state.n_clusters,)),
        dtype=np.float64,
        meta=np.empty((0, 0)),
    )


def _as_array(points: Any) -> da.Array:
    if isinstance(points, list | tuple):
        raise TypeError("X must be a Dask array or a Dask data frame, got a list of futures.")
    array = points if isinstance(points, da.Array) else points.to_dask_array()
    return array if array.numblocks[1] == 1 else array.rechunk({1: -1})


def _predict(rule: tuple[ClusterState, Penalties, float, int], chunk: Any) -> Any:
    state, penalties, elapsed, column = rule
    return native.predict_labels(_rows(chunk, state), state, penalties, elapsed)[column]


def _distances(state: ClusterState, chunk: Any) -> FloatArray:
    return np.asarray(cdist(_rows(chunk, state), state.centers))


def _rows(chunk: Any, state: ClusterState) -> BatchArray:
    rows = to_rows(chunk)
    if device.is_on_device(rows):
        rows = device.find_device().in_memory(rows)
    return checked_points(rows, state.n_features, "X")
