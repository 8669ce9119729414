"""Algorithm 2 over a cluster: alternate labels and parameters until the cost stops falling.

Late passes move few rows. Those that may soon prefer another cluster are gathered once, and passes
are made over them alone, here, until a row that stayed behind might follow (decision 0505).
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from dynmeans.algorithm.cluster import NO_FALL, has_risen
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered, first_pass, later_pass
from dynmeans.engine.dask.follow import follow_first
from dynmeans.engine.dask.messages import BorderRows, ClientLabels, Labeling, Moves, OrderRun, Reply
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog
from dynmeans.engine.execution import choose_n_threads
from dynmeans.records.arrays import FloatArray, IntArray

_MAX_BYTES = 2**24  # Of all rows in doubt that are gathered at a time.
_MOVERS = 4  # As many rows are gathered for one that moved in the last pass, at least.
_PAYS = 4  # Passes that a gathering has to bring; otherwise the next one waits,
_MAX_WAIT = 64  # each time twice as many passes, up to this.


@dataclass(frozen=True, slots=True)
class DaskSolution:
    """One run of Algorithm 2, by slot; the labels stay where the rows are."""

    labeling: Labeling
    clusters: "ClusterSums"
    cost_trace: list[float]

    @property
    def counts(self) -> FloatArray:
        """n of each slot."""
        return self.clusters.counts

    @property
    def centers(self) -> FloatArray:
        """Theta of each slot."""
        return self.clusters.centers

    @property
    def cost(self) -> float:
        """L_t after the last pass."""
        return self.cost_trace[-1]


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """The clusters between two passes; `sums` in bins, and L_t (Eq. 15)."""

    n_members: IntArray
    sums: FloatArray
    counts: FloatArray
    centers: FloatArray
    cost: float

    @classmethod
    def of(
        cls, n_members: IntArray, sums: FloatArray, remembered: Remembered, run: OrderRun
    ) -> "ClusterSums":
        """AssignParams: n and center of each slot (Eq. 12)."""
        memory, penalty = remembered.arrays, run.new_penalty
        found = compiled.settle_clusters(n_members, sums, memory, run.sums, penalty)
        return cls(n_members, sums, *found)

    def table(self, remembered: Remembered, centers: FloatArray | None = None) -> ClusterTable:
        """Return what rows compare, with these centers or others."""
        n, is_active = remembered.state.n_clusters, self.n_members > 0
        offsets, scales = np.zeros(len(is_active)), np.ones(len(is_active))
        offsets[:n] = np.where(is_active[:n], 0.0, remembered.costs.offsets)
        scales[:n] = np.where(is_active[:n], 1.0, remembered.costs.scales)
        chosen = self.centers if centers is None else centers
        return ClusterTable(chosen, offsets, scales, is_active.astype(np.uint8))


@dataclass(frozen=True, slots=True)
class _GatherPolicy:
    """When to ask for rows in doubt, and for how many: where that pays."""

    most: int
    n_moved: int | None = None  # Rows that moved in the last pass; None where slots changed
    pause: int = 1  # Passes to wait for, once one did not pay
    wait: int = 0  # Passes to wait for now

    @classmethod
    def of(cls, remembered: Remembered) -> "_GatherPolicy":
        """Begin a run."""
        return cls(_MAX_BYTES // (8 * (remembered.state.n_features + 3)))

    @property
    def limit(self) -> int:
        """Rows to ask for in the next pass."""
        is_few = self.n_moved is not None and _MOVERS * self.n_moved <= self.most
        return self.most if is_few and not self.wait else 0

    def after(self, n_passes: int) -> "_GatherPolicy":
        """Learn how many passes were made without the workers."""
        if self.limit and n_passes < _PAYS:
            return replace(self, wait=self.pause, pause=min(2 * self.pause, _MAX_WAIT))
        if self.limit:
            return replace(self, pause=1)
        return replace(self, wait=max(0, self.wait - 1))


def cluster(requests: PassRequests) -> DaskSolution:
    """Cluster one batch from nothing, given what is remembered from earlier batches."""
    nobody = np.zeros(requests.remembered.state.n_clusters, dtype=np.int64)
    before, remembered = requests.before, requests.remembered
    is_on_sphere = remembered.penalties.is_on_sphere
    log, moves = (follow_first if is_on_sphere else first_pass)(requests)
    before, clusters = _move_centers(before, nobody, None, log, moves, remembered)
    return alternate(requests, DaskSolution(before, clusters, [clusters.cost]))


def alternate(requests: PassRequests, start: DaskSolution, most: float = math.inf) -> DaskSolution:
    """Make passes from a start on, until the cost stops falling or its trace has `most` entries."""
    before, clusters, cost_trace = start.labeling, start.clusters, list(start.cost_trace)
    run, remembered = before.run, requests.remembered
    gathering = _GatherPolicy.of(remembered)
    while clusters.n_members.any() and len(cost_trace) < most:
        requests = replace(requests, before=before)
        log = PassLog.start(clusters.table(remembered))
        # How many passes are made over the rows in doubt alone is not known before.
        limit = gathering.limit if most == math.inf else 0
        replies = requests.ask(log, 0, (0, run.end - 1), limit // requests.workers.n_pieces)
        alone = _pass_border(before, clusters, remembered, replies)
        gathering = gathering.after(alone[0].n_passes - before.n_passes if alone else 0)
        if alone is not None:
            before, clusters, costs, is_over = alone
            cost_trace += costs
            if is_over:
                break
            continue
        log, moves = later_pass(requests, log, clusters.n_members, replies)
        n_moved = int(moves.n_joined.sum())
        if not n_moved:
            cost_trace.append(clusters.cost)
            break
        after = _move_centers(before, clusters.n_members, clusters.sums, log, moves, remembered)
        cost_trace.append(after[1].cost)
        if has_risen(cost_trace):
            cost_trace.pop()
            break
        before, clusters = after
        if not cost_trace[-1] < cost_trace[-2] * (1.0 - NO_FALL):
            break
        gathering = replace(gathering, n_moved=None if len(log.changes.slots) else n_moved)
    return DaskSolution(before, clusters, cost_trace)


def _move_centers(
    before: Labeling,
    n_members: IntArray,
    sums: FloatArray | None,
    log: PassLog,
    moves: Moves,
    remembered: Remembered,
) -> tuple[Labeling, ClusterSums]:
    """Close up slots that emptied, and move those that points joined or left."""
    assert moves.sums is not None, "the pass is over"
    is_kept, n = np.ones(log.n_slots, dtype=bool), remembered.state.n_clusters
    after, all_sums = moves.n_joined - moves.n_left, moves.sums.copy()
    after[: len(n_members)] += n_members
    if sums is not None:
        all_sums[: len(sums)] += sums
    is_kept[n:] = after[n:] > 0
    clusters = ClusterSums.of(after[is_kept], all_sums[is_kept], remembered, before.run)
    log = replace(log, renamed=np.where(is_kept, np.cumsum(is_kept) - 1, -1))
    has_moved = (moves.n_joined + moves.n_left > 0)[is_kept].astype(np.uint8)
    return Labeling(before.run, before.n_passes + 1, log, before.n_passes, has_moved), clusters


def _pass_border(
    before: Labeling, clusters: ClusterSums, remembered: Remembered, replies: list[Reply]
) -> tuple[Labeling, ClusterSums, list[float], bool] | None:
    """Make passes over the rows in doubt alone; None if there is none to be made.

    Returns the labels and the clusters after the last one, the costs on the way, and whether the
    run has converged.
    """
    border = [reply.in_doubt for reply in replies if reply.in_doubt is not None]
    if len(border) < len(replies):
        return None
    rows, run = BorderRows.merge(border), before.run
    labels, n_members, sums, has_moved, last_centers, costs, n_passes, is_over = (
        compiled.pass_border(
            rows.points,
            rows.weights,
            rows.labels,
            clusters.n_members,
            clusters.sums,
            rows.slacks,
            rows.reaches,
            remembered.arrays,
            run.sums,
            run.new_penalty,
            choose_n_threads(rows.points.size),
        )
    )
    if not n_passes:
        return (before, clusters, costs[1:].tolist(), True) if is_over else None
    table = clusters.table(remembered, last_centers)
    log = replace(PassLog.start(table), renamed=np.arange(table.n_slots))
    changed = np.flatnonzero(labels != rows.labels)
    changed = changed[np.argsort(rows.rows[changed])]
    decided = ClientLabels(rows.rows[changed], labels[changed])
    after = Labeling(run, before.n_passes + n_passes, log, before.n_passes, has_moved, decided)
    return after, ClusterSums.of(n_members, sums, remembered, run), costs[1:].tolist(), is_over
