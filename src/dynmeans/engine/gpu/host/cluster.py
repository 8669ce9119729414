"""Algorithm 2, Cluster, on a device: alternate labels and parameters until the cost stops falling.

The cost of a pass and the choices of the next one both look at every row against the same centers:
one reading of the rows serves both.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynmeans.algorithm.assign_params import weighted_means
from dynmeans.algorithm.cluster import NO_FALL, has_risen
from dynmeans.algorithm.cost import cluster_terms
from dynmeans.engine.compiled import compiled
from dynmeans.engine.gpu.host.bins import BatchBins
from dynmeans.engine.gpu.host.border import Margins, run_border_passes
from dynmeans.engine.gpu.host.passes import Passes
from dynmeans.engine.gpu.host.rows import Rows
from dynmeans.engine.gpu.host.slots import RememberedSlots, Slots
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
    passes = Passes(rows, RememberedSlots.of(state, penalties), penalties.new_penalty)

    def run(most_passes: float = math.inf) -> Found:
        rows.start(order, bins)
        nothing = Found(np.empty(0), state.centers, [])
        n_members = rows.sum_up(passes.follow() if penalties.is_on_sphere else passes.first())
        return alternate(passes, n_members, bins, state, penalties, nothing, most_passes)

    found = run()
    return run(len(found.cost_trace) - 1) if has_risen(found.cost_trace) else found


def alternate(
    passes: Passes,
    n_members: IntArray,
    bins: BatchBins,
    state: ClusterState,
    penalties: Penalties,
    start: Found,
    most_passes: float = math.inf,
    *,
    keeps_labels: bool = False,
) -> Found:
    """Alternate parameters and labels until the cost stops falling; its trace continues.

    With `keeps_labels` a last pass that raised the cost is undone.
    """
    rows, memory, cost_trace = passes.rows, passes.memory, list(start.cost_trace)
    # The kernels of a border make centers that are means.
    has_border = not penalties.is_on_sphere
    margins_of = Margins(rows.n_points, rows.n_features, penalties.new_penalty)
    n_moved = int(n_members.sum())
    before: tuple[Found, Any] = start, None
    while True:
        counts, centers, sums = params(rows, n_members, bins, state, penalties)
        slots = Slots.at(centers, n_members, memory)
        margins = margins_of.next(slots, counts, n_moved) if has_border else None
        compared = rows.compare(slots, penalties.new_penalty) if margins is None else None
        cost = cluster_terms(counts, centers, state, penalties)  # while the device is at work
        cost += compiled.within_of_totals(*sums, counts, centers)
        fell = not cost_trace or cost < cost_trace[-1] * (1.0 - NO_FALL)
        cost_trace.append(cost)
        if before[1] is not None and has_risen(cost_trace):
            after, rows.labels = before
            return after
        if not fell or not n_moved or len(cost_trace) == most_passes:
            return Found(counts, centers, cost_trace)
        if margins is not None:
            opened = (slots, n_members, memory, penalties.new_penalty, margins)
            border = rows.open_border(*opened)
            if border is None:
                margins_of.learn(None, 0, is_due=False)
            else:
                n_passes, is_due = run_border_passes(border, cost_trace, counts > 0, most_passes)
                margins_of.learn(len(border), n_passes, is_due=is_due)
                if n_passes:
                    n_members = border.close()
                    cost_trace.pop()  # of the labels as they are now: it is taken again above
                    continue
        if keeps_labels:
            before = Found(counts, centers, list(cost_trace)), rows.labels.copy()
        found = (compared or rows.compare(slots, penalties.new_penalty))()
        n_moved = len(found.listed)
        n_members = passes.later(slots, n_members, found)
        is_kept = (np.arange(len(n_members)) < len(memory)) | (n_members > 0)
        if not is_kept.all():
            rows.keep_slots(is_kept)
            n_members = n_members[is_kept]


def params(
    rows: Rows, n_members: IntArray, bins: BatchBins, state: ClusterState, penalties: Penalties
) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]]:
    """AssignParams (Eq. 12): the count and the center of every slot, and its sums."""
    totals, rests = rows.totals()
    n = totals[:, 0].copy() if bins.has_weights else n_members.astype(float)
    sums = totals[:, int(bins.has_weights) : -2]
    if state.n_clusters == 0 and (n > 0).all() and not penalties.is_on_sphere:
        # The same bits in fewer steps.
        return n, (sums + 0.0) / n[:, None], (totals, rests)
    return n, weighted_means(n, sums, state, penalties), (totals, rests)
