"""What a state says of points that change nothing: their labels, costs and distances."""

from typing import Any

from dynmeans.engine.batch import RowChecker, take_rows
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.records.arrays import FloatArray, IntArray
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
    """Return the identity and the cost of each point; Dask arrays for rows on a cluster."""
    rows = take_rows(points, state.n_features, rows_of=rows_of)
    found: tuple[IntArray, FloatArray] = rows.predict(state, penalties, execution, elapsed)
    return found


def center_distances(
    points: Any, state: ClusterState, rows_of: RowChecker | None = None
) -> FloatArray:
    """Return the distance of each point to each center; a Dask array for rows on a cluster."""
    distances: FloatArray = take_rows(points, state.n_features, rows_of=rows_of).distances(state)
    return distances
