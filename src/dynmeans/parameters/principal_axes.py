"""Principal axes and rotations with the same bits on every processor.

The last bits of a matrix product depend on the kernels and threads of the BLAS, and visiting orders
follow the bits. Here rows are split into integers so small that every sum of their products is
exact, in whatever order it is added; what is left to do is done by loops with a fixed order.
"""

import math

import numpy as np
from scipy.linalg import eigh_tridiagonal

from dynmeans.records.arrays import BatchArray, FloatArray

_EXACT = 52  # bits of a sum that float64 holds exactly, one left for the sign
_BITS = 20  # of a coordinate or of an axis: a part in a million
_CHUNK = 2 ** (_EXACT - 2 * _BITS)  # rows whose products are summed exactly
_MAX_PARTS = 3  # of a row: more than the 53 bits of its coordinates
_MAX_EXPONENT = 900


def scatter_matrix(centered: FloatArray) -> FloatArray:
    """Return the sums of products of all pairs of columns; each column to a part in a million.

    >>> rows = np.array([[1.0, 2.0], [-1.0, 0.5]])
    >>> scatter_matrix(rows)
    array([[2.  , 1.5 ],
           [1.5 , 4.25]])
    """
    exponents = _exponents(np.abs(centered).max(axis=0, initial=0.0))
    whole = np.rint(centered * np.exp2(_BITS - exponents))
    total = np.zeros((centered.shape[1], centered.shape[1]))
    for begin in range(0, len(whole), _CHUNK):
        part = whole[begin : begin + _CHUNK]
        total += part.T @ part
    units = np.exp2(exponents - _BITS)
    return total * units[:, None] * units


def principal_axes(symmetric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues, ascending, and eigenvectors as columns, as `numpy.linalg.eigh` does.

    The matrix is made tridiagonal by reflections (Householder); LAPACK's QL iteration does the
    rest without a call to BLAS.

    >>> values, axes = principal_axes(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(6).tolist(), np.abs(axes).round(6).tolist()
    ([1.0, 3.0], [[0.707107, 0.707107], [0.707107, 0.707107]])
    """
    matrix = np.array(symmetric, dtype=np.float64)
    n = len(matrix)
    if n == 1:
        return matrix[0].copy(), np.ones((1, 1))
    largest = float(np.abs(matrix).max())
    if not largest > 0:
        return np.zeros(n), np.eye(n)
    unit = math.ldexp(1.0, int(_exponents(np.array([largest]))[0]))
    matrix /= unit
    reflections: list[FloatArray | None] = []
    for k in range(n - 2):
        v = matrix[k + 1 :, k].copy()
        norm = math.sqrt(float(np.sum(v * v)))
        head = float(v[0])
        if norm == abs(head):
            reflections.append(None)
            continue
        v[0] += math.copysign(norm, head)
        v /= math.sqrt(float(np.sum(v * v)))
        rest = matrix[k + 1 :, k + 1 :]
        w = 2.0 * np.sum(rest * v, axis=1)
        w -= float(np.sum(w * v)) * v
        rest -= v[:, None] * w
        rest -= w[:, None] * v
        matrix[k + 1, k] = -math.copysign(norm, head)
        reflections.append(v)
    values, axes = eigh_tridiagonal(
        np.diagonal(matrix).copy(), np.diagonal(matrix, -1).copy(), lapack_driver="stev"
    )
    axes = np.ascontiguousarray(axes)
    for k in range(n - 3, -1, -1):
        reflection = reflections[k]
        if reflection is not None:
            column, part = reflection[:, None], axes[k + 1 :]
            part -= 2.0 * column * np.sum(column * part, axis=0)
    return values * unit, axes


def round_axes(axes: FloatArray) -> FloatArray:
    """Round coordinates of unit vectors to 20 bits, as `rotate_rows` needs them."""
    return np.ascontiguousarray(np.rint(axes * 2.0**_BITS) * 2.0**-_BITS)


def rotate_rows(rows: BatchArray, axes: FloatArray) -> FloatArray:
    """Return `rows @ axes` for axes that were rounded.

    >>> rotate_rows(np.array([[1.0, 2.0]]), np.array([[0.5], [0.25]]))
    array([[1.]])
    """
    whole_axes = axes * 2.0**_BITS
    bits = _EXACT - _BITS - math.ceil(math.log2(max(len(axes), 2)))
    largest = np.array([np.abs(rows).max(initial=0.0)], dtype=np.float64)
    exponent = float(_exponents(largest)[0])
    rest = np.asarray(rows, dtype=np.float64) * np.exp2(-exponent)
    found = np.zeros((len(rows), axes.shape[1]))
    for part in range(1, _MAX_PARTS + 1):
        rest = rest * 2.0**bits
        whole = np.rint(rest)
        rest -= whole
        found += (whole @ whole_axes) * np.exp2(exponent - part * bits - _BITS)
        if not rest.any():
            break
    return found


def _exponents(largest: FloatArray) -> FloatArray:
    """Powers of two above these numbers."""
    _, exponents = np.frexp(largest)
    return np.clip(exponents, -_MAX_EXPONENT, _MAX_EXPONENT).astype(np.float64)
