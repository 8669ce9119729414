"""What a piece answers about sets: the labels of its rows after some splits."""

from typing import TYPE_CHECKING

import numpy as np

from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.set_messages import AskHalf, AskMembers, Half, Members, SetRequest
from dynmeans.records.arrays import FloatArray

if TYPE_CHECKING:
    from dynmeans.engine.dask.piece_run import PieceRun


def answer_about_sets(run: "PieceRun", request: SetRequest) -> Members | Half | FloatArray:
    """Answer for the rows of a piece that has the labels of the request."""
    arrays, ask, sums = run.arrays(run.sets_after(request.splits)), request.ask, request.run.sums
    if isinstance(ask, AskMembers):
        n_features = len(sums[0])
        found = compiled.first_members(arrays, ask.seed, ask.wanted, n_features)
        slots, turns, points, weights = found
        return Members(slots.astype(np.int64), turns, points, weights)
    if isinstance(ask, AskHalf):
        return Half(*compiled.take_second(arrays, ask.slot, ask.before, ask.means, sums))
    scatter: FloatArray = compiled.scatter_of(arrays, ask.slot, ask.halves, ask.means, sums)
    return scatter
