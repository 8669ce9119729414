"""Batch: the points of one time step, checked once; everything after it trusts them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from dynmeans.engine.checks import (
    broadcast_to_batches,
    check_coordinates,
    check_elapsed,
    check_points,
    check_weights,
    is_checked_batch,
    row_off_sphere,
)
from dynmeans.engine.dask_input import dask_engine, is_on_dask
from dynmeans.engine.device_input import is_on_device, maybe_copy_to_device, take_device_batch
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.space import Space

if TYPE_CHECKING:
    from dynmeans.engine.dask.batch import DaskBatch
    from dynmeans.engine.gpu.gpu_batch import GpuBatch

AnyBatch: TypeAlias = Union["Batch", "DaskBatch", "GpuBatch"]
RowChecker = Callable[..., BatchArray]


@dataclass(slots=True, eq=False)  # not frozen: that would take as long as the check
class Batch:
    """Y_t in memory, checked. A `DaskBatch` and a `GpuBatch` answer the same questions."""

    points: BatchArray  # (n_points, n_features); the rows: finite, by rows, float64 or float32
    # (n_points,); what each row weighs; None where every row weighs 1.
    weights: FloatArray | None = None
    there: Any = None  # a copy of the rows on a GPU, where one was made to check them

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a row."""
        return int(self.points.shape[1])

    @property
    def feature_names(self) -> list[Any] | None:
        """None: names of columns in memory are read by scikit-learn's own check."""
        return None

    @property
    def masses(self) -> FloatArray:
        """What each row weighs, also where every row weighs 1."""
        return np.ones(self.n_points) if self.weights is None else self.weights

    def take_rows(self, rows: Any) -> "Batch":
        """Return some of the rows, with their weights."""
        return Batch(self.points[rows], None if self.weights is None else self.weights[rows])

    @property
    def has_weight(self) -> bool:
        """Whether any row takes part."""
        return self.n_points > 0 and (self.weights is None or bool(self.weights.any()))

    def to_numpy(self, purpose: str) -> "Batch":
        """Return the batch with its rows here; one elsewhere may refuse `purpose`."""
        return self

    def row_off_sphere(self) -> tuple[int, float] | None:
        """Return the first row that does not have length 1, with its length."""
        return row_off_sphere(self.points)

    def engine(self, execution: Execution) -> Any:
        """Return the module that runs a step on this kind of batch."""
        return execution.load(self.points.size)

    def map_to_space(self, space: Space) -> "Batch":
        """Return the batch as points of a space."""
        # A tiny spread may make numbers that no longer can be squared.
        points = check_coordinates(space.to_points(self.points), f"points of {space.name} space")
        return Batch(points, self.weights)

    def predict(
        self, state: ClusterState, penalties: Penalties, execution: Execution, elapsed: float
    ) -> tuple[IntArray, FloatArray]:
        """Return the identity and the cost of each row, changing nothing."""
        found: tuple[IntArray, FloatArray] = self.engine(execution).predict_labels(
            self.points, state, penalties, elapsed, execution
        )
        return found

    def distances(self, state: ClusterState) -> FloatArray:
        """Return the distance of each row to each center."""
        squares = np.zeros((self.n_points, state.n_clusters))
        for j in range(self.n_features):
            gaps = self.points[:, j, None].astype(np.float64) - state.centers[:, j]
            squares += gaps * gaps
        return np.sqrt(squares)


def prepare_batch(
    points: Any,
    sample_weight: Any = None,
    n_features: int | None = None,
    *,
    name: str = "points",
    rows_of: RowChecker | None = None,
    execution: Execution = DEFAULT,
) -> AnyBatch:
    """Check a batch from outside: the one place where input becomes a batch of one of three kinds.

    `rows_of` checks rows in memory instead of the check of this package, as scikit-learn's does.
    Rows that `execution` would send to a GPU are sent at once: their values are checked there.
    """
    is_here = rows_of is None and execution.backend == "native"
    if is_here and n_features is not None and is_checked_batch(points, n_features):
        return Batch(points, check_weights(sample_weight, len(points)))
    if is_on_dask(points):
        batch: AnyBatch = dask_engine().prepare_batch(points, sample_weight, n_features, name)
        return batch
    if is_on_device(points):
        on_device: AnyBatch = take_device_batch(points, sample_weight, n_features, name)
        return on_device
    there = maybe_copy_to_device(points, execution)
    if there is not None and (n_features is None or n_features == points.shape[1]):
        rows = points if rows_of is None else rows_of(points, is_in_range=True)
    elif rows_of is not None:
        rows = rows_of(points)
    else:
        if n_features is None:
            shape = np.shape(points)
            n_features = shape[1] if len(shape) == 2 else 0
        rows = check_points(points, n_features, name)
    return Batch(rows, check_weights(sample_weight, len(rows)), there)


def make_rows(points: Any, n_features: int, *, rows_of: RowChecker | None = None) -> Any:
    """Check rows that change nothing: as `prepare_batch`, but rows on a Dask cluster stay lazy."""
    if isinstance(points, Batch):
        return points
    if is_on_dask(points):
        return dask_engine().DaskRows(points, n_features)
    return prepare_batch(points, None, n_features, name="X", rows_of=rows_of)


def make_batches(
    batches: list[Any], elapsed: Any = 1.0, sample_weight: Any = None
) -> tuple[list[Batch], list[float]]:
    """Check every batch of a stream in memory, and the time before each."""
    gaps = broadcast_to_batches("elapsed", elapsed, len(batches))
    weights = broadcast_to_batches("sample_weight", sample_weight, len(batches))
    rows: list[Batch] = []
    for t, batch in enumerate(batches):
        n_features = rows[0].n_features if rows else np.shape(batch)[-1] if np.ndim(batch) else 0
        points = check_points(batch, n_features, f"batches[{t}]")
        try:
            gaps[t] = check_elapsed(gaps[t])
            rows.append(Batch(points, check_weights(weights[t], len(points))))
        except (TypeError, ValueError) as error:
            raise type(error)(f"batches[{t}]: {error}") from error
    return rows, gaps
