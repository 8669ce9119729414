"""Where the rows lie: arrays and memory maps, Parquet folders, Dask arrays, iterators."""

import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dynmeans.engine.dask_input import is_on_dask
from dynmeans.files.damage import refusing_damage
from dynmeans.files.stamp import FileStamp
from dynmeans.records.arrays import BatchArray, IntArray
from dynmeans.scale.anytime.array_source import ArraySource


class Source(Protocol):
    """Rows that can be read piece by piece, in any order and again."""

    @property
    def n_features(self) -> int:
        """Number of coordinates of a row."""

    @property
    def sizes(self) -> IntArray:
        """Rows of each piece."""

    @property
    def has_cheap_rows(self) -> bool:
        """Whether single rows can be read without the rest of their piece."""

    def read(self, piece: int) -> BatchArray:
        """Return all rows of a piece, not checked."""

    def name_row(self, piece: int, row: int) -> str:
        """Name a row as the user knows it."""


def open_source(source: Any, columns: list[str] | None, batch_size: int) -> Source | Iterable[Any]:
    """Tell what kind of source this is; an iterator is given back as it is."""
    if columns is not None and not isinstance(source, str | os.PathLike):
        raise ValueError(f"columns needs a Parquet source, got {type(source).__name__}.")
    if isinstance(source, np.ndarray):
        return ArraySource(source, batch_size)
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(source), columns, batch_size)
    if is_on_dask(source) and not isinstance(source, list | tuple):
        dask_source = importlib.import_module("dynmeans.scale.anytime.dask_source")
        opened: Source = dask_source.DaskSource(source)
        return opened
    if isinstance(source, Iterable):
        return source
    raise TypeError(
        "source must be an array, the path of a .npy file or Parquet folder, a Dask array or an "
        f"iterator of arrays, got {type(source).__name__}."
    )


def _open_path(path: Path, columns: list[str] | None, batch_size: int) -> Source:
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
    opened: Source = parquet_source.ParquetSource(path, columns)
    return opened
