"""The workers played by this process, one after the other: the protocol without a cluster.

Requests and replies are those of a real run, pickled and all; only the network is missing. For
counting what a run would send, and for tests.
"""

import pickle
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dynmeans.engine.dask.bin_sums import Magnitudes, add_bins
from dynmeans.engine.dask.crew import Round, count_bytes
from dynmeans.engine.dask.messages import Moves, PieceInfo, Request
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.worker import sum_up
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

BLOCK = 16384  # rows of a piece, at most


class PieceHere(NamedTuple):
    """Consecutive rows, as a worker gets them."""

    info: PieceInfo
    points: BatchArray
    weights: FloatArray | None
    positions: KeyArray | None


def cut_here(
    points: BatchArray,
    weights: FloatArray | None = None,
    positions: KeyArray | None = None,
    cuts: Iterable[int] = (),
) -> list[PieceHere]:
    """Cut a batch into blocks, and at these rows."""
    edges = sorted({*range(0, len(points), BLOCK), len(points), *cuts})
    return [
        PieceHere(
            PieceInfo(number, begin, (0, end - begin)),
            points[begin:end],
            None if weights is None else weights[begin:end],
            None if positions is None else positions[begin:end],
        )
        for number, (begin, end) in enumerate(pairwise(edges))
    ]


class OneProcess:
    """A crew of so many workers."""

    def __init__(self, pieces: list[PieceHere], n_workers: int) -> None:
        portions = np.array_split(np.arange(len(pieces)), min(n_workers, len(pieces)))
        self._groups = [[pieces[number] for number in portion] for portion in portions]
        self.rounds: list[Round] = []

    @property
    def n_groups(self) -> int:
        """Number of portions in which a request is carried out."""
        return len(self._groups)

    def ask(self, task: Callable[..., Any], request: Request) -> list[Any]:
        """Carry out a task for every worker."""
        return self._carry_out(task, request)

    def magnitudes(self) -> Magnitudes:
        """What the units of sums follow from."""
        parts = [Magnitudes.of(p.info, p.points, p.weights) for g in self._groups for p in g]
        return Magnitudes.merged(parts)

    def sum_up(self, request: Request, columns: IntArray) -> tuple[FloatArray, IntArray]:
        """End the pass."""
        replies = self._carry_out(sum_up, request, columns)
        return add_bins(replies), Moves.merged([reply.moves for reply in replies]).n_joined

    def _carry_out(self, task: Callable[..., Any], request: Request, *extra: Any) -> list[Any]:
        message = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
        replies = [
            task(message, *(list(column) for column in zip(*group, strict=True)), *extra)
            for group in self._groups
        ]
        proposals = [getattr(reply, "proposals", None) for reply in replies]
        self.rounds.append(
            Round(
                run=request.run,
                n_pass=request.n_pass,
                kind=task.__name__,
                seconds=0.0,
                bytes_out=len(message) * self.n_groups,
                bytes_in=sum(map(count_bytes, replies)),
                n_tasks=self.n_groups,
                n_proposals=sum(len(p.keys) for p in proposals if p is not None),
            )
        )
        return replies
