"""What the states of many keys must be, checked when they come from a file."""

from itertools import pairwise
from typing import Any

import numpy as np

from dynmeans.records.cluster_rows import MAX_COUNTER

_INTEGERS = ("starts", "ids", "next_ids", "n_steps")
_FLOATS = ("centers", "weights", "ages", "counts", "times")


def check_groups(states: Any) -> None:
    """Refuse arrays that do not belong together, and rows that no step could have made."""
    _check_layout(states)
    keys, ids, starts = states.sorted_keys, states.ids, states.starts
    if not all(a < b for a, b in pairwise(keys)):
        raise ValueError("keys must be different and in increasing order.")
    is_first = np.zeros(len(ids) + 1, dtype=bool)
    is_first[starts] = True
    if np.any(ids < 0) or np.any((np.diff(ids) <= 0) & ~is_first[1:-1]):
        raise ValueError("ids of each key must be increasing and not negative.")
    for name in ("next_ids", "n_steps"):
        if np.any((getattr(states, name) < 0) | (getattr(states, name) > MAX_COUNTER)):
            raise ValueError(f"{name} must be from 0 to 2**62.")
    has_clusters = starts[1:] > starts[:-1]
    if np.any(states.next_ids[has_clusters] <= ids[starts[1:][has_clusters] - 1]):
        raise ValueError("next_ids must be above every id of their key.")
    if not np.all(np.isfinite(states.centers)):
        raise ValueError("centers must be finite.")
    for name in ("weights", "ages", "counts"):
        array = getattr(states, name)
        if not np.all((array > 0) & np.isfinite(array)):
            raise ValueError(f"{name} must be greater than 0 and finite.")
    if not np.all((states.times >= 0) & np.isfinite(states.times)):
        raise ValueError("times must be at least 0 and finite.")


def _check_layout(states: Any) -> None:
    """Shapes and types: one row for each cluster, or for each key."""
    n_keys, n_clusters, starts = len(states.sorted_keys), len(states.ids), states.starts
    if starts.shape != (n_keys + 1,) or starts[0] != 0 or starts[-1] != n_clusters:
        raise ValueError("starts must say where the clusters of each key begin, and the end.")
    if states.centers.ndim != 2 or states.centers.shape[1] < 1:
        raise ValueError(f"centers must have two dimensions, got shape {states.centers.shape}.")
    sizes = dict.fromkeys(("ids", "weights", "ages", "counts"), n_clusters)
    sizes |= dict.fromkeys(("next_ids", "n_steps", "times", "last_batches"), n_keys)
    for name, size in sizes.items():
        if getattr(states, name).shape != (size,):
            raise ValueError(f"{name} must have {size} values.")
    if len(states.centers) != n_clusters or np.any(np.diff(starts) < 0):
        raise ValueError("centers and starts must have a row for each cluster.")
    for names, dtype in ((_INTEGERS, np.int64), (_FLOATS, np.float64)):
        for name in names:
            if getattr(states, name).dtype != dtype:
                raise ValueError(f"{name} must be of {np.dtype(dtype)}.")
    if not isinstance(states.settings, dict):
        raise ValueError(f"settings must be a table of names, got {states.settings!r}.")
