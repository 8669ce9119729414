"""Random subsets of a source, one after the other, and a sample held out from all of them."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import MAX_COORDINATE, READABLE, are_in_range, check_points
from dynmeans.records.arrays import BatchArray

# Each batch mixes rows of so many blocks at least.
_MIN_OPEN = 16
_MAX_HELD_SHARE = 0.1
# A random row costs a page from disk, and then its neighbors are free.
_PAGE_BYTES = 4096
# More reads for one batch, or more blocks in all, would take longer than they do good.
_MAX_READS, _MAX_BLOCKS = 1024, 1 << 20


def open_subsets(
    source: Any, batch_size: int, holdout_size: int, rng: np.random.Generator
) -> "ArraySubsets | IteratorSubsets":
    """Return the subsets of a source of this kind."""
    if isinstance(source, np.ndarray):
        return ArraySubsets(source, batch_size, holdout_size, rng)
    if isinstance(source, Iterable) and not isinstance(source, str) and not hasattr(source, "dask"):
        return IteratorSubsets(source, batch_size, holdout_size, rng)
    raise TypeError(
        f"source must be an array or an iterator of arrays, got {type(source).__name__}. A .npy "
        "file is np.load(path, mmap_mode='r'); record batches of DuckDB or pyarrow, or blocks of "
        "Dask, are such an iterator."
    )


class ArraySubsets:
    """Batches of rows from random blocks of an array or memory map: each row once before any again.

    The fewer rows are wanted at a time, the smaller the blocks, so that a batch comes from many
    places.
    """

    def __init__(
        self,
        array: npt.NDArray[np.generic],
        batch_size: int,
        holdout_size: int,
        rng: np.random.Generator,
    ) -> None:
        if array.ndim != 2:
            raise ValueError(f"source must have two dimensions, got shape {array.shape}.")
        if array.dtype.kind not in "fiub":
            raise TypeError(f"source must be numeric, got dtype {array.dtype}.")
        if not array.size:
            raise ValueError(
                f"source must have at least one row and one feature, got shape {array.shape}."
            )
        self._array = np.asarray(array)  # A plain view is cut faster than a memory map.
        self._rng, self.n_rows = rng, len(array)
        page_rows = _PAGE_BYTES // (array.dtype.itemsize * array.shape[1])
        wanted = min(page_rows, batch_size // _MAX_READS)
        self._block_rows = max(1, wanted, -(-len(array) // _MAX_BLOCKS))
        n_held = min(holdout_size, int(_MAX_HELD_SHARE * self.n_rows))
        held = np.sort(rng.choice(self.n_rows, n_held, replace=False)).tolist() if n_held else []
        self._held: list[int] = held
        # Of too few rows none is spared: the cost is that of all.
        rows = self._array[held] if held else self._array
        self.holdout = self._check_arguments(rows, held or range(self.n_rows))
        self._batch_size = min(batch_size, self.n_rows - n_held)
        self._unread: list[int] = []
        self._open: list[BatchArray] = []

    def __iter__(self) -> Iterator[BatchArray]:
        """Give batch after batch, without end."""
        while True:
            yield self._next_batch()

    def _next_batch(self) -> BatchArray:
        """Take an equal share of every open block until the batch is full."""
        taken: list[BatchArray] = []
        missing = self._batch_size
        while missing:
            self._open_blocks(missing)
            share = -(-missing // len(self._open))
            rest = []
            for rows in self._open:
                part = rows[: min(share, missing)]
                missing -= len(part)
                taken.append(part)
                if len(part) < len(rows):
                    rest.append(rows[len(part) :])
            self._open = rest
        return _as_batch(np.concatenate(taken))

    def _open_blocks(self, n_rows: int) -> None:
        """Open blocks until there are rows enough, of several; begin again only where needed."""
        n_open = sum(map(len, self._open))
        while n_open < n_rows or (self._unread and len(self._open) < _MIN_OPEN):
            if not self._unread:
                n_blocks = -(-self.n_rows // self._block_rows)
                self._unread = self._rng.permutation(n_blocks).tolist()
            first = self._unread.pop() * self._block_rows
            end = first + self._block_rows
            rows = self._check_arguments(self._array[first:end], range(first, end))
            held = self._held[bisect_left(self._held, first) : bisect_left(self._held, end)]
            if held:
                rows = np.delete(rows, [row - first for row in held], axis=0)
            self._open.append(rows)
            n_open += len(rows)

    def _check_arguments(self, rows: npt.NDArray[np.generic], numbers: Sequence[int]) -> BatchArray:
        batch = _as_batch(rows)
        if not are_in_range(batch):
            row, column = np.argwhere(~(np.abs(batch) <= MAX_COORDINATE))[0]
            raise ValueError(
                f"source must be finite and at most {MAX_COORDINATE:g} in magnitude, got "
                f"{batch[row, column]} in row {numbers[row]}."
            )
        return batch


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
        """Join what is there and what comes until there are this many rows, or no more come."""
        n_found = sum(map(len, rows))
        for array in self._arrays if n_found < n_rows else ():
            rows.append(self._check_arguments(array))
            n_found += len(rows[-1])
            self.n_rows = self._n_read
            if n_found >= n_rows:
                break
        return _as_batch(np.concatenate(rows)) if n_found else None

    def _check_arguments(self, array: Any) -> BatchArray:
        if self._n_features is None:
            shape = np.shape(array)
            self._n_features = shape[1] if len(shape) == 2 else 1
        rows = check_points(array, self._n_features, "an array of source")
        self._n_read += len(rows)
        return rows


def _as_batch(rows: npt.NDArray[np.generic]) -> BatchArray:
    """Return rows as the engine takes them; float32 stays float32, all else becomes float64."""
    if rows.dtype == np.float32:
        return np.require(rows, np.float32, READABLE)
    return np.require(rows, np.float64, READABLE)
