"""Prepares arrays and calls the compiled module."""

import importlib
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

import dynmeans._native as baseline
from dynmeans.backends import blas
from dynmeans.backends.threads import choose_n_threads
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

# One compiled module for each instruction set, all of the same source and the same results.
INSTRUCTION_SETS = {
    "baseline": "dynmeans._native",
    "avx2": "dynmeans._native_avx2",
    "avx512": "dynmeans._native_avx512",
}

if TYPE_CHECKING:
    compiled = baseline
else:
    compiled = importlib.import_module(INSTRUCTION_SETS[baseline.instruction_set()])


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
    labels, ids, counts, centers, cost_trace = active
    clustering = Clustering(
        labels=_plain_integers(labels),
        ids=_plain_integers(ids),
        counts=counts.astype(np.int64) if point_weights is None else counts,
        centers=centers,
        cost=float(cost_trace[-1]),
        n_iter=len(cost_trace),
        cost_trace=cost_trace,
    )
    ids, centers, weights, ages, counts = remembered
    after = ClusterState(ids, centers, weights, ages, next_id, state.n_steps + 1, counts)
    return after, clustering


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
