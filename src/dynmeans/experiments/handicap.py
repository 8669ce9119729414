"""The paper's handicap: of all samples of a batch, carry on the one closest to the truth.

It helps the samplers with what no method can know, the true labels. Closest means the highest
accuracy: with tracking enforced as `dynmeans.metrics.accuracy_frozen` does, or of the batch by
itself (decision 0310).
"""

import time
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from dynmeans.records.arrays import FloatArray, IntArray


class ClosestToTruth:
    """Ranks the samples of one batch after the other; the `carry` of one `DDPMixture`.

    Parameters
    ----------
    truth : sequence of IntArray of shape (n_points,)
        True labels of the batches to come.
    is_tracking : bool
        Whether identities matched in earlier batches stay matched.

    Attributes
    ----------
    seconds : float
        Processor time spent on ranking, which is not the sampler's.
    scores : list of float
        Share of points labeled correctly by the sample carried on, for each batch so far.
    """

    def __init__(self, truth: Sequence[IntArray], *, is_tracking: bool = True) -> None:
        self._truth = iter(truth)
        self._is_tracking = is_tracking
        self._found_of: dict[int, int] = {}
        self.seconds = 0.0
        self.scores: list[float] = []

    def __call__(self, samples: IntArray) -> FloatArray:
        """Return the accuracy of every sample of the next batch, and keep the match of the best."""
        started = time.thread_time()
        true = next(self._truth)
        true_ids, rows = np.unique(true, return_inverse=True)
        found_ids, cols = np.unique(samples, return_inverse=True)
        counts = _count_pairs(rows, cols.reshape(samples.shape), len(true_ids), len(found_ids))
        kept = np.array(
            [[self._found_of.get(int(k)) == int(f) for f in found_ids] for k in true_ids]
        )
        is_free_row = ~np.isin(true_ids, list(self._found_of))
        is_free_col = ~np.isin(found_ids, list(self._found_of.values()))
        free = counts[:, is_free_row][:, :, is_free_col]
        correct = counts[:, kept].sum(axis=1) + _best_gains(free)
        best = int(correct.argmax())
        made_rows, made_cols = _match(free[best])
        made_true, made_found = true_ids[is_free_row][made_rows], found_ids[is_free_col][made_cols]
        if self._is_tracking:
            self._found_of.update(zip(made_true.tolist(), made_found.tolist(), strict=True))
        scores = correct / len(true)
        self.scores.append(float(scores[best]))
        self.seconds += time.thread_time() - started
        return np.asarray(scores)


def _count_pairs(rows: IntArray, cols: IntArray, n_rows: int, n_cols: int) -> IntArray:
    """Count, in every sample, the points of each true and found label."""
    n_samples = len(cols)
    cells = (np.arange(n_samples)[:, None] * n_rows + rows) * n_cols + cols
    counts = np.bincount(cells.ravel(), minlength=n_samples * n_rows * n_cols)
    return counts.reshape(n_samples, n_rows, n_cols)


def _best_gains(tables: IntArray) -> IntArray:
    """Return the points that the best match of each table makes correct."""
    gains: dict[bytes, int] = {}  # most samples differ in clusters that are matched already
    found = np.zeros(len(tables), dtype=np.int64)
    for s, table in enumerate(tables):
        name = table.tobytes()
        if name not in gains:
            gains[name] = int(table[_match(table)].sum())
        found[s] = gains[name]
    return found


def _match(table: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the pairs that the best match keeps, those that share points."""
    rows, cols = linear_sum_assignment(table, maximize=True)
    shares = table[rows, cols] > 0
    return rows[shares], cols[shares]
