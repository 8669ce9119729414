"""What an export says of labels: who is confirmed, and the family of each."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.records.arrays import IntArray
from dynmeans.records.confirmed import confirmed_ids
from dynmeans.records.families import Families
from dynmeans.runs.run import Run

FAMILY = "family_id"


@dataclass(frozen=True, slots=True, eq=False)
class LabelView:
    """A view of the labels of a run; the run is not modified.

    Attributes
    ----------
    families : Families, optional
        Adds the column `family_id`: the family of the identity, confirmed or not.
    confirmed : IntArray, optional
        Every other identity becomes -1 in `cluster_id`.
    """

    families: Families | None = None
    confirmed: IntArray | None = None

    @property
    def added(self) -> tuple[str, ...]:
        """Names of the columns that the view adds."""
        return () if self.families is None else (FAMILY,)

    def of(self, table: pa.Table) -> pa.Table:
        """Return labels as the view shows them."""
        if self.families is None and self.confirmed is None:
            return table
        ids = table["cluster_id"].to_numpy()
        if self.families is not None:
            table = table.append_column(FAMILY, pa.array(self.families.of(ids)))
        if self.confirmed is not None:
            shown = np.where(np.isin(ids, self.confirmed), ids, -1)
            place = table.schema.get_field_index("cluster_id")
            field = table.schema.field(place)
            table = table.set_column(place, field, pa.array(shown, type=field.type))
        return table


AS_STORED = LabelView()


def confirmed_of_run(run: Run, *, min_cluster_size: float = 1, min_life: int = 1) -> IntArray:
    """Return the identities that held enough points and were seen in enough windows."""
    min_cluster_size = checked_number("min_cluster_size", min_cluster_size, at_least=0)
    min_life = checked_count("min_life", min_life)
    records = list(run.history(labels=False))
    ids, counts = [record.ids for record in records], [record.counts for record in records]
    return confirmed_ids(ids, counts, min_cluster_size, min_life)
