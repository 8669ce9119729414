"""Families as Arrow tables; loaded only when one is asked for."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from dynmeans.files.history_tables import as_frame
from dynmeans.files.whole_counts import whole_counts
from dynmeans.files.whole_file import whole_file
from dynmeans.inputs.fields import one_of
from dynmeans.inputs.input_error import InputError

if TYPE_CHECKING:
    from dynmeans.records.families import Families

TABLES = ("identities", "tree")


def frame(families: "Families", table: str, kind: str) -> Any:
    """Return a view as a frame of this kind."""
    one_of("table", table, TABLES)
    arrow = identities_table(families) if table == "identities" else tree_table(families)
    return as_frame(arrow, kind, "kind")


def identities_table(families: "Families") -> pa.Table:
    """One row for each identity: its family, points and batches."""
    return pa.table(
        {
            "cluster_id": families.tree.ids,
            "family_id": families.family_of_identity,
            "n_points": whole_counts(families.counts),
            "n_batches": families.n_batches,
        }
    )


def tree_table(families: "Families") -> pa.Table:
    """One row for each join: a member of either side, the level, and the evidence."""
    tree = families.tree
    return pa.table(
        {
            "cluster_id": np.ascontiguousarray(tree.joined[:, 0]),
            "other_id": np.ascontiguousarray(tree.joined[:, 1]),
            "level": tree.heights,
            "distance": tree.distances,
            "contact": tree.contacts,
            "n_together": tree.together,
            "is_joined": tree.heights <= families.level,
        }
    )


def write_families(families: "Families", path: str | os.PathLike[str]) -> None:
    """Write the table of identities to a Parquet or CSV file; whole or not at all."""
    target = Path(path)
    if target.suffix not in (".parquet", ".csv"):
        raise InputError("path", "must end in .parquet or .csv", got=str(target))
    table = identities_table(families)
    with whole_file(target) as temporary:
        if target.suffix == ".csv":
            pa_csv.write_csv(table, temporary)
        else:
            pq.write_table(table, temporary)
