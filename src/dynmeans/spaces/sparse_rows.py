"""Sparse matrices, such as those of scikit-learn's vectorizers, as rows of few coordinates.

A column's direction is 1,024 signs that follow from its number alone, so every batch and every
machine projects it alike. The cosine of two rows is kept within about 0.03 (one standard deviation,
1 / sqrt(1,024)). At most one block of rows is dense in addition to the result.
"""

import hashlib
from typing import Any

import numpy as np

from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import BatchArray, FloatArray
from dynmeans.spaces.cosine import Cosine
from dynmeans.spaces.named import find_space

N_COORDINATES = 1024
_BLOCK = 2048  # rows


def is_sparse(rows: Any) -> bool:
    """Return whether this is a matrix or an array of SciPy that is sparse, in any format."""
    return hasattr(rows, "tocsr") and hasattr(rows, "nnz")


def n_projected(n_columns: int) -> int:
    """Return how many coordinates rows of this many columns get."""
    return min(n_columns, N_COORDINATES)


def check_space_of_sparse(argument: str, space: Any) -> None:
    """Refuse a sparse matrix in a space in which its projection means nothing."""
    if not isinstance(find_space(space), Cosine):
        raise InputError(
            argument,
            "as a sparse matrix needs {space='cosine'}, got {!r}",
            space,
            hint="Make it dense with its toarray() if it has few columns.",
        )


def refuse_sparse_texts(argument: str, rule: str, texts: Any) -> None:
    """Refuse a sparse matrix of word counts in place of the texts that `rule` requires."""
    if is_sparse(texts):
        raise InputError(
            argument,
            f"{rule}, got a sparse matrix of shape {{}}",
            texts.shape,
            hint='Cluster the matrix itself: cluster(frame, features=matrix, space="cosine"), or '
            'DynamicMeans(space="cosine").',
        )


def project_rows(argument: str, matrix: Any) -> BatchArray:
    """Return the rows as float32, in at most 1,024 coordinates.

    A matrix of no more columns is made dense. Scaling a row scales its projection.

    >>> from scipy.sparse import csr_array
    >>> project_rows("X", csr_array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [[0.0, 2.0], [1.0, 0.0]]
    """
    rows = matrix.tocsr()
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        got = f"shape {rows.shape} and type {rows.dtype}"
        raise InputError(argument, "must be a sparse matrix of numbers with rows", got=got)
    width = n_projected(rows.shape[1])
    points = np.empty((rows.shape[0], width), np.float32)
    for start in range(0, len(points), _BLOCK):
        block = rows[start : start + _BLOCK].astype(np.float64)
        if width == rows.shape[1]:
            points[start : start + _BLOCK] = block.toarray()
            continue
        block.sum_duplicates()  # sorts the columns of each row: additions have one order
        used, places = np.unique(block.indices, return_inverse=True)
        parts = block.data, places.astype(block.indices.dtype), block.indptr
        # Products with signs are exact, so only the order of the additions decides the bits.
        projected = type(block)(parts, shape=(block.shape[0], len(used))) @ _signs(used)
        with np.errstate(over="ignore"):  # refused as any other infinite value
            points[start : start + _BLOCK] = projected
    return points


def _signs(columns: np.ndarray[Any, np.dtype[np.int32]]) -> FloatArray:
    """Return 1 or -1 for each coordinate of each column, over the root of their number."""
    keys = (int(column).to_bytes(8, "little") for column in columns)
    bits = b"".join(hashlib.shake_128(key).digest(N_COORDINATES // 8) for key in keys)
    ones = np.unpackbits(np.frombuffer(bits, np.uint8)).reshape(-1, N_COORDINATES)
    signs: FloatArray = (2.0 * ones.astype(np.float64) - 1.0) / 32.0
    return signs
