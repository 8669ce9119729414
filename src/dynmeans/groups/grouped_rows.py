"""The rows of a frame as streams: sorted by key, cut into batches, checked; and their clocks."""

import reprlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.engine.checks import MAX_COORDINATE, MAX_WEIGHT, are_in_range, check_coordinates
from dynmeans.engine.groups import sort_by_group
from dynmeans.groups.frame_columns import (
    Columns,
    read_batches,
    read_keys,
    read_numbers,
    read_points,
)
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.group_states import GroupStates, Key
from dynmeans.spaces.space import Space

_MAX_STEPS = 1e100  # of time between two batches


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Rows key by key and, within a key, batch by batch."""

    keys: list[Key]
    order: IntArray | None  # row of the frame at each place; None: as in the frame
    points: BatchArray
    weights: FloatArray | None
    batch_starts: IntArray  # first place of each batch, and the end
    group_starts: IntArray  # first batch of each key, and the end
    batch_values: IntArray | FloatArray  # of each batch
    batch_kind: str  # "integer", "number" or "time"; "none" without a batch column


def group_rows(table: pa.Table, columns: Columns, space: Space) -> GroupedRows:
    """Sort the rows by key and find the batches of each, or raise an error with the row."""
    groups, keys = read_keys(table, columns)
    is_sorted = bool(np.all(groups[1:] >= groups[:-1]))
    order, starts = sort_by_group(groups, len(keys))
    rows = None if is_sorted else order
    points = read_points(table, columns.features, rows)
    weights = None
    if columns.weight is not None:
        weights = read_numbers(table, columns.weight, "weight").astype(np.float64)[order]
    place_names = _PlaceNames(keys, starts, order)
    _check_values(points, weights, columns, place_names)
    points = check_coordinates(np.ascontiguousarray(space.to_points(points)), "points")
    return GroupedRows(
        keys, rows, points, weights, *_cut(table, columns, order, starts, place_names)
    )


@dataclass(frozen=True, slots=True)
class _PlaceNames:
    """Names the row at a place of the sorted rows as the user knows it."""

    keys: list[Key]
    starts: IntArray
    order: IntArray

    def __getitem__(self, place: int) -> str:
        key = self.keys[int(np.searchsorted(self.starts, place, side="right")) - 1]
        return f"row {self.order[place]} (key {reprlib.repr(key)})"


def _cut(
    table: pa.Table,
    columns: Columns,
    order: IntArray,
    starts: IntArray,
    place_names: _PlaceNames,
) -> tuple[IntArray, IntArray, Any, str]:
    """Find where batches and groups begin."""
    if columns.batch_column is None:
        numbers = np.arange(len(starts), dtype=np.int64)
        return starts, numbers, np.zeros(len(starts) - 1, dtype=np.int64), "none"
    values, kind = read_batches(table, columns.batch_column)
    values = values[order]
    is_first = np.zeros(len(values), dtype=bool)
    is_first[starts[:-1]] = True
    goes_back = values[1:] < values[:-1]
    if np.any(goes_back & ~is_first[1:]):
        place = int(np.flatnonzero(goes_back & ~is_first[1:])[0]) + 1
        raise ValueError(
            f"batch_column must not decrease within a key: {place_names[place]} is earlier than "
            "the row of that key before it. Sort the frame by that column."
        )
    is_first[1:] |= values[1:] != values[:-1]
    firsts = np.flatnonzero(is_first)
    batch_starts = np.append(firsts, len(values))
    return batch_starts, np.searchsorted(firsts, starts), values[firsts], kind


def _check_values(
    points: BatchArray, weights: FloatArray | None, columns: Columns, place_names: _PlaceNames
) -> None:
    """Refuse the first coordinate or weight that cannot be reckoned with, by row and name."""
    if not are_in_range(points):
        place, j = np.argwhere(~(np.abs(points) <= MAX_COORDINATE))[0]
        raise ValueError(
            f"features must be finite and at most {MAX_COORDINATE:g} in magnitude, got "
            f"{points[place, j]} in column {columns.features[j]!r} of {place_names[place]}."
        )
    if weights is not None and not np.all((weights >= 0) & (weights <= MAX_WEIGHT)):
        place = np.flatnonzero(~((weights >= 0) & (weights <= MAX_WEIGHT)))[0]
        raise ValueError(
            f"weight must be at least 0 and at most {MAX_WEIGHT:g}, got {weights[place]} in "
            f"{place_names[place]}."
        )


def steps_before_batches(
    rows: GroupedRows, before: GroupStates, time_step: float | None
) -> FloatArray:
    """Steps of time before each batch; 1 before the first of a key."""
    firsts, values = rows.group_starts[:-1], rows.batch_values
    is_known = before.n_steps > 0
    if rows.batch_kind != "none":
        is_late = is_known & (values[firsts] <= before.last_batches)
        if np.any(is_late):
            group = int(np.flatnonzero(is_late)[0])
            raise ValueError(
                f"batch_column must continue after the state: key {rows.keys[group]!r} was "
                f"processed up to {before.last_batches[group]}, got {values[firsts[group]]}."
            )
    elapsed = np.ones(len(values))
    if time_step is not None:
        with np.errstate(over="ignore"):  # checked below
            elapsed[1:] = (values[1:] - values[:-1]) / time_step
            gaps = (values[firsts] - before.last_batches) / time_step
        elapsed[firsts] = np.where(is_known, gaps, 1.0)
        if not np.all((elapsed >= 1e-12) & (elapsed < _MAX_STEPS)):
            raise ValueError(
                "time_step must divide the gaps between batches into at least 1e-12 and less than "
                f"{_MAX_STEPS:g} steps, got {time_step!r}."
            )
    return elapsed


def clocks_after(rows: GroupedRows, before: GroupStates, elapsed: FloatArray) -> dict[str, Any]:
    """Count batches and time on, one batch after the other as the estimators do."""
    n_batches = np.diff(rows.group_starts)
    times = before.times.copy()
    for t in range(int(n_batches.max(initial=0))):
        has_batch = n_batches > t
        times[has_batch] += elapsed[rows.group_starts[:-1][has_batch] + t]
    return {
        "n_steps": before.n_steps + n_batches,
        "times": times,
        "last_batches": rows.batch_values[rows.group_starts[1:] - 1],
    }
