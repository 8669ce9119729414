"""Prepares arrays and calls the compiled module."""

from typing import Any

import numpy as np

from dynmeans.engine import blas
from dynmeans.engine.compiled import compiled
from dynmeans.engine.threads import choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

_new_record: Any = compiled.new_record
_CLUSTERING_FIELDS = tuple(getattr(Clustering, name) for name in Clustering.__slots__)
_STATE_FIELDS = tuple(getattr(ClusterState, name) for name in ClusterState.__slots__)


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
    arguments: Any = (
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
    if sgemm is None:
        arrays = compiled.step(*arguments)
    else:
        with blas.one_thread():
            arrays = compiled.step(*arguments)
    return _to_records(arrays, state.n_steps + 1, state.time + elapsed)


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
    n_threads = _n_threads_for(batches) if n_threads is None else n_threads
    arguments: Any = (
        *_sequence_arguments(batches, penalties, elapsed, point_weights, revival),
        *(acceleration == "auto", n_threads, entropy, n_init),
    )
    results = compiled.sequence(*arguments)
    records, time = [], 0.0
    for t, arrays in enumerate(results):
        time += elapsed[t]
        records.append(_to_records(arrays, t + 1, time))
    return records


def sequence_labels(
    batches: list[BatchArray],
    penalties: Penalties,
    elapsed: list[float],
    point_weights: list[FloatArray | None],
    revival: str,
    *,
    entropy: int,
    n_init: int,
) -> tuple[IntArray, int, int]:
    """As `sequence`, with less to show for it.

    Returns the labels of all points that weigh something, batch after batch; how many clusters
    the batches had, all together; and how many identities there were.
    """
    arguments: Any = (
        *_sequence_arguments(batches, penalties, elapsed, point_weights, revival),
        *(True, _n_threads_for(batches), entropy, n_init),
    )
    return compiled.sequence_labels(*arguments)


def _sequence_arguments(
    batches: list[BatchArray],
    penalties: Penalties,
    elapsed: list[float],
    point_weights: list[FloatArray | None],
    revival: str,
) -> tuple[Any, ...]:
    if len({batch.dtype for batch in batches}) > 1:
        batches = [batch.astype(np.float64, copy=False) for batch in batches]
    return (
        batches,
        point_weights,
        np.array(elapsed, dtype=np.float64),
        penalties.new_penalty,
        penalties.revival_penalty,
        penalties.drift,
        revival == "exact",
    )


def _n_threads_for(batches: list[BatchArray]) -> int:
    return choose_n_threads(max((batch.size for batch in batches), default=0))


def _to_records(arrays: Any, n_steps: int, time: float) -> tuple[ClusterState, Clustering]:
    """Give the arrays of one step their names; they are right and read-only already."""
    (labels, ids, counts, centers, cost_trace), remembered, next_id = arrays
    cost, n_iter = cost_trace.item(-1), len(cost_trace)
    clustering = _new_record(
        Clustering, _CLUSTERING_FIELDS, (labels, ids, counts, centers, cost, n_iter, cost_trace)
    )
    ids, centers, weights, ages, counts = remembered
    state = _new_record(
        ClusterState,
        _STATE_FIELDS,
        (ids, centers, weights, ages, next_id, n_steps, counts, time),
    )
    return state, clustering


def predict_labels(
    points: BatchArray, state: ClusterState, penalties: Penalties, revival: str
) -> tuple[IntArray, FloatArray]:
    """Return the identity and the cost of each point, changing nothing."""
    return compiled.predict(
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
