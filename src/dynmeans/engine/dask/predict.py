"""The label rule for rows on a cluster; computed lazily."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from dynmeans.engine import native
from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import check_points
from dynmeans.engine.dask.chunks import to_rows
from dynmeans.engine.dask_input import dask_engine
from dynmeans.engine.execution import Execution
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.raw import RAW
from dynmeans.spaces.space import Space


@dataclass(frozen=True, slots=True, eq=False)
class DaskRows:
    """Rows on a cluster that change nothing: computed lazily."""

    points: Any  # The rows, not checked yet
    n_features: int  # Number of values that each must have
    space: Space = RAW  # What the rows of each chunk are mapped into

    def map_to_space(self, space: Space) -> "DaskRows":
        """Return the rows as points of a space, chunk by chunk."""
        return replace(self, space=space)

    def predict(
        self, state: ClusterState, penalties: Penalties, execution: Execution, elapsed: float
    ) -> tuple[da.Array, da.Array]:
        """Return the identity and the cost of each row as Dask arrays in the chunks of the rows."""
        dask_engine(execution)  # refuses other backends
        parts = [
            da.map_blocks(
                # Within a partial: as an argument, older releases of Dask take a record apart.
                partial(_predict, (self.space, state, penalties, elapsed, column)),
                _as_array(self.points),
                drop_axis=1,
                dtype=dtype,
                meta=np.empty(0, dtype=dtype),
            )
            for column, dtype in ((0, np.int64), (1, np.float64))
        ]
        return parts[0], parts[1]

    def distances(self, state: ClusterState) -> da.Array:
        """Return the distance of each row to each center, a chunk for each chunk of rows."""
        rows = _as_array(self.points)
        return da.map_blocks(
            partial(_distances, (self.space, state)),
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


def _predict(rule: tuple[Space, ClusterState, Penalties, float, int], chunk: Any) -> Any:
    space, state, penalties, elapsed, column = rule
    return native.predict_labels(_rows(chunk, space, state), state, penalties, elapsed)[column]


def _distances(rule: tuple[Space, ClusterState], chunk: Any) -> FloatArray:
    space, state = rule
    return Batch(_rows(chunk, space, state)).distances(state)


def _rows(chunk: Any, space: Space, state: ClusterState) -> BatchArray:
    # An elementwise space has as many coordinates as features.
    rows = check_points(to_rows(chunk), state.n_features, "X")
    return check_points(space.to_points(rows), state.n_features, "X")
