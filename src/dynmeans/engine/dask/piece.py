"""A piece: the chunks that one thread of a worker looks after, as rows that can be compared."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dynmeans.engine.checks import READABLE, row_off_sphere
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask.chunks import (
    RowsChangedError,
    checksum,
    columns_of,
    to_rows,
    to_weights,
)
from dynmeans.engine.dask.messages import OrderRun
from dynmeans.engine.dask.piece_run import PieceRun, RowBlock
from dynmeans.engine.dask.turns import Words
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.space import Space, map_on_device

_SMALL = 4096  # Rows below which a chunk is joined with others.

Values = TypeVar("Values", BatchArray, FloatArray)


class ChunkInfo(NamedTuple):
    """One chunk: its number, its rows in the batch, and checksums of its points and weights."""

    number: int
    first_row: int
    n_rows: int
    checksum: int
    weight_checksum: int | None

    @property
    def is_small(self) -> bool:
        """Whether it is joined with other chunks of its piece, after all large ones."""
        return self.n_rows < _SMALL


class Piece:
    """Rows of some chunks, and what is remembered of them.

    Dask keeps it in the memory of a worker for as long as a client holds its future.
    """

    def __init__(self, infos: list[ChunkInfo], parts: list[RowBlock]) -> None:
        self.infos, self.parts = infos, [_align(part) for part in parts]
        self._runs: dict[str, PieceRun] = {}
        self._hashed_by: tuple[int, int] | None = None
        self._hashes: list[Words] = []

    def __reduce__(self) -> Any:
        """Rows only: what is remembered may be changing, and can be computed again."""
        return Piece, (self.infos, self.parts)

    def __sizeof__(self) -> int:
        """Bytes of the rows, for Dask."""
        return object.__sizeof__(self) + sum(part.points.nbytes for part in self.parts)

    def run(
        self,
        run: OrderRun,
        kept_runs: tuple[str, ...],
        positions: Words | None,
        followed: Any = None,
    ) -> PieceRun:
        """What is known in this run; runs that are not kept are forgotten."""
        known = self._runs.get(run.name)
        if known is None:
            known = PieceRun(self, run, positions)
        if followed is not None:
            known.followed = followed
        kept = {name: self._runs[name] for name in kept_runs if name in self._runs}
        self._runs = {**kept, run.name: known}
        return known

    def run_of(self, run: OrderRun) -> PieceRun:
        """What is remembered of another run, if anything is."""
        return self._runs.get(run.name) or PieceRun(self, run, None)

    def hashes(self, hashed_by: tuple[int, int]) -> list[Words]:
        """Return the hashes of the rows by part, computed once for all orders of a batch."""
        if self._hashed_by != hashed_by:
            self._hashes = [compiled.hash_rows(part.points, *hashed_by) for part in self.parts]
            self._hashed_by = hashed_by
        return self._hashes

    def map_to_space(self, space: Space) -> "Piece":
        """Return the piece as points of a space, on the worker that holds it."""
        parts = [part._replace(points=map_on_device(space, part.points)) for part in self.parts]
        return Piece(self.infos, parts)

    def row_off_sphere(self) -> tuple[int, float] | None:
        """Return the first row of the batch that does not have length 1, with its length."""
        found = []
        for part in self.parts:
            off = row_off_sphere(part.points)
            if off is not None:
                at = part.first_row + off[0] if part.numbers is None else int(part.numbers[off[0]])
                found.append((at, off[1]))
        return min(found, default=None)

    def magnitudes(self) -> tuple[FloatArray, float, float]:
        """Largest coordinate of each feature, least and largest weight, of rows that take part."""
        found = [compiled.magnitudes(part.points, part.weights) for part in self.parts]
        farthest, lightest, heaviest = zip(*found, strict=True)
        return np.max(farthest, axis=0), min(lightest), max(heaviest)


def _align(part: RowBlock) -> RowBlock:
    """Rows from another worker lie anywhere in its message: compiled code takes aligned ones."""
    weights = None if part.weights is None else np.require(part.weights, requirements=READABLE)
    return part._replace(points=np.require(part.points, requirements=READABLE), weights=weights)


def make_piece(
    infos: list[ChunkInfo],
    chunks: list[Any],
    weights: list[Any] | None,
    columns: tuple[Any, ...] | None,
) -> Piece:
    """Bring chunks to rows, on a worker; refuse those that are not what they were.

    Dask calls this again after the death of a worker.
    """
    points = [
        _in_order(_has_same_rows(info, info.checksum, to_rows(chunk), "points"), chunk, columns)
        for info, chunk in zip(infos, chunks, strict=True)
    ]
    if len({rows.dtype for rows in points}) > 1:
        points = [rows.astype(np.float64, copy=False) for rows in points]
    masses = None
    if weights is not None:
        masses = [
            _has_same_rows(info, info.weight_checksum, to_weights(chunk), "sample_weight")
            for info, chunk in zip(infos, weights, strict=True)
        ]
    return Piece(infos, _to_parts(infos, points, masses))


def _has_same_rows(info: ChunkInfo, expected: int | None, values: Values, name: str) -> Values:
    if checksum(values) != expected:
        raise RowsChangedError(
            f"chunk {info.number} of {name} (rows {info.first_row} to "
            f"{info.first_row + info.n_rows - 1} of the batch) was computed again after a worker "
            "died, and holds other values than before: its file was rewritten, or it is random "
            "without a seed. Nothing was changed. Make the batch from data that stay the same, and "
            "repeat the step."
        )
    return values


def _in_order(rows: BatchArray, chunk: Any, columns: tuple[Any, ...] | None) -> BatchArray:
    """Columns of a data frame by their names."""
    own = columns_of(chunk)
    if own is None or columns is None or own == columns:
        return rows
    ordered: BatchArray = np.require(
        rows[:, [own.index(column) for column in columns]], requirements="C"
    )
    return ordered


def _to_parts(
    infos: list[ChunkInfo], points: list[BatchArray], weights: list[FloatArray] | None
) -> list[RowBlock]:
    """A part for each large chunk, and one for all small ones together."""
    masses: Sequence[FloatArray | None] = weights or [None] * len(points)
    n_large = sum(not info.is_small for info in infos)
    parts = [
        RowBlock(info.first_row, rows, mass)
        for info, rows, mass in zip(infos[:n_large], points, masses, strict=False)
    ]
    if n_large < len(infos):
        numbers = [np.arange(i.first_row, i.first_row + i.n_rows) for i in infos[n_large:]]
        mass = None if weights is None else np.concatenate(weights[n_large:])
        rows: Any = np.concatenate(points[n_large:])
        parts.append(RowBlock(0, rows, mass, np.concatenate(numbers).astype(np.uint64)))
    return parts
