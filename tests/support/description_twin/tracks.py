"""What a clustering of several batches gives each identity in each of them."""

from dataclasses import dataclass

import numpy as np

from dynmeans.parameters.tracks import Points
from dynmeans.records.arrays import FloatArray, IntArray

# With more features an identity seldom has the points to show a shape, and its matrix is large.
_MAX_SHAPED = 64


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """A clustering of all batches. A cell is what one identity has in one batch.

    Cells are in order of identity, then of batch.

    Attributes
    ----------
    counts, means : FloatArray of shape (n_cells,) and (n_cells, n_features)
        Points in each cell, and their mean.
    batch_of_cell, track_of_cell : IntArray of shape (n_cells,)
        The batch and the identity of each cell, both counted from 0.
    first_cells : IntArray of shape (n_tracks,)
        The first cell of each identity.
    cell_of_row : IntArray of shape (n_rows,)
        Where each row belongs.
    squares : FloatArray of shape (n_rows,)
        Squared distance of each row to the mean of its cell.
    scatters : FloatArray of shape (n_tracks, n_features, n_features)
        Squares and products of each identity's points about the means of their cells, summed; of
        shape (n_tracks, 0, 0) where there are more than 64 features.
    """

    counts: FloatArray
    means: FloatArray
    batch_of_cell: IntArray
    track_of_cell: IntArray
    first_cells: IntArray
    cell_of_row: IntArray
    squares: FloatArray
    scatters: FloatArray

    @classmethod
    def gather(cls, points: Points, labels: IntArray) -> "Tracks":
        """Find the cells of these labels, one for each row of the points."""
        batch_of_row = np.repeat(np.arange(points.n_batches), np.diff(points.starts))
        track_of_row = np.unique(labels, return_inverse=True)[1]
        keys = track_of_row * points.n_batches + batch_of_row
        cells, cell_of_row = np.unique(keys, return_inverse=True)
        track_of_cell, batch_of_cell = np.divmod(cells, points.n_batches)
        counts, sums = np.zeros(len(cells)), np.zeros((len(cells), points.n_features))
        np.add.at(counts, cell_of_row, points.weights)
        np.add.at(sums, cell_of_row, points.weights[:, None] * points.rows)
        means = sums / counts[:, None]
        residuals = points.rows - means[cell_of_row]
        shaped = residuals if points.n_features <= _MAX_SHAPED else residuals[:, :0]
        n_tracks = track_of_cell[-1] + 1
        scatters = np.zeros((n_tracks, shaped.shape[1], shaped.shape[1]))
        products = shaped[:, :, None] * shaped[:, None, :]
        np.add.at(scatters, track_of_row, points.weights[:, None, None] * products)
        return cls(
            counts=counts,
            means=means,
            batch_of_cell=batch_of_cell,
            track_of_cell=track_of_cell,
            first_cells=np.searchsorted(track_of_cell, np.arange(n_tracks)),
            cell_of_row=cell_of_row,
            squares=np.sum(residuals**2, axis=1),
            scatters=scatters,
        )

    @property
    def n_free(self) -> float:
        """Points less one for each cell, whose mean they have fixed."""
        return float(np.maximum(self.counts - 1.0, 0.0).sum())
