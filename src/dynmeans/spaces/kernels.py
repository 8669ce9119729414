"""Similarities of rows, by name; each sum in a fixed order, so that bits do not depend on BLAS."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dynmeans.records.arrays import FloatArray


def squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the squared distance of every pair, feature by feature."""
    total = np.zeros((len(first), len(second)))
    for a, b in zip(first.T, second.T, strict=True):
        total += np.square(a[:, None] - b)
    return total


def _rbf(width: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    return lambda x, y: np.exp(squared_distances(x, y) * (-0.5 / width**2))


def _laplacian(width: float) -> Callable[[FloatArray, FloatArray], FloatArray]:
    return lambda x, y: np.exp(-np.sqrt(squared_distances(x, y)) / width)


def _cosine(width: float | None) -> Callable[[FloatArray, FloatArray], FloatArray]:
    def similarity(x: FloatArray, y: FloatArray) -> FloatArray:
        lengths = [np.maximum(np.sqrt((z * z).sum(axis=1)), 1e-300) for z in (x, y)]
        total = np.zeros((len(x), len(y)))
        for a, b in zip((x / lengths[0][:, None]).T, (y / lengths[1][:, None]).T, strict=True):
            total += a[:, None] * b
        return total

    return similarity


# From the width, where a kernel has one, to the similarity of two arrays of rows.
KERNELS: dict[str, Callable[[Any], Callable[[FloatArray, FloatArray], FloatArray]]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "cosine": _cosine,
}
