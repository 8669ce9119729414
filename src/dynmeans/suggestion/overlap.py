"""What hard labels hide: where clusters overlap, a point's label is not worth its full price.

The sum over all clusters that may have made a point is larger than the share of the one that was
named. Without this term a description of overlapping clusters is too long, and they are merged.
"""

from collections.abc import Iterator

import numpy as np

from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.suggestion.noise import DEGREES
from dynmeans.suggestion.tracks import Points, Tracks

_MOST_PAIRS = 40_000  # of points and clusters at a time: they stay in the cache


def overlap(points: Points, tracks: Tracks, scale: float, *, has_tails: bool) -> float:
    """-sum of log(probability of the named label given the point), 0 where none overlap."""
    n_batches, cells = len(points.batches), np.argsort(tracks.batch_of_cell, kind="stable")
    totals = np.bincount(tracks.batch_of_cell, tracks.counts, n_batches)
    log_shares = np.log(tracks.counts / totals[tracks.batch_of_cell])
    squares = np.sum(tracks.residuals**2, axis=1)
    d = tracks.residuals.shape[1]
    named = log_shares[tracks.cell_of_row] - _fall(squares, scale, d, has_tails)
    ends = np.searchsorted(tracks.batch_of_cell[cells], np.arange(n_batches + 1))
    found = -float(tracks.weights @ named)
    for rows, weights, batches in _groups(points, int(np.diff(ends).max())):
        centers, shares = _padded_cells(
            tracks.means - points.mean, log_shares, cells, ends, batches
        )
        logits = rows @ centers.transpose(0, 2, 1)
        logits -= 0.5 * np.sum(centers**2, axis=2)[:, None, :]
        logits -= 0.5 * np.sum(rows**2, axis=2)[:, :, None]  # -1/2 squared distance
        logits = shares[:, None, :] - _fall(-2.0 * np.minimum(logits, 0.0), scale, d, has_tails)
        top = logits.max(axis=2)
        logits -= top[:, :, None]
        sums = np.exp(logits, out=logits).sum(axis=2)
        found += float(np.sum(weights * (top + np.log(sums))))
    return found


def _fall(squares: FloatArray, scale: float, d: int, has_tails: bool) -> FloatArray:
    """How far the log-density has fallen at a squared distance from the center."""
    if has_tails:
        return 0.5 * (DEGREES + d) * np.log1p(squares / (DEGREES * scale))
    return 0.5 * squares / scale


def _groups(points: Points, n_slots: int) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Stack batches, or parts of large ones, padded with rows that weigh nothing."""
    most_rows = max(1, _MOST_PAIRS // n_slots)
    pieces = [
        (t, start, min(start + most_rows, len(batch)))
        for t, batch in enumerate(points.batches)
        for start in range(0, len(batch), most_rows)
    ]
    while pieces:
        widths = np.maximum.accumulate([end - start for _, start, end in pieces])
        n_taken = max(1, int(np.sum(widths * np.arange(1, len(pieces) + 1) <= most_rows)))
        taken, pieces = pieces[:n_taken], pieces[n_taken:]
        width = int(widths[n_taken - 1])
        rows = np.zeros((n_taken, width, points.mean.size))
        weights = np.zeros((n_taken, width))
        for g, (t, start, end) in enumerate(taken):
            rows[g, : end - start] = points.batches[t][start:end] - points.mean
            weights[g, : end - start] = points.weights[t][start:end]
        yield rows, weights, np.array([t for t, _, _ in taken])


def _padded_cells(
    centers: FloatArray, log_shares: FloatArray, cells: IntArray, ends: IntArray, batches: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Stack the cells of some batches, padded with cells of no share."""
    sizes = ends[batches + 1] - ends[batches]
    slots = np.arange(int(sizes.max()))
    is_cell = slots < sizes[:, None]
    rows = cells[np.where(is_cell, ends[batches][:, None] + slots, 0)]
    return centers[rows], np.where(is_cell, log_shares[rows], -np.inf)
