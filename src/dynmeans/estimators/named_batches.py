"""Batches as people have them: lists, named frames, the groups of a frame; labels go back alike."""

import os
import sys
import warnings
from collections.abc import Iterable, Sequence
from datetime import datetime
from numbers import Real
from typing import Any

import numpy as np

from dynmeans.inputs.batch_times import check_batch_times, parse_batch_time, steps_between
from dynmeans.records.arrays import IntArray

_WAYS = (
    "Give one table for each batch: a list of arrays or frames, a list of (name, frame) pairs, or "
    'frame.groupby("day"). A table with a column of times is cut into batches by '
    "dynmeans.cluster(frame, time=..., every=...)"
)


def parse_batches(
    batches: Iterable[Any], elapsed: Any, times: Sequence[Any] | None, time_step: Any
) -> tuple[list[Any], list[Any], Any]:
    """Return the batches, when each came (None if unknown), and the steps before each."""
    given, names = named_batches(batches)
    named = names if times is None else times
    when = [None] * len(given) if named is None else check_batch_times(named, len(given))
    steps = steps_between(elapsed, None if named is None else when, time_step)
    if named is not None and all(isinstance(parse_batch_time(name), datetime) for name in named):
        _warn_unordered_times(when)
    return given, when, steps


def _warn_unordered_times(when: list[Any]) -> None:
    """Warn if dates became mere names because they do not rise."""
    if when and isinstance(when[0], str):
        warnings.warn(
            f"times are not increasing (first at {when[0]}). Batches are processed in the given "
            "order, and times are used as labels only. Sort the batches if the order is wrong.",
            UserWarning,
            stacklevel=2,
        )


def named_batches(batches: Iterable[Any]) -> tuple[list[Any], list[Any] | None]:
    """Return the batches and their names, if they have any.

    >>> named_batches([("Monday", [[0.0]]), ("Tuesday", [[1.0]])])
    ([[[0.0]], [[1.0]]], ['Monday', 'Tuesday'])
    """
    is_single = isinstance(batches, str | os.PathLike) or getattr(batches, "ndim", 3) < 3
    if is_single and not _is_grouped(batches):
        raise ValueError(
            f"batches must be a sequence of tables, got a single {type(batches).__name__}. {_WAYS}."
        )
    if isinstance(batches, dict):
        batches = batches.items()
    given = list(batches)
    if given and _is_row(given[0]):
        raise ValueError(f"batches must be a sequence of tables, got a sequence of rows. {_WAYS}.")
    if not given or not all(_is_pair(item) for item in given):
        return given, None
    names = [_plain_name(name) for name, _ in given]
    frames = [_without(frame, _key_columns(batches)) for _, frame in given]
    if _has_no_order(batches):
        order = sorted(range(len(names)), key=names.__getitem__)
        names, frames = [names[i] for i in order], [frames[i] for i in order]
    return frames, names


def labels_in_type_of(batch: Any, labels: IntArray) -> Any:
    """Return the labels with the index of a pandas frame, as a series of polars, or as they are."""
    if type(batch) is np.ndarray:
        return labels
    library = type(batch).__module__.partition(".")[0]
    if library == "pandas" and hasattr(batch, "index"):
        return sys.modules["pandas"].Series(labels, index=batch.index, name="cluster_id")
    if library == "polars":
        return sys.modules["polars"].Series("cluster_id", labels)
    return labels


def _is_pair(item: Any) -> bool:
    return (
        isinstance(item, tuple)
        and len(item) == 2
        and np.ndim(item[0]) == (1 if isinstance(item[0], tuple) else 0)
        and len(getattr(item[1], "shape", None) or np.shape(item[1])) == 2
    )


def _is_row(item: Any) -> bool:
    is_list = isinstance(item, list | tuple) and len(item) > 0
    return is_list and all(isinstance(value, Real) for value in item)


def _is_grouped(batches: Any) -> bool:
    return type(batches).__name__ in ("DataFrameGroupBy", "GroupBy")


def _plain_name(name: Any) -> Any:
    return name[0] if isinstance(name, tuple) and len(name) == 1 else name


def _key_columns(batches: Any) -> list[Any]:
    """Return the columns that a frame is grouped by: they name a batch and are no features."""
    if not _is_grouped(batches):
        return []
    keys = batches.keys if hasattr(batches, "keys") else batches.by
    listed = list(keys) if isinstance(keys, list | tuple) else [keys]
    return [getattr(key, "key", key) for key in listed]  # a Grouper of pandas has its column


def _without(frame: Any, columns: list[Any]) -> Any:
    found = [name for name in columns if isinstance(name, str) and name in frame.columns]
    if not found:
        return frame
    if type(frame).__module__.startswith("polars"):
        return frame.drop(found)
    return frame.drop(columns=found)


def _has_no_order(batches: Any) -> bool:
    """Groups of polars come in any order unless it is maintained."""
    return _is_grouped(batches) and getattr(batches, "maintain_order", None) is False
