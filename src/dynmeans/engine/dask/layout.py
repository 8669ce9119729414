"""Where the rows of a batch lie, and in which portions workers are asked about them.

Sums run over blocks of 16384 rows (decision 0006), and chunks need not begin where blocks do. So
the first rows of a chunk that belong to a block begun earlier are copied once to the worker that
holds the beginning of that block: every block is summed in one place, in the order of its rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Client, Future, wait

from dynmeans.algorithm.sums import BLOCK
from dynmeans.engine.dask.chunk_facts import hold, take_rows
from dynmeans.engine.dask.messages import PieceInfo
from dynmeans.engine.dask.pass_log import KeyArray
from dynmeans.engine.dask.spread_batch import DaskBatch

_MOST_BYTES = 2**29  # Rows that one task holds in memory together.


@dataclass(frozen=True, slots=True)
class SpreadPiece:
    """Consecutive rows, and the futures they are cut from."""

    info: PieceInfo
    chunk: int
    owner: int  # The chunk whose worker has the block's beginning.
    points: Future
    weights: Future | None
    positions: Future | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Pieces that one task on one worker looks after, in the order of their rows."""

    worker: str
    pieces: tuple[SpreadPiece, ...]


def cut_into_pieces(batch: DaskBatch) -> list[SpreadPiece]:
    """Cut chunks where blocks begin, and bring every block to one worker."""
    holders = _holders(batch.client, batch.chunks)
    weights_of = _beside(batch.client, batch.weights, holders)
    pieces: list[SpreadPiece] = []
    first_row, owner = 0, 0
    for chunk, size in enumerate(batch.sizes):
        head = min(size, -first_row % BLOCK)
        for start, stop in ((0, head), (head, size)):
            if start == stop:
                continue
            if (first_row + start) % BLOCK == 0:
                owner = chunk
            info = PieceInfo(len(pieces), first_row + start, (start, stop))
            piece = SpreadPiece(info, chunk, owner, batch.chunks[chunk], weights_of[chunk])
            pieces.append(piece if owner == chunk else _moved(batch, piece, holders[owner]))
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
    units: dict[str, list[list[SpreadPiece]]] = {}  # whole blocks, by worker
    worker = ""
    for piece, holder in zip(pieces, holders, strict=True):
        if piece.info.first_row % BLOCK == 0:
            worker = holder
            units.setdefault(worker, []).append([])
        units[worker][-1].append(piece)
    groups = []
    for worker, parts in units.items():
        n_bytes = sum(8 * n_features * piece.info.n_rows for part in parts for piece in part)
        n_groups = max(n_threads.get(worker, 1), -(-n_bytes // _MOST_BYTES))
        for numbers in np.array_split(np.arange(len(parts)), min(n_groups, len(parts))):
            together = tuple(piece for number in numbers for piece in parts[number])
            groups.append(Group(worker, together))
    return groups


def _moved(batch: DaskBatch, piece: SpreadPiece, worker: str) -> SpreadPiece:
    """Copy the rows of a piece to the worker that has the beginning of their block."""
    client, (start, stop) = batch.client, piece.info.rows

    def move(future: Future) -> Future:
        cut = client.submit(take_rows, future, start, stop, pure=False)
        return _bring(client, cut, worker)

    return replace(
        piece,
        info=replace(piece.info, rows=(0, stop - start)),
        points=move(piece.points),
        weights=None if piece.weights is None else move(piece.weights),
    )


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
