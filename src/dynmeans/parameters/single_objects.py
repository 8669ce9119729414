"""Is every row an object of its own, such as a detection of a walker or a plane?"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.spatial import cKDTree

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.parameters.principal_axes import rotate_rows
from dynmeans.parameters.tracks import leading_axes
from dynmeans.records.arrays import BatchArray

# Of streams in which one row is one object the share was 0.94 and more, of others at most 0.77.
CLEAR = 0.85
_NEARER = 0.5  # in units of the distance to the nearest row of the same batch
_FEWEST = 100  # rows that have to be looked at
_MOST = 20_000


def share_of_objects(batches: Sequence[BatchArray]) -> float:
    """Return the share of rows that are nearer in time than in space; 0 for too few rows.

    A row counts if its nearest row in the next batch is less than half as far as the nearest one
    in its own. In a cluster of many rows both distances are alike. Rows that recur exactly are left
    out: values from a grid or a table contain no motion.

    >>> rng = np.random.default_rng(0)
    >>> objects = rng.uniform(size=(20, 2))
    >>> share_of_objects([objects + 0.001 * t for t in range(9)])
    1.0
    >>> share_of_objects([rng.normal(size=(20, 2)) for _ in range(9)]) < 0.5
    True
    >>> share_of_objects([objects] * 9)
    0.0
    """
    axes = leading_axes(list(batches)) if len(batches) else None
    n_rows = n_objects = 0
    trees = [cKDTree(rows if axes is None else rotate_rows(rows, axes)) for rows in batches]
    for here, following in pairwise(trees):
        if here.n < 2 or not following.n or n_rows > _MOST:
            continue
        own = here.query(here.data, 2)[0][:, 1]
        later = following.query(here.data)[0]
        is_other = later > 0
        n_rows += int(np.count_nonzero(is_other))
        n_objects += int(np.count_nonzero(is_other & (later < _NEARER * own)))
    return n_objects / n_rows if n_rows >= _FEWEST else 0.0


def note_single_objects(share: float) -> ArgumentText:
    """Return that rows are tracked as objects, and how they are clustered instead."""
    return ArgumentText(
        "{:.0%} of the rows are nearer to a row of the next window than to any row of the same "
        "window, so every row is tracked as one object, as with {method='detections'}. Use "
        "{level='default'} to cluster rows instead.",
        share,
    )
