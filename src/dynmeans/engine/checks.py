"""Checks of points, weights, orders and times from outside, at the door of the engine."""

import math
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from dynmeans.engine.compiled import compiled
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_number
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

# As compiled code reads arrays: by rows, aligned (those off a network may not be), no subclass.
READABLE: tuple[Literal["C"], Literal["A"], Literal["E"]] = ("C", "A", "E")
MAX_POINTS: int = compiled.MAX_POINTS
MAX_COORDINATE: float = compiled.MAX_COORDINATE
MAX_WEIGHT: float = compiled.MAX_WEIGHT
_MAX_ERROR = 1e-3  # of a squared length of 1


# Whether every item of a list is a batch of rows that needs neither conversion nor complaint.
are_plain_batches = compiled.are_plain_batches
# What an estimator draws from RandomState(seed).
entropy_of_seed = compiled.entropy_of_seed


def check_size(name: str, n_points: int) -> None:
    """Refuse a batch whose rows a 32-bit slot number cannot count."""
    if n_points > MAX_POINTS:
        raise ValueError(f"{name} must have at most 2**31 - 1 points, got {n_points}.")


def is_checked_batch(points: object, n_features: int, *, allow_float32: bool = True) -> bool:
    """Return whether this is a plain array that needs neither conversion nor complaint."""
    return compiled.is_plain_batch(points, n_features, allow_float32)


def check_points(points: npt.ArrayLike, n_features: int, name: str = "points") -> BatchArray:
    """Return the points as an array of rows, or raise an error.

    float32 stays float32, without a copy; everything else becomes float64.
    """
    if is_checked_batch(points, n_features):
        return cast(BatchArray, points)
    array = as_rows(points, name)
    check_features(array.shape[1], n_features, name)
    return check_coordinates(array, name)


def as_rows(points: npt.ArrayLike, name: str = "points") -> BatchArray:
    """Return the points as an array of rows of floats, whatever their values."""
    if hasattr(points, "toarray"):
        raise TypeError(
            f"{name} must be a dense array, got a sparse {type(points).__name__}. Sparse rows are "
            'taken by dynmeans.cluster, and by DynamicMeans in the space "cosine".'
        )
    check_not_masked(name, points)
    array = np.asarray(points)
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got shape {array.shape}.")
    check_size(name, len(array))
    if array.dtype == np.float32:
        return np.require(array, requirements=READABLE)
    return as_floats(name, array)


def check_not_masked(name: str, values: object) -> None:
    """Refuse a masked array: masked values would be used as values."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        n_masked = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{name} must have no masked values, got {n_masked}. Leave such rows out, for example "
            "with np.ma.compress_rows."
        )


def check_features(n_found: int, n_features: int, name: str = "points") -> None:
    """Refuse points of another dimension than the state's."""
    if n_found != n_features:
        raise ValueError(
            f"{name} has {n_found} features, but the state has {n_features}. "
            "Use ClusterState.empty() to start with other data."
        )


def are_in_range(array: BatchArray) -> bool:
    """Return whether every value is finite and small enough to be squared."""
    return compiled.all_within(array, MAX_COORDINATE)


def check_coordinates(array: BatchArray, name: str) -> BatchArray:
    """Return `array` if every value is finite and small enough to be squared."""
    if not array.flags.aligned:
        array = np.require(array, requirements=READABLE)
    if not are_in_range(array):
        bad = next(x for x in array.ravel().tolist() if not abs(x) <= MAX_COORDINATE)
        message = (
            "NaN. Leave rows that lack a value out, as dynmeans.cluster does" if bad != bad else bad
        )
        raise ValueError(
            f"{name} must be finite and at most {MAX_COORDINATE:g} in magnitude, got {message}."
        )
    return array


def check_weights(
    weights: npt.ArrayLike | None, n_points: int, name: str = "sample_weight"
) -> FloatArray | None:
    """Return one weight for each point, or None where every point weighs 1."""
    if weights is None:
        return None
    if compiled.are_plain_weights(weights, n_points):
        return cast(FloatArray, weights)
    check_not_masked(name, weights)
    array = as_floats(name, np.asarray(weights))
    if array.shape != (n_points,):
        raise ValueError(
            f"{name} must have one value for each of {n_points} points, got shape {array.shape}."
        )
    if array.size and not (array.min() >= 0 and array.max() <= MAX_WEIGHT):
        bad = array[~((array >= 0) & (array <= MAX_WEIGHT))][0]
        raise ValueError(f"{name} must be at least 0 and at most {MAX_WEIGHT:g}, got {bad}.")
    return array


def check_orders(orders: npt.ArrayLike, n_points: int) -> IntArray:
    """Return the visiting orders, one permutation of the rows in each row."""
    if compiled.are_plain_orders(orders, n_points):
        return cast(IntArray, orders)
    array = np.asarray(orders)
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] != n_points:
        raise ValueError(
            f"orders must have shape (n_init, {n_points}) with n_init at least 1, "
            f"got {array.shape}."
        )
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"orders must hold integers, got dtype {array.dtype}.")
    array = np.require(array, np.int64, READABLE)
    row = compiled.first_bad_order(array)
    if row >= 0:
        raise ValueError(
            f"orders must hold permutations of 0 to {n_points - 1}, got {array[row]} in row {row}."
        )
    return array


def check_elapsed(elapsed: object) -> float:
    """Return the time since the previous batch; less than 1e-12 would be lost in the ages."""
    if type(elapsed) is float and 1e-12 <= elapsed < math.inf:
        return elapsed
    number = check_number("elapsed", elapsed, above=0)
    return check_number("elapsed", number, at_least=1e-12)


def broadcast_to_batches(name: str, value: Any, n_batches: int) -> list[Any]:
    """Spread one value over all batches, or check that there is one for each."""
    if n_batches == 0:
        raise ValueError("batches must hold at least one batch, got none.")
    if not np.iterable(value):
        return [value] * n_batches
    values = list(value)
    if len(values) != n_batches:
        raise ValueError(
            f"{name} must have one value for each of {n_batches} batches, got {len(values)}."
        )
    return values


def as_floats(name: str, array: npt.NDArray[np.generic]) -> FloatArray:
    """Return the array as float64, or raise an error"""
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must be real, got complex numbers.")
    if array.dtype.kind not in "fiubO":
        raise TypeError(f"{name} must be numeric, got dtype {array.dtype}.")
    try:
        return np.require(array, np.float64, READABLE)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be numeric: {error}.") from error


def row_off_sphere(points: BatchArray) -> tuple[int, float] | None:
    """Return the first row that does not have length 1, with its length; None if all have."""
    squares = np.einsum("ij,ij->i", points, points, dtype=np.float64)
    is_off = np.abs(squares - 1.0) > _MAX_ERROR
    if not is_off.any():
        return None
    row = int(np.argmax(is_off))
    return row, float(np.sqrt(squares[row]))


def check_lengths(batch: Any) -> None:
    """Refuse points that are not of length 1, where centers are."""
    found = batch.row_off_sphere()
    if found is not None:
        raise InputError(
            "points",
            "must have length 1 for centers on the unit sphere; row {} has length {:.3g}",
            *found,
            hint="Divide each row by its length, or use {space='cosine'} of DynamicMeans.",
        )
