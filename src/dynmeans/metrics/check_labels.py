"""Labels and weights from outside: checked, numbered, and laid out point after point."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dynmeans.records.arrays import FloatArray, IntArray

Batches = Iterable[npt.ArrayLike]

UNLABELED = -1  # as a true label: nobody knows, so the point is not scored
NO_CLUSTER = -1  # as a found label: the point was put in no cluster


class ScoredPoints(NamedTuple):
    """The points that count, step after step; unlabeled ones and those of weight 0 do not.

    Labels are numbered from 0 in their sorted order; `NO_CLUSTER` is unchanged.
    """

    steps: IntArray
    true_labels: IntArray
    found_labels: IntArray
    weights: FloatArray | None  # None where every point counts alike
    n_steps: int
    counts: IntArray | None = None  # points that each row stands for; one where None


def check_labels(true: Batches, found: Batches, weights: Batches | None = None) -> ScoredPoints:
    """Check the labels and weights of all batches, or raise an error."""
    true_batches, found_batches = label_batches("true", true), label_batches("found", found)
    _check_same_rows(true_batches, "found", found_batches)
    steps = np.repeat(np.arange(len(true_batches)), [len(batch) for batch in true_batches])
    true_labels, found_labels = np.concatenate(true_batches), np.concatenate(found_batches)
    is_scored = ~_is_none(true_labels, UNLABELED)
    if not is_scored.any():
        raise ValueError(
            "true must hold at least one labeled point, "
            f"got {len(is_scored)} points in {len(true_batches)} batches, none of them labeled."
        )
    point_weights = None
    if weights is not None:
        weight_batches = _weight_batches(weights)
        _check_same_rows(true_batches, "weights", weight_batches)
        point_weights = _scale_to_one(np.concatenate(weight_batches))
        is_scored &= point_weights > 0
        if not is_scored.any():
            raise ValueError("weights must be above 0 for a labeled point, got 0 for all of them.")
        point_weights = point_weights[is_scored]
    return ScoredPoints(
        steps=steps[is_scored],
        true_labels=_number_labels(true_labels[is_scored], UNLABELED),
        found_labels=_number_labels(found_labels[is_scored], NO_CLUSTER),
        weights=point_weights,
        n_steps=len(true_batches),
    )


def check_counts(
    steps: IntArray, true: npt.NDArray[Any], found: IntArray, counts: IntArray
) -> ScoredPoints:
    """Lay out points that were counted: how many have each step, true and found label."""
    true = _labels("true", true)
    is_scored = ~_is_none(true, UNLABELED)
    if not is_scored.any():
        raise ValueError("true must hold at least one labeled point, got none.")
    return ScoredPoints(
        steps=steps[is_scored],
        true_labels=_number_labels(true[is_scored], UNLABELED),
        found_labels=_number_labels(found[is_scored], NO_CLUSTER),
        weights=counts[is_scored].astype(np.float64),
        n_steps=int(steps.max()) + 1,
        counts=counts[is_scored],
    )


def number_distinct(keys: IntArray) -> tuple[IntArray, IntArray]:
    """Sorted distinct keys, and the place of every key among them: np.unique, only faster."""
    if not len(keys):
        return keys, keys
    low, high = int(keys.min()), int(keys.max())
    # Keys that lie close together are marked in a table in linear time; others are sorted.
    if high - low >= 16 * len(keys):
        distinct, places = np.unique(keys, return_inverse=True)
        return distinct, places
    is_used = np.zeros(high - low + 1, dtype=bool)
    is_used[keys - low] = True
    return np.flatnonzero(is_used) + low, (np.cumsum(is_used) - 1)[keys - low]


def sum_by(places: IntArray, values: npt.NDArray[Any] | None, n_places: int) -> FloatArray:
    """Sum of the values at each place, or how many there are: np.bincount, always float."""
    return np.bincount(places, values, n_places).astype(np.float64, copy=False)


def _number_labels(labels: npt.NDArray[Any], none: int) -> IntArray:
    numbers = np.full(len(labels), none, dtype=np.int64)
    is_label = ~_is_none(labels, none)
    if labels.dtype.kind == "U":
        numbers[is_label] = np.unique(labels, return_inverse=True)[1]
    else:
        numbers[is_label] = number_distinct(labels[is_label])[1]
    return numbers


def _is_none(labels: npt.NDArray[Any], none: int) -> npt.NDArray[np.bool_]:
    """Return where a label means none; a string never does."""
    if labels.dtype.kind == "U":
        return np.zeros(len(labels), dtype=bool)
    return np.asarray(labels == none)


def _scale_to_one(weights: FloatArray) -> FloatArray:
    """Scale the largest weight to about 1, by a power of two: exact, and no sum overflows."""
    exponent = np.frexp(weights.max(initial=0.0))[1]
    return np.asarray(np.ldexp(weights, -exponent))


def label_batches(name: str, batches: Batches) -> list[npt.NDArray[Any]]:
    """Return the labels of each batch, as int64 or str in all of them."""
    labels = [
        _labels(f"{name}[{step}]", batch) for step, batch in enumerate(_arrays(name, batches))
    ]
    kinds = {batch.dtype.kind for batch in labels if len(batch)}
    if len(kinds) > 1:
        raise TypeError(f"{name} must hold integers only or strings only, got both.")
    dtype = np.str_ if kinds == {"U"} else np.int64
    return [batch if len(batch) else np.empty(0, dtype) for batch in labels]


def _labels(name: str, batch: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels of one batch as int64 or str."""
    if not len(batch) or np.can_cast(batch.dtype, np.int64):
        return batch.astype(np.int64, copy=False)
    if batch.dtype.kind == "U":
        return batch
    if batch.dtype.kind == "O" and all(isinstance(label, str) for label in batch):
        return batch.astype(np.str_)
    raise TypeError(
        f"{name} must hold integers or strings, got dtype {batch.dtype}. "
        "Whole numbers stored otherwise can be converted with astype('int64')."
    )


