"""Families as Arrow tables; loaded on first use."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dynmeans.files.history_tables import as_frame
from dynmeans.files.integers_if_whole import integers_if_whole
from dynmeans.inputs.fields import one_of

if TYPE_CHECKING:
    from dynmeans.records.families import Families

TABLES = ("clusters", "tree")


def frame(families: "Families", table: str, kind: str) -> Any:
    """Return a view as a frame of this kind."""
    one_of("table", table, TABLES)
    arrow = clusters_table_of_families(families) if table == "clusters" else tree_table(families)
    return as_frame(arrow, kind, "kind")


def clusters_table_of_families(families: "Families") -> pa.Table:
    """One row for each identity: its family, points and batches."""
    return pa.table(
        {
            "cluster_id": families.tree.ids,
            "family_id": families.family_of_cluster,
            "n_points": integers_if_whole(families.counts),
            "n_batches": families.n_batches,
        }
    )


def tree_table(families: "Families") -> pa.Table:
    """One row for each join: a member of either side, the level, and the evidence."""
    tree = families.tree
    return pa.table(
        {
            "cluster_id": np.ascontiguousarray(tree.children[:, 0]),
            "other_id": np.ascontiguousarray(tree.children[:, 1]),
            "level": tree.heights,
            "distance": tree.distances,
            "contact": tree.contacts,
            "n_shared_batches": tree.n_shared_batches,
            "is_joined": tree.heights <= families.level,
        }
    )
