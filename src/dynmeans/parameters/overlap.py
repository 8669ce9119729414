"""What hard labels hide: where clusters overlap, a label is not worth its full price."""

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from dynmeans.parameters.tracks import Points, Tracks

_MOST_PAIRS = 2**21  # of points and cells of one batch


def overlap(points: Points, tracks: Tracks, scale: float, degrees: float) -> float:
    """-sum of log(probability of a row's cell given the row), under a Gaussian or Student noise.

    The sum over all clusters that may have made a point exceeds the share of the one that was
    named. Without this term overlapping clusters would be merged. `scale` is the variance per
    axis, or the squared scale of a Student t with so many degrees of freedom; 0 degrees means
    Gaussian. Of a batch with many points and cells, points at even distances stand for all.
    """
    total = 0.0
    for t in range(points.n_batches):
        in_batch = np.flatnonzero(tracks.batch_of_cell == t)
        first, end = points.starts[t : t + 2]
        taken = np.arange(first, end, 1 + (end - first) * len(in_batch) // _MOST_PAIRS)
        squares = cdist(points.rows[taken], tracks.means[in_batch], "sqeuclidean")
        if degrees:
            falls = 0.5 * (degrees + points.n_features) * np.log1p(squares / (degrees * scale))
        else:
            falls = 0.5 * squares / scale
        counts = tracks.counts[in_batch]
        logits = np.log(counts / counts.sum()) - falls
        named = np.searchsorted(in_batch, tracks.cell_of_row[taken])
        surprises = logsumexp(logits, axis=1) - logits[np.arange(len(taken)), named]
        weights = points.weights[taken]
        all_weights = float(points.weights[first:end].sum())
        total += float(weights @ surprises) * all_weights / float(weights.sum())
    return total
