"""Where the rows lie: arrays and memory maps, Parquet folders, iterators."""

import importlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from dynmeans.files.damage import refusing_damage
from dynmeans.files.stamp import FileStamp
from dynmeans.scale.anytime.array_source import ArraySource


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
