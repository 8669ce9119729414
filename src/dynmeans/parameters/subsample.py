"""Fewer points of every batch, where there are more than a choice needs (decision 0302)."""

import numpy as np

from dynmeans.engine.batch import Batch
from dynmeans.engine.orders import content_order
from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.format_count import format_count
from dynmeans.spaces.standard import FEW, OUTLIER_FACTOR, find_outliers, quartiles

# A search over all choices looks at so many points, and a second look around its choice at more.
N_SEARCHED, N_REFINED = 60_000, 180_000
_N_TOLD = 4096  # rows that tell the middle half of a feature
# Up to here nothing is left out.
N_WHOLE = N_SEARCHED


def subsample(batches: list[Batch], n_points: int) -> list[Batch]:
    """Return at most this many points in all, the same number of each batch that has as many.

    Rows are taken by a hash of what they hold, so that their order changes nothing.

    >>> batches = [Batch(np.arange(float(n))[:, None]) for n in (2, 8, 90)]
    >>> [batch.n_points for batch in subsample(batches, 20)]
    [2, 8, 10]
    """
    most = _most_of_a_batch([batch.n_points for batch in batches], n_points)
    return [
        batch.take_rows(np.sort(content_order(batch.points, batch.weights)[:most]))
        if batch.n_points > most
        else batch
        for batch in batches
    ]


def _most_of_a_batch(sizes: list[int], n_points: int) -> int:
    """Fill the batches evenly, the smallest first."""
    left = n_points
    for n_filled, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - n_filled)
        if size > share:
            return max(share, 1)
        left -= size
    return max(sizes, default=0)


def drop_outliers(
    batches: list[Batch], batch_noun: str
) -> tuple[list[Batch], tuple[ArgumentText, ...]]:
    """Drop rows with a value so extreme that it would decide the scale, and log it."""
    filled = [batch for batch in batches if batch.has_weight]
    if not filled:
        return batches, ()
    points = np.concatenate([batch.points for batch in filled]).astype(np.float64)
    weights = np.concatenate([batch.masses for batch in filled])
    rows = points[weights > 0]
    rows = rows[:: max(1, len(rows) // _N_TOLD)]
    is_odd = find_outliers(points, *quartiles(rows, np.ones(len(rows))))
    odd_rows = is_odd.any(axis=1) & (weights > 0)
    n_odd = int(np.count_nonzero(odd_rows))
    if not 0 < n_odd <= FEW * len(points):
        return batches, ()
    parts = iter(np.split(~odd_rows, np.cumsum([batch.n_points for batch in filled])[:-1]))
    kept = [batch.take_rows(next(parts)) if batch.has_weight else batch for batch in batches]
    is_fewer = [n.n_points < batch.n_points for n, batch in zip(kept, batches, strict=True)]
    are, were = ("is an outlier", "was") if n_odd == 1 else ("are outliers", "were")
    doubt = ArgumentText(
        f"{format_count(n_odd, 'row')} of {len(points):,} {are} (more than "
        f"{OUTLIER_FACTOR:,.0f} interquartile ranges from the median; the first in "
        f"{batch_noun} {is_fewer.index(True) + 1}) and {were} ignored when the parameters were "
        f"chosen. Check {'this row' if n_odd == 1 else 'these rows'}."
    )
    return kept, (doubt,)
