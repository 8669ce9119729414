"""What can happen to a cluster in one step, in one vocabulary."""

from dataclasses import dataclass

KINDS = ("born", "moved", "vanished", "returned", "forgotten", "split", "merged", "joined")


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one cluster.

    Attributes
    ----------
    kind : str
        ``born``: first seen. ``moved``: seen in the last batch and in this one. ``vanished``:
        seen in the last batch, not in this one. ``returned``: seen again after a gap.
        ``forgotten``: dropped from memory, it cannot come back. ``split``: a new cluster took
        over a part of an old one. ``merged``: a vanished cluster's points went to another.
        ``joined``: a family turned out to belong to an older one; both numbers are of families.
    cluster_id : int
        Whom it happened to; in a split the new cluster, in a merger the vanished one.
    other_id : int, optional
        In a split the cluster it came from, in a merger the one it went to.
    displacement : float, optional
        How far the center moved since last seen; for ``moved`` and ``returned``.
    gap : float, optional
        Steps of time since last seen; for ``returned``.
    speed : float, optional
        How far the cluster moves in a step of time, where clusters keep a course; for ``moved``
        and ``returned``.
    """

    kind: str
    cluster_id: int
    other_id: int | None = None
    displacement: float | None = None
    gap: float | None = None
    speed: float | None = None
