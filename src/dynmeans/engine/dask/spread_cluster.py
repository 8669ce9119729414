"""Algorithm 2 over a cluster: alternate labels and parameters until the cost stops falling."""

from dataclasses import dataclass, replace

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL
from dynmeans.algorithm.sums import squared_distances, sum_over_slots
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.crew import Crew
from dynmeans.engine.dask.messages import Reply
from dynmeans.engine.dask.pass_log import Board, FlagArray, PassLog
from dynmeans.engine.dask.spread_pass import (
    Remembered,
    Talk,
    first_pass,
    later_pass,
)
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class SpreadOrder:
    """One visiting order: rows by increasing key."""

    run: str
    seed: int
    n_keys: int


@dataclass(frozen=True, slots=True)
class SpreadSolution:
    """One run of Algorithm 2, by slot; the labels are where the rows are.

    `log` is the last pass that changed labels: they follow from it.
    """

    order: SpreadOrder
    log: PassLog
    n_passes: int
    counts: FloatArray
    centers: FloatArray
    cost_trace: list[float]


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The clusters between two passes."""

    n_members: IntArray
    counts: FloatArray
    sums: FloatArray
    centers: FloatArray


class SpreadRun:
    """One run from nothing in one visiting order."""

    def __init__(
        self,
        crew: Crew,
        n_rows: int,
        remembered: Remembered,
        new_penalty: float,
        order: SpreadOrder,
        kept_runs: tuple[str, ...],
    ) -> None:
        self._remembered, self._new_penalty, self._order = remembered, new_penalty, order
        self._talk = Talk(
            crew,
            order.run,
            order.seed,
            order.n_keys,
            n_rows,
            remembered,
            new_penalty,
            crew.magnitudes().sums(remembered.centers, n_rows, new_penalty),
            1,
            None,
            np.empty(0, dtype=np.uint8),
            kept_runs,
        )

    def cluster(self) -> SpreadSolution:
        """Algorithm 2."""
        n, talk = self._remembered.n_clusters, self._talk
        start = self._remembered.asleep(np.arange(n))
        nothing = _Clusters(
            np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros_like(start.centers), start.centers
        )
        log = first_pass(talk, PassLog.start(start))
        is_active = log.board_before(talk.n_keys).is_active
        clusters, log = self._move_centers(log, nothing, is_active, None)
        cost_trace: list[float] = []
        changed = is_active
        while True:
            talk = replace(talk, n_pass=talk.n_pass + 1, settled=log, has_moved=changed)
            self._talk = talk
            under_way = PassLog.start(self._board(clusters))
            replies = talk.ask(under_way, 0, (0, talk.n_keys - 1))
            cost = self._cost(clusters, replies)
            fell = not cost_trace or cost < cost_trace[-1] * (1.0 - NO_FALL)
            cost_trace.append(cost)
            if not fell or not clusters.n_members.any():
                break
            under_way, moves = later_pass(talk, under_way, clusters.n_members, replies)
            n_moved = moves.n_joined + moves.n_left
            if not n_moved.any():
                cost_trace.append(cost)
                break
            grown = np.zeros(under_way.n_slots, dtype=np.int64)
            grown[: len(clusters.n_members)] = clusters.n_members
            n_members = grown + moves.n_joined - moves.n_left
            is_changed = (n_moved > 0).astype(np.uint8)
            clusters, log = self._move_centers(under_way, clusters, is_changed, n_members)
            assert log.renamed is not None
            changed = is_changed[log.renamed >= 0]
        return SpreadSolution(
            self._order, log, talk.n_pass - 1, clusters.counts, clusters.centers, cost_trace
        )

    def _move_centers(
        self,
        log: PassLog,
        before: _Clusters,
        is_changed: FlagArray,
        n_members: IntArray | None,
    ) -> tuple[_Clusters, PassLog]:
        """AssignParams: close up slots that emptied, sum up the changed ones, move them.

        `n_members` is known after a later pass; in the first one no slot empties.
        """
        n, n_slots = self._remembered.n_clusters, log.n_slots
        is_kept = np.ones(n_slots, dtype=bool)
        if n_members is not None:
            is_kept[n:] = n_members[n:] > 0
        log = replace(log, renamed=np.where(is_kept, np.cumsum(is_kept) - 1, -1))
        is_changed = is_changed[is_kept]
        columns = np.where(is_changed, np.cumsum(is_changed) - 1, -1).astype(np.int64)
        talk = self._talk
        request = talk.request(log, talk.n_keys, None)
        bins, n_joined = talk.crew.sum_up(request, columns)
        totals = compiled.totals_of_bins(bins, talk.sums, False)
        n_members = (n_joined if n_members is None else n_members)[is_kept]
        counts, sums = _grown(before.counts, is_kept), _grown(before.sums, is_kept)
        has_changed, has_weights = columns >= 0, talk.sums[4]
        counts[has_changed] = totals[:, 0] if has_weights else n_members[has_changed]
        sums[has_changed] = totals[:, 1:] if has_weights else totals
        moved = _Clusters(n_members, counts, sums, self._centers(n_members, counts, sums))
        return moved, log

    def _centers(self, n_members: IntArray, counts: FloatArray, sums: FloatArray) -> FloatArray:
        """Equation 12; an unseen cluster keeps the center it is remembered by."""
        n_remembered, gamma = self._remembered.n_clusters, np.zeros(len(counts))
        gamma[:n_remembered] = self._remembered.gamma
        theta = np.zeros_like(sums)
        theta[:n_remembered] = self._remembered.centers
        seen = n_members > 0
        n, m = counts[seen], sums[seen]
        theta[seen] = (theta[seen] * gamma[seen, None] + m) / (gamma[seen] + n)[:, None]
        return theta

    def _board(self, clusters: _Clusters) -> Board:
        n, is_active = self._remembered.n_clusters, clusters.n_members > 0
        offsets, scales = np.zeros(len(is_active)), np.ones(len(is_active))
        offsets[:n] = np.where(is_active[:n], 0.0, self._remembered.offsets)
        scales[:n] = np.where(is_active[:n], 1.0, self._remembered.scales)
        return Board(clusters.centers, offsets, scales, is_active.astype(np.uint8))

    def _cost(self, clusters: _Clusters, replies: list[Reply]) -> float:
        """L_t (Eq. 15)."""
        old, n = self._remembered, self._remembered.n_clusters
        terms = np.full(len(clusters.counts), self._new_penalty)
        displaced = old.gamma * squared_distances(clusters.centers[:n], old.centers)
        terms[:n] = old.offsets + displaced
        own_bins = np.sum([reply.own_bins for reply in replies], axis=0)
        within = compiled.totals_of_bins(own_bins[None], self._talk.sums, True)
        return sum_over_slots(terms[clusters.n_members > 0]) + within.item()


def _grown(values: FloatArray, is_kept: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> FloatArray:
    """Make room for new slots, then leave out those that are gone."""
    longer = np.zeros((len(is_kept), *values.shape[1:]))
    longer[: len(values)] = values
    return longer[is_kept]
