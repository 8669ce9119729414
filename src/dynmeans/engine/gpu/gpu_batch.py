"""A batch on a GPU, checked at the door and never copied off it."""

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.checks import (
    MAX_COORDINATE,
    MAX_WEIGHT,
    check_features,
    check_size,
    check_weights,
    row_off_sphere,
)
from dynmeans.engine.device_input import device_engine, is_on_device
from dynmeans.engine.execution import Execution
from dynmeans.engine.gpu.blocks import ALIGNMENT
from dynmeans.engine.gpu.kernels import count_of, launch, load_module, row_type, upload
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.space import Space, map_on_device


@dataclass(frozen=True, slots=True, eq=False)
class GpuBatch:
    """Y_t on a GPU, by rows, float64 or float32, with its weights."""

    # (n_points, n_features); the rows; the memory of the array that was given, where it needed no
    # conversion.
    points: Any
    weights: Any  # (n_points,); what each row weighs; None where every row weighs 1
    library: str  # Where labels are to be returned: "cupy", "torch" or "jax"

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.points)

    @property
    def n_features(self) -> int:
        """Number of coordinates of a row."""
        return int(self.points.shape[1])

    @property
    def feature_names(self) -> None:
        """None: arrays on a device have no names of columns."""

    @property
    def has_weight(self) -> bool:
        """Whether any row takes part."""
        return self.n_points > 0 and (self.weights is None or bool(self.weights.any()))

    def to_numpy(self, purpose: str) -> Batch:
        """Return a copy in memory."""
        weights = None if self.weights is None else cp.asnumpy(self.weights)
        return Batch(cp.asnumpy(self.points), weights)

    def row_off_sphere(self) -> tuple[int, float] | None:
        """Return the first row that does not have length 1, with its length."""
        return row_off_sphere(cp.asnumpy(self.points))

    def engine(self, execution: Execution) -> Any:
        """Return the module that runs a step on a GPU."""
        return device_engine(execution)

    def map_to_space(self, space: Space) -> "GpuBatch":
        """Return the batch as points of a space; the same bits as in memory."""
        points = map_on_device(space, self.points)
        return GpuBatch(_check_rows(points, "points"), self.weights, self.library)

    def predict(
        self, state: ClusterState, penalties: Penalties, execution: Execution, elapsed: float
    ) -> tuple[Any, Any]:
        """Return the identity and the cost of each row, on the GPU."""
        found: tuple[Any, Any] = self.engine(execution).predict_labels(
            self, state, penalties, elapsed
        )
        return found

    def distances(self, state: ClusterState) -> Any:
        """Return the distance of each row to each center, on the GPU."""
        return device_engine().device_distances(self, state)

    def deliver(self, array: Any) -> Any:
        """Hand a CuPy array to the library that the points came from, without a copy."""
        if self.library == "torch":
            import torch  # noqa: PLC0415

            return torch.from_dlpack(array)
        if self.library == "jax":
            import jax  # noqa: PLC0415

            return jax.dlpack.from_dlpack(array)
        return array


def prepare_batch(
    points: Any, sample_weight: Any, n_features: int | None, name: str = "points"
) -> GpuBatch:
    """Check a batch on a GPU; float32 stays float32, everything else becomes float64."""
    library = type(points).__module__.partition(".")[0]
    rows = as_floats(as_cupy(points), name, 2)
    check_size(name, len(rows))
    if n_features is not None:
        check_features(rows.shape[1], n_features, name)
    known = library.removesuffix("lib") if library in ("torch", "jax", "jaxlib") else "cupy"
    return GpuBatch(_check_rows(rows, name), _take_weights(sample_weight, len(rows)), known)


def _check_rows(rows: Any, name: str) -> Any:
    bad = first_bad(rows)
    if bad is not None:
        value = float(rows.reshape(-1)[bad])
        raise ValueError(
            f"{name} must be finite and at most {MAX_COORDINATE:g} in magnitude, got {value}."
        )
    return rows


def _take_weights(sample_weight: Any, n_points: int) -> Any:
    if sample_weight is None:
        return None
    if not is_on_device(sample_weight):
        return cp.asarray(check_weights(sample_weight, n_points))
    weights = as_floats(as_cupy(sample_weight), "sample_weight", 1)
    if weights.shape != (n_points,):
        raise ValueError(
            f"sample_weight must have one value for each of {n_points} points, "
            f"got shape {weights.shape}."
        )
    is_good = (weights >= 0) & (weights <= MAX_WEIGHT)
    if not bool(is_good.all()):
        bad = weights[~is_good][0]
        raise ValueError(f"sample_weight must be at least 0 and at most {MAX_WEIGHT:g}, got {bad}.")
    return weights


def as_floats(array: Any, name: str, n_dimensions: int) -> Any:
    """Return an array on a device as kernels read it: by rows, aligned; rows of float32 stay so."""
    if array.dtype.kind not in "fiub":
        kind = "complex numbers" if array.dtype.kind == "c" else f"dtype {array.dtype}"
        raise TypeError(f"{name} must be real numbers, got {kind}.")
    if array.ndim != n_dimensions:
        words = {1: "one dimension", 2: "two dimensions"}[n_dimensions]
        raise ValueError(f"{name} must have {words}, got shape {array.shape}.")
    if array.dtype == np.float32:
        array = cp.ascontiguousarray(array) if n_dimensions == 2 else widen(array)
    else:
        array = cp.ascontiguousarray(array, dtype=np.float64)
    return array if array.data.ptr % ALIGNMENT == 0 else array.copy()


def widen(array: Any) -> Any:
    """Return float32 as float64; CuPy's own conversion takes values below 1.2e-38 for 0."""
    array = cp.ascontiguousarray(array)
    wide = cp.empty(array.shape)
    kernel = load_module("rows", "float").get_function("widen_values")
    launch(kernel, array.size, (array, np.int64(array.size), wide))
    return wide


def first_bad(rows: Any) -> int | None:
    """Return the place of the first coordinate that is not allowed, without a copy of the rows."""
    kernel = load_module("rows", row_type(rows)).get_function("first_bad")
    (first,) = upload(np.array([2**64 - 1], np.uint64))
    launch(kernel, rows.size, (rows, np.int64(rows.size), MAX_COORDINATE, first))
    found = count_of(first)
    return None if found == 2**64 - 1 else found


def as_cupy(array: Any) -> Any:
    """Return the array as CuPy's, without a copy."""
    if isinstance(array, cp.ndarray):
        return array
    if hasattr(array, "detach"):
        array = array.detach()
    return cp.from_dlpack(array) if hasattr(array, "__dlpack__") else cp.asarray(array)
