"""The workers played by this process, one after the other: the protocol without a cluster.

Requests and replies are those of a real run, pickled and all; only the network is missing. For
counting what a run would send, and for tests.
"""

import pickle
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from dynmeans.engine.dask.messages import Reply, Request
from dynmeans.engine.dask.piece import ChunkInfo, Piece
from dynmeans.engine.dask.piece_run import RowBlock
from dynmeans.engine.dask.workers import Round


def cut_here(points: Any, weights: Any = None, cuts: Iterable[int] = ()) -> list[Piece]:
    """Cut a batch at these rows into pieces of one chunk."""
    edges = sorted({0, len(points), *cuts})
    return [
        Piece(
            [ChunkInfo(number, begin, end - begin, 0, None)],
            [RowBlock(begin, points[begin:end], None if weights is None else weights[begin:end])],
        )
        for number, (begin, end) in enumerate(pairwise(edges))
    ]


class OneProcess:
    """As `Workers`, for pieces in this process."""

    def __init__(self, pieces: list[Piece], positions: Any = None) -> None:
        self.pieces, self._positions = pieces, positions
        self.rounds: list[Round] = []

    @property
    def n_pieces(self) -> int:
        """Number of replies to a request."""
        return len(self.pieces)

    def magnitudes(self) -> tuple[Any, float, float]:
        """What the units of sums follow from."""
        farthest, lightest, heaviest = zip(*(p.magnitudes() for p in self.pieces), strict=True)
        return np.max(farthest, axis=0), min(lightest), max(heaviest)

    def ask(self, request: Request) -> list[Reply]:
        """Have every piece answer."""
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        replies = [self._answer(piece, pickle.loads(message)) for piece in self.pieces]
        self.rounds.append(Round.of(request, 0.0, len(message) * len(replies), replies))
        return replies

    def _answer(self, piece: Piece, request: Request) -> Reply:
        (info,), positions = piece.infos, self._positions
        if positions is not None:
            positions = positions[info.first_row : info.first_row + info.n_rows]
        return piece.run(request.run, request.kept_runs, positions).answer(request)
