"""Random subsets of a source, one after the other, and a sample held out from all of them."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dynmeans.engine.checks import MAX_COORDINATE, are_in_range, checked_points
from dynmeans.records.arrays import BatchArray, IntArray
from dynmeans.scale.anytime.sources import as_batch

# Where a piece is larger than a batch, each batch mixes rows of this many pieces.
_MIN_OPEN = 16
_MAX_HELD_SHARE = 0.1


class RandomSubsets:
    """Batches of rows from random pieces of a source: every row once before any comes again."""

    def __init__(
        self, source: Any, batch_size: int, holdout_size: int, rng: np.random.Generator
    ) -> None:
        self._source, self._rng = source, rng
        self._sizes = source.sizes
        self.n_rows = int(self._sizes.sum())
        n_held = min(holdout_size, int(_MAX_HELD_SHARE * self.n_rows))
        self._held = self._choose_held(n_held)
        self.holdout = self._read_held() if self._held else self._read_everything()
        self._batch_size = min(batch_size, self.n_rows - n_held)
        self._unread: list[int] = []
        self._open: list[BatchArray] = []

    def __iter__(self) -> Iterator[BatchArray]:
        """Give batch after batch, without end."""
        while True:
            yield self._next_batch()

    def _choose_held(self, n_held: int) -> dict[int, IntArray]:
        """Choose the rows to hold out: for each piece that has some, which."""
        if n_held == 0:
            return {}
        pieces = np.arange(len(self._sizes))
        if not self._source.has_cheap_rows:
            pieces = np.sort(self._rng.permutation(pieces)[: self._n_pieces_for(n_held)])
        ends = np.cumsum(self._sizes[pieces])
        rows = np.sort(self._rng.choice(int(ends[-1]), min(n_held, int(ends[-1])), replace=False))
        owners = np.searchsorted(ends, rows, side="right")
        offsets = rows - (ends - self._sizes[pieces])[owners]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        return {
            int(pieces[owners[first]]): part
            for first, part in zip(firsts, np.split(offsets, firsts[1:]), strict=True)
        }

    def _n_pieces_for(self, n_rows: int) -> int:
        """Return how many pieces to read for so many rows: some even where one would do."""
        return max(_MIN_OPEN, int(np.ceil(2 * n_rows / self._sizes.mean())))

    def _read_held(self) -> BatchArray:
        return np.concatenate([self._read(piece)[rows] for piece, rows in self._held.items()])

    def _read_everything(self) -> BatchArray:
        """Too few rows to spare any: the cost is that of all rows."""
        return np.concatenate([self._read(piece) for piece in range(len(self._sizes))])

    def _next_batch(self) -> BatchArray:
        """Take an equal share of every open piece until the batch is full."""
        taken: list[BatchArray] = []
        missing = self._batch_size
        while missing:
            self._open_pieces(missing)
            share = -(-missing // len(self._open))
            rest = []
            for rows in self._open:
                part = rows[: min(share, missing)]
                missing -= len(part)
                taken.append(part)
                if len(part) < len(rows):
                    rest.append(rows[len(part) :])
            self._open = rest
        return as_batch(np.concatenate(taken))

    def _open_pieces(self, n_rows: int) -> None:
        """Open pieces until there are rows enough, of several; begin again only where needed."""
        n_open = sum(map(len, self._open))
        while n_open < n_rows or (self._unread and len(self._open) < _MIN_OPEN):
            if not self._unread:
                self._unread = self._rng.permutation(len(self._sizes)).tolist()
            piece = self._unread.pop()
            rows = self._read(piece)
            if piece in self._held:
                rows = np.delete(rows, self._held[piece], axis=0)
            if not self._source.has_cheap_rows:
                rows = self._rng.permutation(rows)
            n_open += len(rows)
            self._open.append(rows)

    def _read(self, piece: int) -> BatchArray:
        rows: BatchArray = self._source.read(piece)
        if not are_in_range(rows):
            row, column = np.argwhere(~(np.abs(rows) <= MAX_COORDINATE))[0]
            raise ValueError(
                f"source must be finite and at most {MAX_COORDINATE:g} in magnitude, got "
                f"{rows[row, column]} in {self._source.name_row(piece, int(row))}."
            )
        return rows


class IteratorSubsets:
    """Batches of an iterator's arrays in the order in which they come; each is seen once."""

    def __init__(
        self, arrays: Iterable[Any], batch_size: int, holdout_size: int, rng: np.random.Generator
    ) -> None:
        self._arrays, self._n_read = iter(arrays), 0
        self._batch_size = batch_size
        self._n_features: int | None = None
        head = self._gather([], batch_size + holdout_size)
        if head is None:
            raise ValueError("source must have at least one row, got an iterator of none.")
        n_held = min(holdout_size, int(_MAX_HELD_SHARE * len(head)) or len(head))
        is_held = np.zeros(len(head), dtype=bool)
        is_held[rng.choice(len(head), n_held, replace=False)] = True
        self.holdout = head[is_held]
        self._head = head if n_held == len(head) else head[~is_held]
        self.n_rows = len(head)

    def __iter__(self) -> Iterator[BatchArray]:
        """Give batch after batch until the iterator ends."""
        rest = [self._head]
        while (rows := self._gather(rest, self._batch_size)) is not None:
            batch = rows[: self._batch_size]
            rest = [rows[len(batch) :]]
            yield batch

    def _gather(self, rows: list[BatchArray], n_rows: int) -> BatchArray | None:
        """Join what is there and what comes until there are so many rows, or no more come."""
        n_found = sum(map(len, rows))
        for array in self._arrays if n_found < n_rows else ():
            rows.append(self._checked(array))
            n_found += len(rows[-1])
            self.n_rows = self._n_read
            if n_found >= n_rows:
                break
        return as_batch(np.concatenate(rows)) if n_found else None

    def _checked(self, array: Any) -> BatchArray:
        if self._n_features is None:
            shape = np.shape(array)
            self._n_features = shape[1] if len(shape) == 2 else 1
        rows = checked_points(array, self._n_features, "an array of source")
        self._n_read += len(rows)
        return rows
