"""What can happen to a cluster in one step, in one vocabulary."""

from dataclasses import dataclass

KINDS = ("born", "moved", "vanished", "returned", "forgotten", "split", "merged", "joined")


@dataclass(frozen=True, slots=True)
class Event:
    """A change of one cluster in one batch.

    Attributes
    ----------
    kind : str
        ``born``: a new cluster has points. ``moved``: active in the last batch and in this one.
        ``vanished``: active in the last batch, not in this one. ``returned``: active again after a
        gap. ``forgotten``: dropped from memory; it cannot return. ``split``: a new cluster took
        over a part of an older one. ``merged``: its points went to another cluster. ``joined``:
        a family was merged into an older one; both IDs are of families.
    cluster_id : int
        ID of the cluster; of a split the new cluster, of a merge the vanished one.
    other_id : int, optional
        Of a split the older cluster, of a merge the one that received the points.
    displacement : float, optional
        Distance between the last center and this one; for ``moved`` and ``returned``.
    gap : float, optional
        Steps since the cluster was last active; for ``returned``.
    speed : float, optional
        Distance per step with constant velocity; for ``moved`` and ``returned``.

    See Also
    --------
    History : Has the events of every batch.
    DynamicMeans : `events_` has those of the last batch.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> model = DynamicMeans(1.0, random_state=0).partial_fit([[0.0], [5.0]]).partial_fit([[5.5]])
    >>> [(event.kind, event.cluster_id) for event in model.events_]
    [('moved', 1), ('vanished', 0)]
    """

    kind: str
    cluster_id: int
    other_id: int | None = None
    displacement: float | None = None
    gap: float | None = None
    speed: float | None = None
