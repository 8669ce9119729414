"""Rows of a Dask array, read chunk by chunk."""

from typing import Any

import dask.array as da
import numpy as np

from dynmeans.records.arrays import BatchArray
from dynmeans.scale.anytime.array_source import as_batch, check_not_empty


class DaskSource:
    """Rows of a two-dimensional Dask array, on whatever scheduler is in use."""

    has_cheap_rows = False

    def __init__(self, array: Any) -> None:
        if not isinstance(array, da.Array):
            raise TypeError(
                f"source must be a Dask array, got a Dask {type(array).__name__}. "
                "Call to_dask_array(lengths=True) first."
            )
        if array.ndim != 2:
            raise ValueError(f"source must have two dimensions, got shape {array.shape}.")
        if np.isnan(array.shape).any():
            raise ValueError(
                f"source must have chunks of known size, got shape {array.shape}. "
                "Call compute_chunk_sizes() first."
            )
        check_not_empty(*array.shape)
        self.array = array.rechunk({1: -1})
        self.n_features = array.shape[1]
        self.sizes = np.array(self.array.chunks[0], dtype=np.int64)

    def read(self, piece: int) -> BatchArray:
        """Return the rows of one chunk."""
        return as_batch(np.asarray(self.array.blocks[piece].compute()))

    def name_row(self, piece: int, row: int) -> str:
        """Name a row by its number in the array."""
        return f"row {int(self.sizes[:piece].sum()) + row}"
