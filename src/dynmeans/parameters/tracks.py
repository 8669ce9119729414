"""Points of several batches, and how usually a clustering of them sees each identity."""

from dataclasses import dataclass

import numpy as np

from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

_KEPT = 0.99  # of the spread within batches: squared distances shrink by no more on average
_FEW = 8  # features that are left as they are
_LONE = 2  # points of an identity that is no cluster
_FLATTEST = 1e-12  # variance of the narrowest direction of all points, in units of the widest


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """All points of the batches a choice is made on; batches without points are left out."""

    rows: FloatArray  # (n_rows, n_features); the points, batch after batch
    weights: FloatArray  # (n_rows,); how many points each row stands for
    starts: IntArray  # (n_batches + 1,); first row of each batch, and the end
    times: FloatArray  # (n_batches,); when each batch came
    mean: FloatArray  # (n_features,); where all points lie: the prior of a new cluster's place
    # axes, axis_variances: (n_features, n_features); the directions in which they spread, as
    # columns, and how far.
    axes: FloatArray
    axis_variances: FloatArray
    variance: float  # Mean squared distance of a point from the mean of its batch
    weight: float  # How many points all rows stand for

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

    def pool_tracks(self, n_batches: int) -> "Points":
        """Return the same points with this many batches at a time as one."""
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


# Clusters should be seen in so many of the batches of their lives. Where they are not, a batch is
# too short to hold one round of what comes back, and would be described by its absences.
USUALLY_SEEN = 0.8
MIN_POOLED = 4  # batches that are left


def share_seen(labels: IntArray, starts: IntArray) -> float:
    """Batches that saw an identity, over all from its first to its last, for all identities."""
    batches = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    cells = np.unique(np.column_stack([labels, batches]), axis=0)
    first = np.flatnonzero(np.append(True, np.diff(cells[:, 0]) != 0))
    last = np.append(first[1:], len(cells)) - 1
    return len(cells) / float(np.sum(cells[last, 1] - cells[first, 1] + 1))


def repeated_per_batch(labels: IntArray, starts: IntArray) -> float:
    """Identities that a batch holds, on average, without those of one or two points in all.

    >>> repeated_per_batch(np.array([0, 0, 5, 0, 0, 0]), np.array([0, 3, 6]))
    1.0
    """
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    batches = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    is_counted = (counts > _LONE)[places]
    cells = np.unique(places[is_counted] * (len(starts) - 1) + batches[is_counted])
    return len(cells) / (len(starts) - 1)


def leading_axes(batches: list[BatchArray]) -> FloatArray | None:
    """Directions, as columns, that hold 99 % of the spread within batches; None for all of them.

    Correlated features are not independent witnesses: of 128 that follow 20 directions, 108 would
    only repeat the others in a description.

    >>> rng = np.random.default_rng(0)
    >>> few = rng.normal(size=(500, 3))
    >>> leading_axes([few @ rng.normal(size=(3, 30))]).shape
    (30, 3)
    >>> leading_axes([rng.normal(size=(500, 30))]) is None
    True
    """
    n_features = batches[0].shape[1]
    if n_features <= _FEW:
        return None
    scatter = np.zeros((n_features, n_features))
    for batch in batches:
        if len(batch):
            centered = np.asarray(batch, dtype=np.float64) - batch.mean(axis=0, dtype=np.float64)
            scatter += centered.T @ centered
    spreads, axes = np.linalg.eigh(scatter)
    shares = np.cumsum(spreads[::-1]) / max(float(spreads.sum()), np.finfo(float).tiny)
    n_kept = int(np.searchsorted(shares, _KEPT)) + 1
    return None if n_kept >= n_features else np.ascontiguousarray(axes[:, ::-1][:, :n_kept])
