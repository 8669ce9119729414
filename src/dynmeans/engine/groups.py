"""Prepares arrays and calls the compiled loop over many small streams."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.algorithm.motion import velocity_mask
from dynmeans.engine.compiled import compiled
from dynmeans.engine.execution import Execution, choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.group_states import CLUSTER_ARRAYS, GroupStates
from dynmeans.records.orders import SEARCHES
from dynmeans.records.penalties import Penalties


def sort_by_group(groups: IntArray, n_groups: int) -> tuple[IntArray, IntArray]:
    """Return the rows group by group, in order within each, and where each group begins."""
    order, starts = compiled.sort_by_group(groups, n_groups)
    return order.view(np.int64), starts.view(np.int64)


def step_groups(
    points: BatchArray,
    point_weights: FloatArray | None,
    batch_starts: IntArray,
    group_starts: IntArray,
    elapsed: FloatArray,
    before: GroupStates,
    seeds: npt.NDArray[np.uint32],
    penalties: Penalties,
    n_init: int,
    execution: Execution,
    search: str = "paper",
) -> tuple[tuple[IntArray, IntArray, IntArray, FloatArray], dict[str, Any]]:
    """Cluster every group from its own state, batch after batch.

    Returns the labels of the rows, the clusters, passes and cost of each batch, and what each
    group remembers after its last.
    """
    names = ("starts", *CLUSTER_ARRAYS[:5], "next_ids", *CLUSTER_ARRAYS[5:])
    memories = tuple(getattr(before, name) for name in names)
    columns, remembered = compiled.fit_groups(
        points,
        point_weights,
        batch_starts,
        group_starts,
        elapsed,
        memories,
        before.n_steps,
        seeds,
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        penalties.revival == "exact",
        velocity_mask(penalties, before.n_features),
        penalties.is_on_sphere,
        n_init,
        SEARCHES.index(search),
        execution.is_accelerated,
        execution.n_threads or choose_n_threads(points.size),
    )
    labels, n_clusters, n_iters, costs = columns
    integers = (array.view(np.int64) for array in (labels, n_clusters, n_iters))
    arrays: dict[str, Any] = dict(zip(names, remembered, strict=True))
    for name in ("starts", "ids", "next_ids"):
        arrays[name] = arrays[name].view(np.int64)
    return (*integers, costs), arrays  # type: ignore[return-value]
