"""Where the rows lie: arrays and memory maps, Parquet folders, iterators."""

import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import READABLE
from dynmeans.files.damage import refusing_damage
from dynmeans.files.stamp import FileStamp
from dynmeans.records.arrays import BatchArray, IntArray

# A random row costs a page from disk, and then its neighbors are free.
_PAGE_BYTES = 4096
# More reads for one batch, or more blocks in all, would take longer than they do good.
_MAX_READS, _MAX_BLOCKS = 1024, 1 << 20


def open_source(source: Any, columns: list[str] | None, batch_size: int) -> Any:
    """Tell what kind of source this is; an iterator is given back as it is."""
    if columns is not None and not isinstance(source, str | os.PathLike):
        raise ValueError(f"columns needs a Parquet source, got {type(source).__name__}.")
    if isinstance(source, np.ndarray):
        return ArraySource(source, batch_size)
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), columns, batch_size)
    if isinstance(source, Iterable) and not hasattr(source, "dask"):
        return source
    raise TypeError(
        "source must be an array, the path of a .npy file or Parquet folder, or an iterator of "
        f"arrays, got {type(source).__name__}. Blocks of a Dask array are such an iterator."
    )


def _open_path(path: Path, columns: list[str] | None, batch_size: int) -> Any:
    if not path.exists():
        raise FileNotFoundError(f"source must be an existing file or folder, got {str(path)!r}.")
    if path.suffix == ".npy":
        if columns is not None:
            raise ValueError(f"columns needs a Parquet source, got {str(path)!r}.")
        stamp = FileStamp.of(path)
        with refusing_damage(path, "a .npy file of numbers"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        return ArraySource(array, batch_size, stamp)
    parquet_source = importlib.import_module("dynmeans.scale.anytime.parquet_source")
    return parquet_source.ParquetSource(path, columns)


class ArraySource:
    """Rows of one two-dimensional array.

    `batch_size` rows will be wanted at a time: the fewer, the smaller the blocks, so that a batch
    always comes from many places.
    """

    has_cheap_rows = True

    def __init__(
        self, array: npt.NDArray[np.generic], batch_size: int, stamp: FileStamp | None = None
    ) -> None:
        if array.ndim != 2:
            raise ValueError(f"source must have two dimensions, got shape {array.shape}.")
        if array.dtype.kind not in "fiub":
            raise TypeError(f"source must be numeric, got dtype {array.dtype}.")
        check_not_empty(array.shape[0], array.shape[1])
        self._stamp = stamp
        self._array = np.asarray(array)  # A plain view is cut faster than a memory map.
        self.n_features = array.shape[1]
        page_rows = _PAGE_BYTES // (array.dtype.itemsize * array.shape[1])
        wanted = min(page_rows, batch_size // _MAX_READS)
        self.block_rows = max(1, wanted, -(-len(array) // _MAX_BLOCKS))

    @property
    def sizes(self) -> IntArray:
        """Rows of each block: all alike, but for the last."""
        n_rows = len(self._array)
        sizes = np.full(-(-n_rows // self.block_rows), self.block_rows)
        sizes[-1] = n_rows - self.block_rows * (len(sizes) - 1)
        return sizes

    def read(self, piece: int) -> BatchArray:
        """Return the rows of one block."""
        first = piece * self.block_rows
        rows = as_batch(self._array[first : first + self.block_rows])
        if self._stamp is not None:
            self._stamp.check()
        return rows

    def name_row(self, piece: int, row: int) -> str:
        """Name a row by its number in the array."""
        return f"row {piece * self.block_rows + row}"


def as_batch(rows: npt.NDArray[np.generic]) -> BatchArray:
    """Return rows as the engine takes them; float32 stays float32, all else becomes float64."""
    if rows.dtype == np.float32:
        return np.require(rows, np.float32, READABLE)
    return np.require(rows, np.float64, READABLE)


def check_not_empty(n_rows: int, n_features: int) -> None:
    """Refuse a source of nothing."""
    if n_rows < 1 or n_features < 1:
        raise ValueError(
            f"source must have at least one row and one feature, got {n_rows} and {n_features}."
        )
