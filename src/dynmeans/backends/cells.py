"""Prepares arrays for the compiled statistics of a clustering over several batches."""

import math
from dataclasses import dataclass

import numpy as np

from dynmeans.backends.compiled import compiled
from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What each identity has in each batch, in order of batch, then of identity.

    Attributes
    ----------
    starts : IntArray of shape (n_batches + 1,)
        First cell of each batch, and the end.
    tracks : IntArray of shape (n_cells,)
        Identity of each cell, counted from 0 without gaps.
    counts, means : FloatArray of shape (n_cells,) and (n_cells, n_features)
        Points in each cell, and their mean.
    cell_of_row : IntArray of shape (n_rows,)
        Where each row belongs.
    squares : FloatArray of shape (n_rows,)
        Squared distance of each row to the mean of its cell.
    scatters : FloatArray of shape (n_tracks, n_features, n_features)
        Squares and products of each identity's points about those means, summed; of shape
        (n_tracks, 0, 0) where there are more than 64 features.
    """

    starts: IntArray
    tracks: IntArray
    counts: FloatArray
    means: FloatArray
    cell_of_row: IntArray
    squares: FloatArray
    scatters: FloatArray


def gather(rows: FloatArray, weights: FloatArray, starts: IntArray, labels: IntArray) -> Cells:
    """Find the cells; labels are identities from 0 on, of which some may have no row."""
    found = compiled.cells(rows, weights, starts, labels, int(labels.max()) + 1)
    cell_starts, ids, counts, means, cell_of_row, squares, scatters = found
    is_seen = np.bincount(ids) > 0
    numbers = np.cumsum(is_seen) - 1
    n_shaped = math.isqrt(scatters.shape[1])
    return Cells(
        starts=cell_starts,
        tracks=numbers[ids],
        counts=counts,
        means=means,
        cell_of_row=cell_of_row,
        squares=squares,
        scatters=scatters[is_seen].reshape(np.count_nonzero(is_seen), n_shaped, n_shaped),
    )


def overlap(
    rows: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    found: Cells,
    *,
    scale: float,
    degrees: float,
) -> float:
    """-sum of log(probability of a row's cell given the row), under a Gaussian or Student noise.

    `scale` is the variance per axis, or the squared scale of a Student t with so many degrees of
    freedom; 0 degrees means Gaussian.
    """
    sizes = np.diff(found.starts)
    totals = np.add.reduceat(found.counts, found.starts[:-1])
    log_shares = np.log(found.counts / np.repeat(totals, sizes))
    return compiled.overlap(
        rows,
        weights,
        starts,
        found.starts,
        found.means,
        log_shares,
        found.cell_of_row,
        scale,
        degrees,
    )
