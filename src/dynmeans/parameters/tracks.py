"""Points of several batches, and what a clustering of them gives each identity in each batch."""

from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

_FLATTEST = 1e-12  # variance of the narrowest direction of all points, in units of the widest
# With more features an identity seldom has the points to show a shape, and its matrix is large.
_MOST_SHAPED = 64


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
    weight : float
        How many points all rows stand for.
    """

    rows: FloatArray
    weights: FloatArray
    starts: IntArray
    times: FloatArray
    mean: FloatArray
    axes: FloatArray
    axis_variances: FloatArray
    variance: float
    weight: float

    @classmethod
    def gather(
        cls, batches: list[BatchArray], weights: list[FloatArray | None], times: FloatArray
    ) -> "Points":
        """Keep the rows that weigh something, and the batches that have such rows.

        Without weights every row of a batch weighs 1.
        """
        sizes = [len(batch) for batch in batches]
        ends = np.cumsum(sizes)
        rows, all_weights = np.concatenate(batches, dtype=np.float64), np.ones(sum(sizes))
        for end, size, weight in zip(ends.tolist(), sizes, weights, strict=True):
            if weight is not None:
                all_weights[end - size : end] = weight
        is_kept = all_weights > 0
        if not is_kept.any():
            raise ValueError("batches must hold at least one point of weight above 0, got none.")
        if not is_kept.all():
            rows, all_weights = rows[is_kept], all_weights[is_kept]
            ends = np.append(0, np.cumsum(is_kept))[ends]
        is_filled = np.diff(ends, prepend=0) > 0
        starts = np.append(0, ends[is_filled])
        total = float(all_weights.sum())
        mean = np.average(rows, axis=0, weights=all_weights)
        centered = rows - mean
        weighted = all_weights[:, None] * centered
        spreads, axes = np.linalg.eigh(weighted.T @ centered / total)
        spreads = np.maximum(spreads, _FLATTEST * spreads[-1])
        totals = np.add.reduceat(all_weights, starts[:-1])
        middles = np.add.reduceat(weighted, starts[:-1]) / totals[:, None]
        within = np.sum((centered - middles.repeat(np.diff(starts), axis=0)) ** 2, axis=1)
        variance = float(all_weights @ within) / total
        return cls(
            rows,
            all_weights,
            starts,
            times[is_filled],
            mean,
            np.ascontiguousarray(axes),
            spreads,
            variance,
            total,
        )

    def pooled(self, n_batches: int) -> "Points":
        """Return the same points with so many batches at a time as one."""
        starts = np.append(self.starts[:-1:n_batches], self.starts[-1])
        rows = np.split(self.rows, starts[1:-1])
        weights = np.split(self.weights, starts[1:-1])
        return Points.gather(list(rows), list(weights), self.times[::n_batches])

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
        shaped = residuals if points.n_features <= _MOST_SHAPED else residuals[:, :0]
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


# Clusters should be seen in so many of the batches of their lives. Where they are not, a batch is
# too short to hold one round of what comes back, and would be described by its absences.
USUALLY_SEEN = 0.8
FEWEST_POOLED = 4  # batches that are left


def share_seen(labels: IntArray, starts: IntArray) -> float:
    """Batches that saw an identity, over all from its first to its last, for all identities."""
    batches = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    cells = np.unique(np.column_stack([labels, batches]), axis=0)
    first = np.flatnonzero(np.append(True, np.diff(cells[:, 0]) != 0))
    last = np.append(first[1:], len(cells)) - 1
    return len(cells) / float(np.sum(cells[last, 1] - cells[first, 1] + 1))
