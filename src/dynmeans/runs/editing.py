"""Editing: what people make of the clusters of a run, as methods of the run."""

from collections.abc import Mapping

from dynmeans.runs import edits
from dynmeans.runs.edits import Edit, Edits
from dynmeans.runs.store.store import Store


class Editing:
    """Names, mergers and pins; also while another process writes to the run."""

    _store: Store

    @property
    def edits(self) -> Edits:
        """Names, mergers and pins that are in force, and the log of all edits."""
        return edits.edits_of(self._store)

    def name_cluster(self, cluster_id: int, name: str, *, who: str | None = None) -> Edit:
        """Give a cluster a name, which is shown wherever it is; an empty one takes it away.

        Parameters
        ----------
        cluster_id : int
            Its identity.
        name : str
            At most 200 characters.
        who : str, optional
            Who says so; by default the user of this computer.
        """
        return self.name_clusters({cluster_id: name}, who=who)[0]

    def name_clusters(self, names: Mapping[int, str], *, who: str | None = None) -> list[Edit]:
        """Give several clusters names; if one is refused, none is given."""
        return edits.name_clusters(self._store, names, who=who)

    def merge_clusters(self, kept_id: int, other_id: int, *, who: str | None = None) -> Edit:
        """Show `other_id`, and all that are shown as it, as `kept_id`; no label is modified."""
        return edits.merge_clusters(self._store, kept_id, other_id, who=who)

    def pin_cluster(self, cluster_id: int, *, who: str | None = None) -> Edit:
        """Keep a cluster confirmed, however small or short-lived it is."""
        return edits.pin_cluster(self._store, cluster_id, who=who)

    def undo_edit(self, number: int | None = None, *, who: str | None = None) -> Edit:
        """Undo an edit, by default the last one that is in force; the log keeps both."""
        return edits.undo_edit(self._store, number, who=who)
