"""What a state says of points that change nothing: their labels, costs and distances."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dynmeans.engine.batch import Batch, RowChecker
from dynmeans.engine.checks import checked_points
from dynmeans.engine.dask_input import dask_engine, is_on_dask
from dynmeans.engine.device_input import device_engine, is_on_device, take_device_batch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


def predict_labels(
    points: Any,
    state: ClusterState,
    penalties: Penalties,
    execution: Execution = DEFAULT,
    rows_of: RowChecker | None = None,
    elapsed: float = 0.0,
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point; Dask arrays for rows on a cluster.

    As of the last batch, or as a batch would see it that comes `elapsed` steps later.

    Points from outside are checked here, by `rows_of` if it is given; a `Batch` was checked.
    """
    found: tuple[IntArray, FloatArray]
    if is_on_dask(points):
        found = dask_engine(execution).predict_labels(points, state, penalties, elapsed)
    elif is_on_device(points):
        batch = take_device_batch(points, None, state.n_features, "points")
        found = device_engine(execution).predict_labels(batch, state, penalties, elapsed)
    else:
        rows = _rows(points, state, rows_of)
        found = execution.load(rows.size).predict_labels(rows, state, penalties, elapsed)
    return found


def center_distances(
    points: Any, state: ClusterState, rows_of: RowChecker | None = None
) -> FloatArray:
    """Return the distance of each point to each center; a Dask array for rows on a cluster."""
    if is_on_dask(points):
        distances: FloatArray = dask_engine().distances(points, state)
        return distances
    if is_on_device(points):
        batch = take_device_batch(points, None, state.n_features, "points")
        there: FloatArray = device_engine().distances(batch, state)
        return there
    return np.asarray(cdist(_rows(points, state, rows_of), state.centers))


def _rows(points: Any, state: ClusterState, rows_of: RowChecker | None) -> BatchArray:
    if isinstance(points, Batch):
        return points.points
    return checked_points(points, state.n_features) if rows_of is None else rows_of(points)
