"""Labels, costs and distances of rows that do not change the state, part by part."""

from typing import Any

import cupy as cp
import numpy as np

from dynmeans.algorithm.assign_labels import revival_costs
from dynmeans.algorithm.motion import predict_state
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.engine.gpu.blocks import Blocks
from dynmeans.engine.gpu.gpu_batch import GpuBatch
from dynmeans.engine.gpu.host.slots import Slots
from dynmeans.engine.gpu.kernels import launch, row_type
from dynmeans.engine.gpu.search import SMALL_N_FEATURES, Search, choosing_threads, load_exact
from dynmeans.engine.gpu.transfer import to_device, to_memory
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

_PART = 2**28  # bytes of rows on the way to the card at a time
_PART_ROWS = 2**25
_SMALL_N_TERMS = 2**27  # of distances that are computed faster than a search is prepared


def predict_labels(
    points: Any,
    state: ClusterState,
    penalties: Penalties,
    elapsed: float = 0.0,
    execution: Execution = DEFAULT,
) -> tuple[Any, Any]:
    """Return the identity and the cost of each point, where the points lie."""
    if isinstance(points, GpuBatch):
        labels, costs = predict_on_device(points.points, state, penalties, elapsed)
        return points.deliver(labels), points.deliver(costs)
    labels, costs = np.empty(len(points), np.int64), np.empty(len(points))
    n_part = max(1, min(_PART_ROWS, _PART // max(1, points[:1].nbytes)))
    for start in range(0, len(points), n_part):
        part = slice(start, start + n_part)
        found = predict_on_device(to_device(points[part]), state, penalties, elapsed)
        to_memory(found[0], labels[part])
        to_memory(found[1], costs[part])
    return labels, costs


def predict_on_device(
    points: Any, state: ClusterState, penalties: Penalties, elapsed: float = 0.0
) -> tuple[Any, Any]:
    """Return the identity and the cost of each row on the device, there."""
    n = len(points)
    if n == 0 or state.n_clusters == 0:
        return cp.full(n, -1, np.int64), cp.full(n, penalties.new_penalty)
    slots, ids = _slots_of(state, penalties, elapsed), cp.asarray(np.append(state.ids, -1))
    labels, costs = cp.empty(n, np.int64), cp.empty(n)
    for start in range(0, n, _PART_ROWS):
        part = slice(start, start + _PART_ROWS)
        labels[part] = ids[_choose(points[part], slots, penalties.new_penalty, costs[part])]
    cp.cuda.get_current_stream().synchronize()
    return labels, costs


def device_distances(batch: GpuBatch, state: ClusterState) -> Any:
    """Return the distance of each point to each center, where the points lie."""
    points, n_slots = batch.points, state.n_clusters
    found = cp.empty((len(points), n_slots))
    kernel = load_exact(points.shape[1], row_type(points)).get_function("all_distances")
    centers = cp.asarray(state.centers)
    arguments = (points, np.int64(len(points)), points.shape[1], centers, n_slots, found)
    launch(kernel, _width(points) * found.size, arguments)
    return batch.deliver(found)


def _choose(points: Any, slots: Slots, new_penalty: float, costs: Any) -> Any:
    """Return the cheapest slot of each row, -1 for a new one; write what it costs."""
    (n, d), search = points.shape, Search(Blocks(points), row_type(points))
    centers, *table = search.table(slots)
    choices = cp.empty(n, np.int32)

    def compare(rows: Any, found: Any, paid: Any) -> None:
        numbers = cp.arange(len(slots), dtype=np.int32)
        listed = (points, d, rows, None, np.int64(len(found)), None, None)
        counts = (None, None, len(slots), len(slots), new_penalty)
        arguments = (*listed, numbers, centers, None, *table, *counts, found, paid)
        launch(search.exact.get_function("choose"), choosing_threads(d) * len(found), arguments)

    def compare_listed(rows: Any) -> Any:
        found = cp.empty(len(rows), np.int32)
        compare(rows, found, None)
        return found

    if n * len(slots) * d <= _SMALL_N_TERMS:
        compare(None, choices, costs)
        return choices
    search.find(slots, new_penalty, choices, compare_listed)
    arguments = (points, np.int64(n), d, choices, centers, *table, new_penalty, costs)
    launch(search.exact.get_function("chosen_costs"), _width(points) * n, arguments)
    return choices


def _width(points: Any) -> int:
    """Return how many threads compute one distance."""
    return 1 if points.shape[1] < SMALL_N_FEATURES else 8


def _slots_of(state: ClusterState, penalties: Penalties, elapsed: float) -> Slots:
    """At the time of the last batch its clusters are active; all others are remembered."""
    is_active = (state.ages == 1.0) & (elapsed == 0.0)
    unseen = np.where(state.ages > 1.0, state.ages - 1.0, 1.0)
    unseen = state.ages - 1.0 + elapsed if elapsed > 0.0 else unseen
    expected = predict_state(state, unseen, penalties)
    dormant = revival_costs(expected, penalties)
    offsets = np.where(is_active, 0.0, dormant.offsets)
    scales = np.where(is_active, 1.0, dormant.scales)
    centers = np.where(is_active[:, None], state.centers, expected.centers)
    return Slots(centers, offsets, scales, ~is_active)
