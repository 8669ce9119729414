"""What the states of many keys must be, checked when they come from a file."""

from typing import Any

import numpy as np

from dynmeans.records.cluster_rows import MAX_COUNTER


def check_groups(states: Any) -> None:
    """Refuse arrays that do not belong together, and rows that no step could have made."""
    _check_layout(states)
    ids, starts = states.ids, states.starts
    if not all(a < b for a, b in zip(states.sorted_keys, states.sorted_keys[1:], strict=False)):
        raise ValueError("keys must be different and in increasing order.")
    is_first = np.zeros(len(ids) + 1, dtype=bool)
    is_first[starts] = True
    if np.any(ids < 0) or np.any((np.diff(ids) <= 0) & ~is_first[1:-1]):
        raise ValueError("ids of each key must be increasing and not negative.")
    has_clusters = starts[1:] > starts[:-1]
    next_ids = states.next_ids
    if np.any(next_ids < 0) or np.any(next_ids > MAX_COUNTER):
        raise ValueError("next_ids must be from 0 to 2**62.")
    if np.any(next_ids[has_clusters] <= ids[starts[1:][has_clusters] - 1]):
        raise ValueError("next_ids must be above every id of their key.")
    if not np.all(np.isfinite(states.centers)):
        raise ValueError("centers must be finite.")
    for name in ("weights", "ages", "counts"):
        array = getattr(states, name)
        if not np.all((array > 0) & np.isfinite(array)):
            raise ValueError(f"{name} must be greater than 0 and finite.")
    if np.any((states.n_steps < 0) | (states.n_steps > MAX_COUNTER)) or not np.all(
        (states.times >= 0) & np.isfinite(states.times)
    ):
        raise ValueError("n_steps and times must be at least 0 and finite.")


def _check_layout(states: Any) -> None:
    """Shapes and types: one row for each cluster, or for each key."""
    n_keys, n_clusters, starts = len(states.sorted_keys), len(states.ids), states.starts
    if starts.shape != (n_keys + 1,) or starts[0] != 0 or starts[-1] != n_clusters:
        raise ValueError("starts must say where the clusters of each key begin, and the end.")
    if states.centers.ndim != 2 or states.centers.shape[1] < 1:
        raise ValueError(f"centers must have two dimensions, got shape {states.centers.shape}.")
    sizes = {"ids": n_clusters, "weights": n_clusters, "ages": n_clusters, "counts": n_clusters}
    sizes |= {"next_ids": n_keys, "n_steps": n_keys, "times": n_keys, "last_batches": n_keys}
    for name, size in sizes.items():
        if getattr(states, name).shape != (size,):
            raise ValueError(f"{name} must have {size} values.")
    if len(states.centers) != n_clusters or np.any(np.diff(starts) < 0):
        raise ValueError("centers and starts must have a row for each cluster.")
    integers = [starts, states.ids, states.next_ids, states.n_steps]
    floats = [states.centers, states.weights, states.ages, states.counts, states.times]
    if any(array.dtype != np.int64 for array in integers):
        raise ValueError("starts, ids, next_ids and n_steps must be 64-bit integers.")
    if any(array.dtype != np.float64 for array in floats):
        raise ValueError("centers, weights, ages, counts and times must be 64-bit floats.")
    if not isinstance(states.settings, dict):
        raise ValueError(f"settings must be a table of names, got {states.settings!r}.")
