"""Points of several batches, and what a clustering of them gives each identity in each batch."""

from dataclasses import dataclass

import numpy as np

from dynmeans.backends import cells
from dynmeans.records.arrays import FloatArray, IntArray

_FLATTEST = 1e-12  # variance of the narrowest direction of all points, in units of the widest


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """All points of the batches a choice is made on; batches without points are left out.

    Attributes
    ----------
    rows : FloatArray of shape (n_rows, n_features)
        The points, batch after batch.
    weights : FloatArray of shape (n_rows,)
        How many points each row stands for.
    starts : IntArray of shape (n_batches + 1,)
        First row of each batch, and the end.
    times : FloatArray of shape (n_batches,)
        When each batch came.
    mean : FloatArray of shape (n_features,)
        Where all points lie: the prior of a new cluster's place.
    axes, axis_variances : FloatArray of shape (n_features, n_features) and (n_features,)
        The directions in which they spread, as columns, and how far.
    variance : float
        Mean squared distance of a point from the mean of its batch.
    """

    rows: FloatArray
    weights: FloatArray
    starts: IntArray
    times: FloatArray
    mean: FloatArray
    axes: FloatArray
    axis_variances: FloatArray
    variance: float

    @classmethod
    def gather(
        cls, batches: list[FloatArray], weights: list[FloatArray], times: FloatArray
    ) -> "Points":
        """Keep the rows that weigh something, and the batches that have such rows."""
        kept = [weight > 0 for weight in weights]
        sizes = np.array([np.count_nonzero(is_kept) for is_kept in kept])
        rows = np.vstack([batch[is_kept] for batch, is_kept in zip(batches, kept, strict=True)])
        all_weights = np.concatenate(weights)
        all_weights = all_weights[all_weights > 0]
        is_filled = sizes > 0
        starts = np.append(0, np.cumsum(sizes[is_filled]))
        mean = np.average(rows, axis=0, weights=all_weights)
        centred = rows - mean
        covariance = (all_weights[:, None] * centred).T @ centred / all_weights.sum()
        spreads, axes = np.linalg.eigh(covariance)
        spreads = np.maximum(spreads, _FLATTEST * spreads[-1])
        sums = np.add.reduceat(all_weights[:, None] * centred, starts[:-1])
        totals = np.add.reduceat(all_weights, starts[:-1])
        middles = np.repeat(sums / totals[:, None], sizes[is_filled], axis=0)
        within = float(all_weights @ np.sum((centred - middles) ** 2, axis=1))
        variance = within / float(all_weights.sum())
        return cls(rows, all_weights, starts, times[is_filled], mean, axes, spreads, variance)

    @property
    def n_batches(self) -> int:
        """Number of batches that have points."""
        return len(self.starts) - 1

    @property
    def n_features(self) -> int:
        """Number of coordinates of a point."""
        return len(self.mean)


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
    squares : FloatArray of shape (n_rows,)
        Squared distance of each row to the mean of its cell.
    count_of_row : FloatArray of shape (n_rows,)
        Points in the cell of each row.
    scatters : FloatArray of shape (n_tracks, n_features, n_features)
        Squares and products of each identity's points about the means of their cells, summed.
    by_batch : Cells
        The same cells in order of batch, and the cell of each row.
    """

    counts: FloatArray
    means: FloatArray
    batch_of_cell: IntArray
    track_of_cell: IntArray
    first_cells: IntArray
    squares: FloatArray
    count_of_row: FloatArray
    scatters: FloatArray
    by_batch: cells.Cells

    @classmethod
    def gather(cls, points: Points, labels: IntArray) -> "Tracks":
        """Find the cells of these labels, one for each row of the points."""
        found = cells.gather(points.rows, points.weights, points.starts, labels)
        batches = np.repeat(np.arange(points.n_batches), np.diff(found.starts))
        order = np.argsort(found.tracks, kind="stable")
        tracks = found.tracks[order]
        return cls(
            counts=found.counts[order],
            means=found.means[order],
            batch_of_cell=batches[order],
            track_of_cell=tracks,
            first_cells=np.searchsorted(tracks, np.arange(len(found.scatters))),
            squares=found.squares,
            count_of_row=found.counts[found.cell_of_row],
            scatters=found.scatters,
            by_batch=found,
        )

    @property
    def n_tracks(self) -> int:
        """Number of identities."""
        return len(self.scatters)

    @property
    def n_free(self) -> float:
        """Points less one for each cell, whose mean they have fixed."""
        return float(np.maximum(self.counts - 1.0, 0.0).sum())
