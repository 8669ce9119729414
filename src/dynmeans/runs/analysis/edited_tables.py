"""Tables of a run with what people made of its clusters: names, mergers and pins."""

from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.records.arrays import IntArray
from dynmeans.runs.edits import Edits


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
