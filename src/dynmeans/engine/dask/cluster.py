"""Algorithm 2 over a cluster: alternate labels and parameters until the cost stops falling."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from dynmeans.algorithm.assign_params import weighted_means
from dynmeans.algorithm.cluster import NO_FALL, has_risen
from dynmeans.algorithm.cost import cluster_terms
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.assign_labels import PassRequests, Remembered, first_pass, later_pass
from dynmeans.engine.dask.messages import Labeling, Moves, OrderRun
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog
from dynmeans.engine.dask.workers import Workers
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class DaskSolution:
    """One run of Algorithm 2, by slot; the labels stay where the rows are."""

    labeling: Labeling
    counts: FloatArray
    centers: FloatArray
    cost_trace: list[float]

    @property
    def cost(self) -> float:
        """L_t after the last pass."""
        return self.cost_trace[-1]


@dataclass(frozen=True, slots=True)
class _Clusters:
    """The clusters between two passes; `sums` in bins, and what their points cost."""

    n_members: IntArray
    sums: FloatArray
    counts: FloatArray
    centers: FloatArray
    within: float


def cluster(
    workers: Workers, n_rows: int, remembered: Remembered, run: OrderRun, kept_runs: tuple[str, ...]
) -> DaskSolution:
    """Cluster one batch given what is remembered from earlier batches."""
    n = remembered.state.n_clusters
    before = Labeling(run, 0, None)
    nobody = np.empty(0, dtype=np.uint8)
    requests = PassRequests(workers, n_rows, remembered, before, nobody, kept_runs)
    log, moves = first_pass(requests)
    clusters = _Clusters(np.zeros(n, dtype=np.int64), np.zeros((n, 0)), np.empty(0), np.empty(0), 0)
    cost_trace: list[float] = []
    while True:
        cheaper = before, clusters
        clusters, log, has_moved = _move_centers(clusters, log, moves, remembered, run)
        before = Labeling(run, before.n_passes + 1, log)
        requests = replace(requests, before=before, has_moved=has_moved)
        under_way = PassLog.start(_table(clusters, remembered))
        replies = requests.ask(under_way, 0, (0, run.n_keys - 1))
        cost = _cost(clusters, remembered)
        fell = not cost_trace or cost < cost_trace[-1] * (1.0 - NO_FALL)
        cost_trace.append(cost)
        if has_risen(cost_trace):
            (before, clusters), cost_trace = cheaper, cost_trace[:-1]
            break
        if not fell or not clusters.n_members.any():
            break
        log, moves = later_pass(requests, under_way, clusters.n_members, replies)
        if not (moves.n_joined.any() or moves.n_left.any()):
            cost_trace.append(cost)
            break
    return DaskSolution(before, clusters.counts, clusters.centers, cost_trace)


def _move_centers(
    before: _Clusters, log: PassLog, moves: Moves, remembered: Remembered, run: OrderRun
) -> tuple[_Clusters, PassLog, npt.NDArray[np.uint8]]:
    """AssignParams: close up slots that emptied, and move those that points joined or left."""
    assert moves.sums is not None, "the pass is over"
    is_kept = np.ones(log.n_slots, dtype=bool)
    n_members = moves.n_joined - moves.n_left
    n_members[: len(before.n_members)] += before.n_members
    sums = moves.sums.copy()
    sums[: len(before.sums)] += before.sums if before.sums.size else 0.0
    n_remembered = remembered.state.n_clusters
    is_kept[n_remembered:] = n_members[n_remembered:] > 0
    n_members, sums = n_members[is_kept], sums[is_kept]
    totals, rests = compiled.totals_of_bins(sums, run.sums)
    is_weighted = totals.shape[1] > remembered.state.n_features + 2
    counts = totals[:, 0].copy() if is_weighted else n_members.astype(np.float64)
    means = totals[:, int(is_weighted) : -2]
    centers = weighted_means(counts, means, remembered.state, remembered.penalties)
    within = compiled.within_of_totals(totals, rests, counts, centers)
    log = replace(log, renamed=np.where(is_kept, np.cumsum(is_kept) - 1, -1))
    has_moved = (moves.n_joined + moves.n_left > 0)[is_kept].astype(np.uint8)
    return _Clusters(n_members, sums, counts, centers, within), log, has_moved


def _table(clusters: _Clusters, remembered: Remembered) -> ClusterTable:
    n, is_active = remembered.state.n_clusters, clusters.n_members > 0
    offsets, scales = np.zeros(len(is_active)), np.ones(len(is_active))
    offsets[:n] = np.where(is_active[:n], 0.0, remembered.costs.offsets)
    scales[:n] = np.where(is_active[:n], 1.0, remembered.costs.scales)
    return ClusterTable(clusters.centers, offsets, scales, is_active.astype(np.uint8))


def _cost(clusters: _Clusters, remembered: Remembered) -> float:
    """L_t, Eq. 15."""
    terms = cluster_terms(clusters.counts, clusters.centers, remembered.state, remembered.penalties)
    return terms + clusters.within
