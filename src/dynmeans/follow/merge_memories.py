"""Two memories as one: clusters at the same place are one identity."""

from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dynmeans.families.merge_evidence import merge_evidence
from dynmeans.follow.lifetimes import NO_LIFETIMES, count_lifetimes
from dynmeans.follow.memory import Memory
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.state import ClusterState

_SAME = ("n_features", "feature_names", "method", "space")


def merge_memories(memory: Memory, other: Memory) -> tuple[Memory, IntArray]:
    """Return one memory of two streams, such as two regions, with matched clusters.

    Clusters of both that are nearer than lambda are matched one to one at the lowest cost, and keep
    their ID in `memory`. All others of `other` get new IDs.

    Parameters
    ----------
    memory, other : Memory
        Memories of two streams with the same penalties and space.

    Returns
    -------
    memory : Memory
        The merged memory; `DynamicMeans.from_memory` continues from it.
    new_ids : array of int
        The new ID of each cluster of `other`: ``new_ids[labels]``.

    See Also
    --------
    Memory : What is merged.
    DynamicMeans.from_memory : Continue from the result.

    Examples
    --------
    >>> from dynmeans import DynamicMeans
    >>> here = DynamicMeans(1.0, random_state=0).partial_fit([[0.0], [5.0]])
    >>> there = DynamicMeans(1.0, random_state=0).partial_fit([[9.0], [5.2]])
    >>> merged, new_ids = merge_memories(here.memory_, there.memory_)
    >>> merged.clusters.ids.tolist(), new_ids[there.labels_].tolist()
    ([0, 1, 2], [2, 1])
    """
    for name in _SAME:
        if getattr(memory, name) != getattr(other, name):
            rule = f"must have the same {name} as this memory"
            raise InputError("other", rule, got=getattr(other, name))
    if memory.penalties is None or other.penalties is None:
        raise InputError("other", "can be merged once both memories have seen points")
    if memory.penalties != other.penalties:
        raise InputError("other", "must have the same {penalties} as this memory")
    own, added = memory.clusters, other.clusters
    pairs = _pairs(own.centers, added.centers, memory.penalties.new_penalty)
    new_ids = np.full(added.next_id, -1, dtype=np.int64)
    new_ids[added.ids[pairs[:, 1]]] = own.ids[pairs[:, 0]]
    is_new = new_ids < 0
    new_ids[is_new] = own.next_id + np.arange(np.count_nonzero(is_new))
    evidence = memory.evidence
    if evidence is not None and other.evidence is not None:
        evidence = merge_evidence(evidence, other.evidence, new_ids)
    counted = dict(count_lifetimes(memory.lifetimes))
    for k, (n_points, n_batches) in count_lifetimes(other.lifetimes).items():
        n_own, n_seen = counted.get(int(new_ids[k]), (0.0, 0))
        counted[int(new_ids[k])] = n_own + n_points, max(n_seen, n_batches)
    merged = replace(
        memory,
        clusters=_merge_clusters(own, added, pairs, new_ids, memory.space.centers == "sphere"),
        lifetimes=NO_LIFETIMES._replace(counted=counted),
        evidence=evidence,
    )
    return merged, new_ids


def _pairs(own: FloatArray, added: FloatArray, new_penalty: float) -> IntArray:
    """Return rows of clusters nearer than lambda, one to one, at the lowest cost in all."""
    squares = np.minimum(cdist(own, added, "sqeuclidean"), new_penalty)
    rows, columns = linear_sum_assignment(squares)
    is_near = squares[rows, columns] < new_penalty
    return np.column_stack([rows[is_near], columns[is_near]])


def _merge_clusters(
    own: ClusterState, added: ClusterState, pairs: IntArray, new_ids: IntArray, is_sphere: bool
) -> ClusterState:
    """Return all clusters; of two that are one, the mean by weight and the younger age."""
    ids = np.concatenate([own.ids, new_ids[added.ids]])
    names, rows = np.unique(ids, return_inverse=True)
    weights = np.concatenate([own.weights, added.weights])
    ages = np.concatenate([own.ages, added.ages])
    total = np.bincount(rows, weights).astype(np.float64)

    def mean(name: str) -> FloatArray | None:
        parts = getattr(own, name), getattr(added, name)
        if parts[0] is None or parts[1] is None:
            return None
        values = np.concatenate(parts)
        sums = np.zeros((len(names), values.shape[1]))
        np.add.at(sums, rows, weights[:, None] * values)
        return np.asarray(sums / total[:, None])

    youngest = np.full(len(names), np.inf)
    np.minimum.at(youngest, rows, ages)
    counts = np.where(ages == youngest[rows], np.concatenate([own.counts, added.counts]), 0.0)
    centers = mean("centers")
    assert centers is not None, "every cluster has a center"
    if is_sphere:
        centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    return ClusterState(
        names,
        centers,
        total,
        youngest,
        next_id=own.next_id + int(np.count_nonzero(new_ids >= own.next_id)),
        n_steps=max(own.n_steps, added.n_steps),
        counts=np.bincount(rows, counts, len(names)).astype(np.float64),
        time=max(own.time, added.time),
        velocities=mean("velocities"),
        velocity_covariances=mean("velocity_covariances"),
    )
