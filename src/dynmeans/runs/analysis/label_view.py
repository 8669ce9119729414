"""Labels as exports show them: names, confirmed clusters, families."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.records.arrays import IntArray
from dynmeans.records.confirmed import confirmed_ids
from dynmeans.records.families import Families
from dynmeans.records.joined import join_records
from dynmeans.runs.analysis.edited_tables import names_of
from dynmeans.runs.edits import Edits
from dynmeans.runs.run import Run

FAMILY, SUBCLUSTER, CLUSTER_NAME = "family_id", "subcluster_id", "cluster_name"


@dataclass(frozen=True, slots=True, eq=False)
class LabelView:
    """A view of the labels of a run; the run is not modified."""

    # Adds the column `family_id`: the family of the identity, confirmed or not.
    families: Families | None = None
    # Every other identity becomes -1 in `cluster_id`, unless it is pinned.
    confirmed: IntArray | None = None
    # Merged identities become one in `cluster_id`; with names the column `cluster_name` is added.
    edits: Edits = field(default_factory=Edits)
    # Adds the column `subcluster_id`: the part of its cluster, as found.
    has_subclusters: bool = False

    @property
    def added_columns(self) -> tuple[str, ...]:
        """Names of the columns that the view adds."""
        family: tuple[str, ...] = () if self.families is None else (FAMILY,)
        family += (SUBCLUSTER,) if self.has_subclusters else ()
        return (*family, CLUSTER_NAME) if self.edits.names else family

    def of(self, table: pa.Table) -> pa.Table:
        """Return labels as the view shows them."""
        ids = table["cluster_id"].to_numpy()
        if self.families is not None:
            table = table.append_column(FAMILY, pa.array(self.families.map_labels(ids)))
        if self.has_subclusters:
            table = table.append_column(SUBCLUSTER, pa.array(ids))
        if self.edits.names:
            table = table.append_column(CLUSTER_NAME, names_of(ids, self.edits))
        if self.confirmed is None and not self.edits.merged:
            return table
        shown = self.edits.resolve_ids(ids)
        if self.confirmed is not None:
            kept = np.union1d(self.confirmed, np.array(sorted(self.edits.pinned), dtype=np.int64))
            shown = np.where(np.isin(shown, self.edits.resolve_ids(kept)), shown, -1)
        place = table.schema.get_field_index("cluster_id")
        field = table.schema.field(place)
        return table.set_column(place, field, pa.array(shown, type=field.type))


AS_STORED = LabelView()


def view_of_run(run: Run, **options: Any) -> LabelView:
    """Return the view at the level shown, with the edits in force."""
    has_levels = run.levels is not None
    edits = run.edits if options.get("confirmed") is None else run.edits_at(None)
    return LabelView(edits=edits, has_subclusters=has_levels, **options)


def confirmed_of_run(
    run: Run, *, min_cluster_size: float | None = None, min_batches: int | None = None
) -> IntArray:
    """Return the IDs of confirmed clusters; by default by the limits of the run."""
    model_config = run.config.model_config
    given: dict[str, Any] = {"min_cluster_size": min_cluster_size, "min_batches": min_batches}
    model_config = replace(model_config, **{name: n for name, n in given.items() if n is not None})
    records = list(join_records(run.history(labels=False), run.edits_at(None).resolve_ids))
    ids, counts = [record.ids for record in records], [record.counts for record in records]
    return confirmed_ids(ids, counts, model_config.min_cluster_size, model_config.min_batches)
