"""Prepares arrays and calls the compiled module."""

from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from dynmeans.backends import blas
from dynmeans.backends.compiled import compiled
from dynmeans.backends.threads import choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


def step(
    points: BatchArray,
    state: ClusterState,
    penalties: Penalties,
    orders: IntArray,
    elapsed: float,
    point_weights: FloatArray | None,
    revival: str,
    *,
    acceleration: str = "auto",
    n_threads: int | None = None,
) -> tuple[ClusterState, Clustering]:
    """Cluster one batch and return what is remembered, and the clustering."""
    is_accelerated = acceleration == "auto"
    n_threads = choose_n_threads(points.size) if n_threads is None else n_threads
    sgemm = blas.sgemm_for(points) if is_accelerated else None
    with blas.one_thread() if sgemm is not None else nullcontext():
        active, remembered, next_id = compiled.step(
            points,
            point_weights,
            orders,
            state.ids,
            state.centers,
            state.weights,
            state.ages,
            state.counts,
            state.next_id,
            penalties.new_penalty,
            penalties.revival_penalty,
            penalties.drift,
            revival == "exact",
            elapsed,
            is_accelerated,
            n_threads,
            sgemm,
        )
    has_weights = point_weights is not None
    counters = (next_id, state.n_steps + 1, state.time + elapsed)
    return _to_records(active, remembered, counters, has_weights)


def sequence(
    batches: list[BatchArray],
    penalties: Penalties,
    elapsed: list[float],
    point_weights: list[FloatArray | None],
    revival: str,
    *,
    entropy: int,
    n_init: int,
    acceleration: str = "auto",
    n_threads: int | None = None,
) -> list[tuple[ClusterState, Clustering]]:
    """Cluster a sequence of small batches from nothing, without coming back in between."""
    largest = max((batch.size for batch in batches), default=0)
    n_threads = choose_n_threads(largest) if n_threads is None else n_threads
    dtypes = {batch.dtype for batch in batches}
    if len(dtypes) > 1:
        batches = [batch.astype(np.float64, copy=False) for batch in batches]
    results = compiled.sequence(
        cast(list[FloatArray], batches),
        point_weights,
        np.array(elapsed, dtype=np.float64),
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        revival == "exact",
        acceleration == "auto",
        n_threads,
        entropy,
        n_init,
    )
    records, time = [], 0.0
    for t, (active, remembered, next_id) in enumerate(results):
        time += elapsed[t]
        counters, has_weights = (next_id, t + 1, time), point_weights[t] is not None
        records.append(_to_records(active, remembered, counters, has_weights))
    return records


def _to_records(
    active: Any, remembered: Any, counters: tuple[int, int, float], has_weights: bool
) -> tuple[ClusterState, Clustering]:
    """Give the arrays of one step their names."""
    labels, ids, counts, centers, cost_trace = active
    clustering = Clustering(
        labels=_plain_integers(labels),
        ids=_plain_integers(ids),
        counts=counts if has_weights else counts.astype(np.int64),
        centers=centers,
        cost=float(cost_trace[-1]),
        n_iter=len(cost_trace),
        cost_trace=cost_trace,
    )
    ids, centers, weights, ages, counts = remembered
    next_id, n_steps, time = counters
    state = ClusterState.trusted(
        _plain_integers(ids), centers, weights, ages, next_id, n_steps, counts, time
    )
    return state, clustering


def predict_labels(
    points: BatchArray, state: ClusterState, penalties: Penalties, revival: str
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point, changing nothing."""
    labels, costs = compiled.predict(
        points,
        state.ids,
        state.centers,
        state.weights,
        state.ages,
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        revival == "exact",
    )
    return _plain_integers(labels), costs


def _plain_integers(array: IntArray) -> IntArray:
    """Name the type int64 as NumPy does, not as an alias of the same width."""
    return array.view(np.int64)
