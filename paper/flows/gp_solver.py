"""Many small Gaussian processes at once: batched kernels, Cholesky factors and solves.

Each trajectory has a process of its own from position to velocity, with the kernel

    k(x, x') = s (exp(-|x - x'|^2 / (2 length_scale^2)) + noise_ratio [x is x']).

Its mean does not depend on s, which is found in closed form where it is needed. Trajectories of
like length are padded to one size with rows of the unit matrix: these change neither the solution
nor the determinant.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from paper.flights.trajectories import BoolArray

_NUMBERS_A_BLOCK = 1_000_000  # of the kernel matrices: 8 MB, near the size of a cache


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Trajectories padded to one size.

    Attributes
    ----------
    rows : IntArray of shape (n_block,)
        Which trajectories these are.
    sizes : IntArray of shape (n_block,)
        Their points.
    latitudes, longitudes : FloatArray of shape (n_block, n_points)
        Inputs, in degrees from the mean position; zero in the padding.
    velocities : FloatArray of shape (n_block, n_points, 2)
        Outputs, North and East; zero in the padding.
    """

    rows: IntArray
    sizes: IntArray
    latitudes: FloatArray
    longitudes: FloatArray
    velocities: FloatArray

    @property
    def is_padding(self) -> BoolArray:
        """Which points are padding."""
        return np.arange(self.latitudes.shape[1]) >= self.sizes[:, None]


def block_rows(sizes: IntArray) -> Iterator[IntArray]:
    """Divide trajectories into blocks of like length, so that each fits into the cache."""
    order = np.argsort(sizes, kind="stable")
    begin = 0
    while begin < len(order):
        end = begin + 1
        while end < len(order) and (end + 1 - begin) * int(sizes[order[end]]) ** 2 <= (
            _NUMBERS_A_BLOCK
        ):
            end += 1
        yield order[begin:end]
        begin = end


def solve_block(
    block: Block, length_scale: FloatArray, noise_ratio: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return K^-1 v for both velocities, and the log determinant of K; K is k / s."""
    kernel = _kernel_matrices(block, length_scale, noise_ratio)
    factor: FloatArray = np.asarray(np.linalg.cholesky(kernel), dtype=np.float64)
    pivots = np.diagonal(factor, axis1=1, axis2=2)
    return _substitute(factor, block.velocities), 2 * np.log(pivots).sum(axis=1)


def _kernel_matrices(block: Block, length_scale: FloatArray, noise_ratio: FloatArray) -> FloatArray:
    kernel = block.latitudes[:, :, None] - block.latitudes[:, None, :]
    np.square(kernel, out=kernel)
    other = block.longitudes[:, :, None] - block.longitudes[:, None, :]
    kernel += np.square(other, out=other)
    kernel *= (-0.5 / length_scale**2)[:, None, None]
    np.exp(kernel, out=kernel)
    is_padding = block.is_padding
    if is_padding.any():
        kernel[is_padding] = 0.0
        kernel.transpose(0, 2, 1)[is_padding] = 0.0
    diagonal = np.einsum("bii->bi", kernel)
    diagonal[...] = np.where(is_padding, 1.0, 1.0 + noise_ratio[:, None])
    return kernel


def _substitute(factor: FloatArray, right: FloatArray) -> FloatArray:
    """Solve L L^T x = right for all factors, row by row."""
    x = right.copy()
    n = factor.shape[1]
    for i in range(n):
        x[:, i] -= (factor[:, i, None, :i] @ x[:, :i])[:, 0]
        x[:, i] /= factor[:, i, i, None]
    for i in range(n - 1, -1, -1):
        x[:, i] -= (factor[:, None, i + 1 :, i] @ x[:, i + 1 :])[:, 0]
        x[:, i] /= factor[:, i, i, None]
    return x