def _weight_batches(batches: Batches) -> list[FloatArray]:
    weights = []
    for step, batch in enumerate(_arrays("weights", batches)):
        if len(batch) and batch.dtype.kind not in "iuf":
            raise TypeError(f"weights[{step}] must hold numbers, got dtype {batch.dtype}.")
        values = batch.astype(np.float64)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(bad):
            raise ValueError(
                f"weights[{step}] must be finite and 0 or more, "
                f"got {batch[bad[0]]!s} in row {bad[0]}."
            )
        weights.append(values)
    return weights


def _arrays(name: str, batches: Batches) -> list[npt.NDArray[Any]]:
    """One array of one dimension for each batch."""
    if not isinstance(batches, Iterable):
        raise TypeError(f"{name} must be a list with one array per batch, got {batches!r}.")
    arrays = [np.asarray(batch) for batch in batches]
    if not arrays:
        raise ValueError(f"{name} must hold at least one batch, got 0.")
    for step, batch in enumerate(arrays):
        if batch.ndim != 1:
            raise ValueError(
                f"{name}[{step}] must have one dimension, got shape {batch.shape}. "
                f"Give {name} as a list with one array per batch."
            )
    return arrays


def _check_same_rows(
    true: Sequence[npt.NDArray[Any]], name: str, batches: Sequence[npt.NDArray[Any]]
) -> None:
    if len(batches) != len(true):
        raise ValueError(
            f"true and {name} must have the same number of batches, "
            f"got {len(true)} and {len(batches)}."
        )
    for step, (labels, batch) in enumerate(zip(true, batches, strict=True)):
        if len(batch) != len(labels):
            raise ValueError(
                f"true[{step}] and {name}[{step}] must have the same number of rows, "
                f"got {len(labels)} and {len(batch)}."
            )
