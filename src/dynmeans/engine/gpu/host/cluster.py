"""Algorithm 2, Cluster, on a device: alternate labels and parameters until the cost stops falling.

The cost of a pass and the choices of the next one both look at every row beside the same centers:
one reading of the rows serves both.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.algorithm.assign_params import weighted_means
from dynmeans.algorithm.cluster import NO_FALL, has_risen
from dynmeans.algorithm.cost import cluster_terms
from dynmeans.engine.gpu.host.bins import BatchBins
from dynmeans.engine.gpu.host.passes import Passes
from dynmeans.engine.gpu.host.rows import Rows
from dynmeans.engine.gpu.host.slots import Memory, Slots
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


@dataclass(frozen=True, slots=True)
class Found:
    """One run of Algorithm 2, by slot; its labels stay with the rows."""

    counts: FloatArray
    centers: FloatArray
    cost_trace: list[float]


def cluster(
    rows: Rows, order: Any, bins: BatchBins, state: ClusterState, penalties: Penalties
) -> Found:
    """Cluster the rows from nothing in one order; a last pass that raised the cost is undone."""
    found = _run(rows, order, bins, state, penalties)
    if has_risen(found.cost_trace):
        found = _run(rows, order, bins, state, penalties, len(found.cost_trace) - 1)
    return found


def _run(
    rows: Rows,
    order: Any,
    bins: BatchBins,
    state: ClusterState,
    penalties: Penalties,
    most_passes: float = math.inf,
) -> Found:
    memory = Memory.of(state, penalties)
    passes = Passes(rows, memory, penalties.new_penalty)
    rows.start(order, bins)
    n_members = rows.sum_up(passes.first())
    has_changed, cost_trace = bool(n_members.any()), list[float]()
    while True:
        counts, centers = params(rows, n_members, bins, state, penalties)
        slots = Slots.at(centers, n_members, memory)
        compared = rows.compare(slots, penalties.new_penalty)
        terms = cluster_terms(counts, centers, state, penalties)  # while the device is at work
        found = compared()
        cost = terms + math.fsum(found.within.tolist())
        fell = not cost_trace or cost < cost_trace[-1] * (1.0 - NO_FALL)
        cost_trace.append(cost)
        if not fell or not has_changed or len(cost_trace) == most_passes:
            return Found(counts, centers, cost_trace)
        has_changed = len(found.listed) > 0
        n_members = passes.later(slots, n_members, found)
        is_kept = (np.arange(len(n_members)) < len(memory)) | (n_members > 0)
        if not is_kept.all():
            rows.keep_slots(is_kept)
            n_members = n_members[is_kept]


def params(
    rows: Rows, n_members: IntArray, bins: BatchBins, state: ClusterState, penalties: Penalties
) -> tuple[FloatArray, FloatArray]:
    """AssignParams (Eq. 12): the count and the center of every slot."""
    totals = rows.totals()
    n = totals[:, 0] if bins.has_weights else n_members.astype(float)
    sums = totals[:, 1:] if bins.has_weights else totals
    if state.n_clusters == 0 and (n > 0).all():  # the same bits in fewer steps
        return n, (sums + 0.0) / n[:, None]
    return n, weighted_means(n, sums, state, penalties)
