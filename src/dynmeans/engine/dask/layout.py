"""Where the rows of a batch lie, and in which portions workers are asked about them.

Every chunk is one piece, and stays where it lies: sums over pieces are merged in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Client, Future, wait

from dynmeans.engine.dask.chunk_facts import hold
from dynmeans.engine.dask.messages import PieceInfo
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.spread_batch import DaskBatch

_MOST_BYTES = 2**29  # Rows that one task holds in memory together.


@dataclass(frozen=True, slots=True)
class SpreadPiece:
    """Consecutive rows, and the futures they are cut from."""

    info: PieceInfo
    chunk: int
    points: Future
    weights: Future | None
    positions: Future | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that one task on one worker looks after, in the order of their rows."""

    worker: str
    pieces: tuple[SpreadPiece, ...]


def cut_into_pieces(batch: DaskBatch) -> list[SpreadPiece]:
    """One piece for each chunk that has rows, with its weights beside it."""
    weights_of = _beside(batch.client, batch.weights, _holders(batch.client, batch.chunks))
    pieces: list[SpreadPiece] = []
    first_row = 0
    for chunk, size in enumerate(batch.sizes):
        if size:
            info = PieceInfo(len(pieces), first_row, (0, size))
            pieces.append(SpreadPiece(info, chunk, batch.chunks[chunk], weights_of[chunk]))
        first_row += size
    return pieces


def with_positions(
    client: Client, pieces: list[SpreadPiece], positions: KeyArray
) -> list[SpreadPiece]:
    """Give each row its place in a visiting order that the caller made."""
    placed, holders = [], _holders(client, [piece.points for piece in pieces])
    for piece, worker in zip(pieces, holders, strict=True):
        start, (first, stop) = piece.info.first_row, piece.info.rows
        rows = np.zeros(stop, dtype=np.uint64)
        rows[first:] = positions[start : start + piece.info.n_rows]
        placed.append(replace(piece, positions=_bring(client, rows, worker)))
    return placed


def group_pieces(client: Client, pieces: list[SpreadPiece], n_features: int) -> list[Group]:
    """One task for each thread of each worker, more where the rows would fill its memory."""
    beside = [future for piece in pieces for future in (piece.weights, piece.positions)]
    wait([future for future in beside if future is not None])
    holders = _holders(client, [piece.points for piece in pieces])
    n_threads = client.nthreads()
    held: dict[str, list[SpreadPiece]] = {}
    for piece, holder in zip(pieces, holders, strict=True):
        held.setdefault(holder, []).append(piece)
    groups = []
    for worker, own in held.items():
        n_bytes = sum(8 * n_features * piece.info.n_rows for piece in own)
        n_groups = max(n_threads.get(worker, 1), -(-n_bytes // _MOST_BYTES))
        for numbers in np.array_split(np.arange(len(own)), min(n_groups, len(own))):
            groups.append(Group(worker, tuple(own[number] for number in numbers)))
    return groups


def _beside(
    client: Client, weights: list[Future] | None, holders: list[str]
) -> Sequence[Future | None]:
    """Bring the weights of each chunk to where its rows are."""
    if weights is None:
        return [None] * len(holders)
    found = zip(weights, _holders(client, weights), holders, strict=True)
    return [own if there == here else _bring(client, own, here) for own, there, here in found]


def _bring(client: Client, value: Any, worker: str) -> Future:
    """Keep a value on a worker, on another one only if that is gone."""
    where = [worker] if worker else None
    return client.submit(hold, value, workers=where, allow_other_workers=bool(worker), pure=False)


def _holders(client: Client, futures: list[Future]) -> list[str]:
    """A worker that has each of these in memory."""
    wait(futures)
    who_has = client.who_has(futures)
    return [min(who_has.get(future.key) or [""]) for future in futures]
