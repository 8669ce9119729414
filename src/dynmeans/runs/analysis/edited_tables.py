"""Tables of a run at the level shown, with what people made of its clusters."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.files.integers_if_whole import integers_if_whole
from dynmeans.records.arrays import IntArray
from dynmeans.runs.edits import Edits
from dynmeans.runs.store.run_tables import STATUSES


def names_of(ids: IntArray, edits: Edits) -> pa.Array:
    """Return the name of each identity, null where it has none."""
    unique, places = np.unique(ids, return_inverse=True)
    names = pa.array([edits.name_of(k) for k in unique.tolist()], pa.string())
    return names.take(pa.array(places))


def with_names(table: pa.Table, edits: Edits) -> pa.Table:
    """Add `name` after `cluster_id`."""
    place = table.schema.get_field_index("cluster_id") + 1
    names = names_of(table["cluster_id"].to_numpy(), edits)
    return table.add_column(place, "name", names)


def with_edits(table: pa.Table, edits: Edits) -> pa.Table:
    """Add `name`, `merged_into` and `is_pinned` after `cluster_id`."""
    ids = table["cluster_id"].to_numpy()
    place = table.schema.get_field_index("cluster_id") + 1
    added: dict[str, Any] = {
        "merged_into": pa.array(edits.resolve_ids(ids)),
        "is_pinned": pa.array(np.isin(ids, sorted(edits.pinned))),
    }
    table = with_names(table, edits)
    for n, (name, column) in enumerate(added.items(), 1):
        table = table.add_column(place + n, name, column)
    return table


def join_rows(table: pa.Table, edits: Edits, windows: Iterable[tuple[int, IntArray]]) -> pa.Table:
    """Return one row for each cluster of a table of subclusters; `windows` are steps and ids seen.

    Subclusters that are noise are left out. The center is the mean of the subclusters that were
    seen last, by their points.
    """
    shown = edits.resolve_ids(table["cluster_id"].to_numpy())
    kept = np.flatnonzero(shown >= 0)
    ids, place = np.unique(shown[kept], return_inverse=True)
    table = table.take(pa.array(kept))
    rows: dict[str, Any] = {name: table[name].to_numpy(zero_copy_only=False) for name in _SORTED}
    first = np.lexsort((rows["first_step"], place))[
        np.searchsorted(np.sort(place), range(len(ids)))
    ]
    last_step = np.full(len(ids), -1)
    np.maximum.at(last_step, place, rows["last_step"])
    is_last = rows["last_step"] == last_step[place]
    last = np.flatnonzero(is_last)[np.unique(place[is_last], return_index=True)[1]]
    points = rows["n_points"].astype(np.float64)
    masses = np.where(is_last, points, 0.0)
    shares = masses / np.bincount(place, masses, len(ids))[place]
    joined: dict[str, Any] = {"cluster_id": pa.array(ids)}
    for name in table.column_names[1:]:
        column = table[name]
        if name.startswith("center_") and len(place):
            values = np.array(column.to_pylist(), dtype=np.float64).reshape(len(place), -1)
            sums = np.zeros((len(ids), values.shape[1]))
            np.add.at(sums, place, shares[:, None] * values)
            listed = sums[:, 0] if values.shape[1] == 1 else sums.tolist()
            joined[name] = pa.array(listed, column.type)
        else:
            joined[name] = column.take(pa.array(first if name.startswith("first") else last))
    joined["n_points"] = pa.array(
        integers_if_whole(np.bincount(place, points, len(ids)).astype(np.float64))
    )
    joined["n_windows"] = pa.array(_windows_of(ids, edits, windows))
    joined["n_subclusters"] = pa.array(np.bincount(place, minlength=len(ids)))
    best = np.full(len(ids), len(STATUSES))
    np.minimum.at(best, place, np.array([STATUSES.index(s) for s in rows["status"]]))
    joined["status"] = pa.array([STATUSES[rank] for rank in best.tolist()], pa.string())
    return pa.table(joined)


_SORTED = ("first_step", "last_step", "n_points", "status")


def _windows_of(ids: IntArray, edits: Edits, windows: Iterable[tuple[int, IntArray]]) -> IntArray:
    counts = np.zeros(len(ids), dtype=np.int64)
    for _, seen in windows:
        names = np.unique(edits.resolve_ids(seen))
        counts[np.searchsorted(ids, names[names >= 0])] += 1
    return counts
