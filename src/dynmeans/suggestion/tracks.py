"""Points sorted by the identities a clustering gave them, and what is known of each group."""

from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """All points of the batches a choice is made on; batches without points are left out.

    Attributes
    ----------
    batches : list of FloatArray of shape (n_points, n_features)
        The points, batch by batch.
    weights : list of FloatArray of shape (n_points,)
        How many points each row stands for.
    times : FloatArray of shape (n_batches,)
        When each batch came.
    mean, covariance : FloatArray
        Where all points lie: the prior of a new cluster's place.
    variance : float
        Mean squared distance of a point from the mean of its batch.
    """

    batches: list[FloatArray]
    weights: list[FloatArray]
    times: FloatArray
    mean: FloatArray
    covariance: FloatArray
    variance: float

    @classmethod
    def gather(
        cls, batches: list[FloatArray], weights: list[FloatArray], times: FloatArray
    ) -> "Points":
        """Keep the rows that weigh something, and the batches that have such rows."""
        kept = [weight > 0 for weight in weights]
        batches = [batch[rows] for batch, rows in zip(batches, kept, strict=True)]
        weights = [weight[rows] for weight, rows in zip(weights, kept, strict=True)]
        filled = [t for t, batch in enumerate(batches) if len(batch)]
        batches, weights = [batches[t] for t in filled], [weights[t] for t in filled]
        all_points, all_weights = np.vstack(batches), np.concatenate(weights)
        mean = np.average(all_points, axis=0, weights=all_weights)
        centred = all_points - mean
        covariance = (all_weights[:, None] * centred).T @ centred / all_weights.sum()
        within = 0.0
        for batch, weight in zip(batches, weights, strict=True):
            middle = np.average(batch, axis=0, weights=weight)
            within += float(weight @ np.sum((batch - middle) ** 2, axis=1))
        variance = within / float(all_weights.sum())
        return cls(batches, weights, times[filled], mean, covariance, variance)


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """A clustering of all batches, sorted by identity and time.

    A cell is what one identity has in one batch. Rows are points in the order of cells, cells are
    in the order of identities and then of batches.

    Attributes
    ----------
    residuals : FloatArray of shape (n_rows, n_features)
        Each point less the mean of its cell.
    weights : FloatArray of shape (n_rows,)
        How many points each row stands for.
    cell_of_row : IntArray of shape (n_rows,)
        Where each row belongs.
    counts, means : FloatArray of shape (n_cells,) and (n_cells, n_features)
        Points in each cell, and their mean.
    batch_of_cell, track_of_cell : IntArray of shape (n_cells,)
        The batch and the identity of each cell, both counted from 0.
    """

    residuals: FloatArray
    weights: FloatArray
    cell_of_row: IntArray
    counts: FloatArray
    means: FloatArray
    batch_of_cell: IntArray
    track_of_cell: IntArray

    @classmethod
    def sort(cls, points: Points, labels: list[IntArray]) -> "Tracks":
        """Sort the points by identity, then by batch."""
        n_batches = len(points.batches)
        sizes = [len(batch) for batch in points.batches]
        keys = np.concatenate(labels) * n_batches + np.repeat(np.arange(n_batches), sizes)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first_rows = np.flatnonzero(np.diff(keys, prepend=-1))
        rows_of_cell = np.diff(np.append(first_rows, len(keys)))
        rows = np.vstack(points.batches)[order]
        weights = np.concatenate(points.weights)[order]
        counts = np.add.reduceat(weights, first_rows)
        means = np.add.reduceat(weights[:, None] * rows, first_rows, axis=0) / counts[:, None]
        cell_of_row = np.repeat(np.arange(len(counts)), rows_of_cell)
        ids, batch_of_cell = np.divmod(keys[first_rows], n_batches)
        return cls(
            residuals=rows - means[cell_of_row],
            weights=weights,
            cell_of_row=cell_of_row,
            counts=counts,
            means=means,
            batch_of_cell=batch_of_cell,
            track_of_cell=np.cumsum(np.diff(ids, prepend=ids[:1]) > 0),
        )

    @property
    def n_tracks(self) -> int:
        """Number of identities."""
        return int(self.track_of_cell[-1]) + 1

    @property
    def n_free(self) -> float:
        """Points less one for each cell, whose mean they have fixed."""
        return float(np.maximum(self.counts - 1.0, 0.0).sum())
