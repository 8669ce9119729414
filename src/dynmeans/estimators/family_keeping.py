"""Families and confirmed identities of an estimator that follows clusters."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dynmeans.engine.batch import AnyBatch
from dynmeans.engine.device_input import in_memory
from dynmeans.families.evidence import Evidence
from dynmeans.families.find import families_of
from dynmeans.inputs.numbers import checked_count, checked_number
from dynmeans.records.arrays import IntArray
from dynmeans.records.events import Event
from dynmeans.records.families import Families
from dynmeans.records.state import Clustering, ClusterState

_FEW = 64  # forgotten identities that may wait to be left out
_MOST_WAITING = 64  # batches
_NONE: "Counted" = {}


# Points and batches of each identity up to some batch; then the later batches, which wait to be
# counted, as a chain: everything before one, its ids, its counts, and how many wait.
Counted = dict[int, tuple[float, int]]
Lives = Counted | tuple[Any, IntArray, Any, int]


def lives_after(lives: Lives, clustering: Clustering, state: ClusterState) -> Lives:
    """Return the lives after one more batch; who is forgotten is left out in time."""
    n_waiting = 1 if isinstance(lives, dict) else lives[3] + 1
    longer = (lives, clustering.ids, clustering.counts, n_waiting)
    if n_waiting < _MOST_WAITING:
        return longer
    counted = counted_lives(longer)
    return _without_forgotten(counted, state)


def counted_lives(lives: Lives) -> Counted:
    """Return points and batches of each identity, the batches that wait included."""
    ids, counts = [], []
    while not isinstance(lives, dict):
        lives, *batch, _ = lives
        ids.append(batch[0])
        counts.append(batch[1])
    return _counted(lives, ids[::-1], counts[::-1])


def _counted(before: Counted, ids: list[IntArray], counts: list[Any]) -> Counted:
    """Add batches to what was counted before, all at once."""
    if not ids:
        return before
    names, rows = np.unique(np.concatenate(ids), return_inverse=True)
    sums = np.bincount(rows, weights=np.concatenate(counts)).tolist()
    lives = before.copy()
    for k, n, n_batches in zip(names.tolist(), sums, np.bincount(rows).tolist(), strict=True):
        points, n_before = lives.get(k, (0.0, 0))
        lives[k] = points + n, n_before + n_batches
    return lives


def _without_forgotten(lives: Counted, state: ClusterState) -> Counted:
    if len(lives) <= 2 * state.n_clusters + _FEW:
        return lives
    return {k: lives[k] for k in state.ids.tolist() if k in lives}


class FamilyKeeper:
    """Gives `families_`, `family_labels_` and `confirmed_labels_` to an estimator."""

    families: bool
    n_clusters: float | None
    min_cluster_size: float
    min_life: int
    labels_: Any
    _evidence: Evidence
    _lives: Lives
    _found: tuple[tuple[int, float | None], Families]
    # The batch whose events were last asked for, its families, and those of the look before.
    _looked_at: tuple[int, Families, Families | None]

    @property
    def families_(self) -> Families:
        """Families of the identities so far, found when asked for."""
        check_is_fitted(self, "state_")
        if not self.families:
            raise AttributeError("families_ is there with families=True.")
        key = int(self.state_.n_steps), self.n_clusters  # type: ignore[attr-defined]
        if not hasattr(self, "_found") or self._found[0] != key:
            self._found = key, families_of(self._evidence, n_families=self.n_clusters)
        return self._found[1]

    @property
    def family_labels_(self) -> IntArray:
        """Family of every row of the last batch, named after its oldest member."""
        labels: IntArray = in_memory(self.labels_)
        return self.families_.of(labels)

    @property
    def confirmed_labels_(self) -> IntArray:
        """`labels_` with -1 for identities that have not held enough points or batches so far."""
        check_is_fitted(self, "state_")
        size = checked_number("min_cluster_size", self.min_cluster_size, at_least=0)
        life = checked_count("min_life", self.min_life)
        lives = counted_lives(self._lives).items()
        confirmed = [k for k, (count, n) in lives if count >= size and n >= life]
        labels = in_memory(self.labels_)
        return np.where(np.isin(labels, confirmed), labels, -1)

    def _joins(self) -> list[Event]:
        """Families that joined an older one since the last batch whose events were asked for."""
        if not self.families:
            return []
        now, n_steps = self.families_, int(self.state_.n_steps)  # type: ignore[attr-defined]
        step, last, before_last = getattr(self, "_looked_at", (n_steps, None, None))
        before = before_last if step == n_steps else last
        self._looked_at = n_steps, now, before
        if before is None:
            return []
        names = before.ids
        later = now.of(names)
        return [
            Event("joined", int(name), other_id=int(other))
            for name, other in zip(names, later, strict=True)
            if other not in (name, -1)
        ]

    def _follow_lives(
        self, batch: AnyBatch, clustering: Clustering, state: ClusterState, elapsed: float
    ) -> None:
        self._lives = lives_after(self.__dict__.get("_lives", _NONE), clustering, state)
        self._add_evidence(batch, clustering, elapsed)

    def _count_lives(self, clusterings: list[Clustering], state: ClusterState) -> None:
        """As `_follow_lives` for a whole sequence, without its evidence."""
        ids, counts = [found.ids for found in clusterings], [found.counts for found in clusterings]
        self._lives = _without_forgotten(_counted(_NONE, ids, counts), state)

    def _add_evidence(self, batch: AnyBatch, clustering: Clustering, elapsed: float) -> None:
        if not self.families:
            return
        points = batch.in_memory("families=True").points
        if not hasattr(self, "_evidence"):
            self._evidence = Evidence()
        self._evidence.add(points, in_memory(clustering.labels), elapsed)
