"""Whether a set of a batch on a cluster may be plainly two: its first members tell.

A split needs a set that is plainly two already in its first members in the visiting order
(algorithm/splits.py). Only where one is are all rows gathered.
"""

from typing import Any

import numpy as np

from dynmeans.algorithm.sets import Batch
from dynmeans.algorithm.splits import SAMPLES, first_halves
from dynmeans.engine.dask.messages import Labeling
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.piece import Piece
from dynmeans.engine.dask.piece_run import hashed
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState

Members = tuple[IntArray, KeyArray, FloatArray, FloatArray]  # slots, keys, points, weights
_NEARLY = 8.99  # in place of 9: the whole decides, whose sums may be rounded otherwise


def may_split(
    pieces: list[Members], centers: FloatArray, state: ClusterState, penalties: Penalties
) -> bool:
    """Whether the first members of any set are plainly two, or nearly so."""
    slots, keys, points, weights = (np.concatenate(column) for column in zip(*pieces, strict=True))
    order = _first_of_each(slots, keys)
    batch = Batch(points, weights, state, penalties, order)
    for slot in np.unique(slots):
        rows = order[slots[order] == slot]
        halves = first_halves(batch, rows, centers[slot])
        if halves.are_two and halves.is_plain(_NEARLY):
            return True
    return False


def first_members(
    message: tuple[Labeling, int],
    piece: Piece,
    positions: KeyArray | None = None,
    last_positions: KeyArray | None = None,
) -> Members:
    """Return the first members of each set of a piece, in the last of the orders; on a worker."""
    labeling, seed = message
    run = piece.run(labeling.run, (), positions)
    run.reach(labeling)
    slots, keys = run.labels.astype(np.int64), last_positions
    if keys is None:
        keys = np.concatenate([_keys_of(part, seed) for part in piece.parts])
    chosen = _first_of_each(slots, keys)
    points, weights = np.empty((len(chosen), piece.parts[0].points.shape[1])), np.ones(len(chosen))
    begin = 0
    for part in piece.parts:
        is_here = (chosen >= begin) & (chosen < begin + len(part.points))
        rows = chosen[is_here] - begin
        points[is_here] = part.points[rows]
        if part.weights is not None:
            weights[is_here] = part.weights[rows]
        begin += len(part.points)
    return slots[chosen].astype(np.int64), keys[chosen], points, weights


def _first_of_each(slots: IntArray, keys: KeyArray) -> IntArray:
    """Return the rows that come first in each slot, as many as a first sample has, by slot."""
    order = np.lexsort((keys, slots))
    order = order[slots[order] >= 0]
    ranks = np.arange(len(order)) - np.searchsorted(slots[order], slots[order])
    first: IntArray = order[ranks < SAMPLES[0]]
    return first


def _keys_of(part: Any, seed: int) -> KeyArray:
    numbers = part.numbers
    if numbers is None:
        first = part.first_row
        numbers = np.arange(first, first + len(part.points), dtype=np.uint64)
    keys = hashed(part._replace(numbers=numbers), seed)
    assert keys is not None, "they have numbers"
    return keys
