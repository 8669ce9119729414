"""The first pass on the sphere over a cluster: rows are visited here, in the order of their turns.

Every row moves the center it joins, so no row can be labeled before those of earlier turns. Rows
are sent a block of turns at a time; what is held here is one block, the clusters, and the labels
(4 bytes a row), which the workers get once the pass is over. Later passes are made by the workers.
"""

from itertools import pairwise

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.dask.assign_labels import PassRequests
from dynmeans.engine.dask.messages import Moves, TurnRequest, TurnRows
from dynmeans.engine.dask.pass_log import ClusterTable, PassLog
from dynmeans.engine.dask.turns import turn_order
from dynmeans.engine.following import follow_rows
from dynmeans.records.arrays import FloatArray

BLOCK_BYTES = 2**24  # of the rows that are held here at a time
_WORDS = 5  # of a row beside its coordinates: its turn, weight and place

ClusterArrays = tuple[FloatArray, FloatArray, FloatArray]  # centers, offsets, sums


def follow_first(requests: PassRequests) -> tuple[PassLog, Moves]:
    """Label all rows, block by block; centers follow their rows (decision 0019)."""
    workers, remembered, end = requests.workers, requests.remembered, requests.end
    workers.begin_with([], "")
    theta_old, gamma = remembered.state.centers, remembered.gamma
    clusters: ClusterArrays = theta_old, remembered.costs.offsets, gamma[:, None] * theta_old
    labels = [np.full(size, -1, dtype=np.int32) for size in workers.sizes]
    n_rows = max(1, BLOCK_BYTES // (8 * (theta_old.shape[1] + _WORDS)))
    limit = -(-n_rows // workers.n_pieces)
    width, first = max(1, n_rows * end // (2 * requests.n_rows)), 0
    while first < end:
        turns = first, min(first + width, end) - 1
        replies = workers.ask(TurnRequest(requests.before, turns, limit, requests.kept_runs))
        last = min(reply.last for reply in replies)
        found = [reply.until(last) for reply in replies]
        chosen, clusters = _follow_block(found, clusters, remembered.penalties.new_penalty)
        edges = np.cumsum([0, *(len(reply.places) for reply in found)]).tolist()
        for own, reply, span in zip(labels, found, pairwise(edges), strict=True):
            own[reply.places] = chosen[slice(*span)]
        first = last + 1
    workers.begin_with(labels, requests.before.run.name)
    centers, offsets, _ = clusters
    table = ClusterTable(centers, offsets, np.ones(len(offsets)), np.ones(len(offsets), np.uint8))
    log = PassLog.start(table)
    settled = [reply.settled for reply in requests.ask(log, end, None)]
    return log, Moves.merge([moves for moves in settled if moves is not None])


def _follow_block(
    found: list[TurnRows], clusters: ClusterArrays, new_penalty: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int32]], ClusterArrays]:
    """Visit the rows of one block; return their labels, and the clusters afterwards."""
    order = turn_order(np.concatenate([reply.turns for reply in found]))
    rows = np.concatenate([reply.rows for reply in found])
    weights = np.concatenate([reply.weights for reply in found])
    labels, *after = follow_rows(Batch(rows, weights), order, *clusters, new_penalty)
    return labels, (after[0], after[1], after[2])
