"""The clocks of groups: time before each batch, and what each key has taken in after them."""

from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray
from dynmeans.records.group_states import GroupStates
from dynmeans.scale.groups.grouped_rows import GroupedRows

_MAX_STEPS = 1e100  # of time between two batches


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
                f"batch must continue after the state: key {rows.keys[group]!r} was taken in up to "
                f"{before.last_batches[group]}, got {values[firsts[group]]}."
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
