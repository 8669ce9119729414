"""Fewer points of every batch, where there are more than a choice needs (decision 0302)."""

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.orders import content_order

# A search over all choices looks at so many points, and a second look around its choice at more.
N_SEARCHED, N_REFINED = 60_000, 180_000
# Up to here nothing is left out.
N_WHOLE = N_SEARCHED


def sampled(batches: list[Batch], n_points: int) -> list[Batch]:
    """Return at most so many points in all, the same number of each batch that has as many.

    Rows are taken by a hash of what they hold, so that their order changes nothing.

    Examples
    --------
    >>> batches = [Batch(np.arange(float(n))[:, None]) for n in (2, 8, 90)]
    >>> [batch.n_points for batch in sampled(batches, 20)]
    [2, 8, 10]
    """
    most = _most_of_a_batch([batch.n_points for batch in batches], n_points)
    return [batch if batch.n_points <= most else _taken(batch, most) for batch in batches]


def _most_of_a_batch(sizes: list[int], n_points: int) -> int:
    """Fill the batches evenly, the smallest first."""
    left = n_points
    for n_filled, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - n_filled)
        if size > share:
            return max(share, 1)
        left -= size
    return max(sizes, default=0)


def _taken(batch: Batch, n_points: int) -> Batch:
    chosen = np.sort(content_order(batch.points, batch.weights)[:n_points])
    return Batch(batch.points[chosen], None if batch.weights is None else batch.weights[chosen])
