"""The paper's handicap: of all samples of a batch, carry on the one closest to the truth.

It helps the samplers with what no method can know, the true labels. Closest means the highest
accuracy: with tracking enforced as `dynmeans.metrics.accuracy_frozen` does, or of the batch by
itself. Samples of the same accuracy are many; the most probable of them is taken (decision 0310).
"""

import time
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from dynmeans.records.arrays import FloatArray, IntArray


class ClosestToTruth:
    """Ranks the samples of one batch after the other; the `carried_sample` of one `DDPMixture`.

    Parameters
    ----------
    truth : sequence of IntArray of shape (n_points,)
        True labels of the batches to come.
    is_tracking : bool
        Whether identities matched in earlier batches stay matched.
    weights : sequence of FloatArray of shape (n_points,), optional
        Confidence in each true label; by default all count the same.

    Attributes
    ----------
    seconds : float
        Processor time spent on ranking, which is not the sampler's.
    scores : list of float
        Share of points labeled correctly by the sample carried on, for each batch so far.
    tied : list of float
        Share of the samples of each batch so far that had the highest accuracy.
    """

    def __init__(
        self,
        truth: Sequence[IntArray],
        *,
        is_tracking: bool = True,
        weights: Sequence[FloatArray] | None = None,
    ) -> None:
        self._truth = iter(truth)
        self._weights = iter([np.ones(len(true)) for true in truth] if weights is None else weights)
        self._is_tracking = is_tracking
        self._found_of: dict[int, int] = {}
        self.seconds = 0.0
        self.scores: list[float] = []
        self.tied: list[float] = []

    def __call__(self, samples: IntArray) -> FloatArray:
        """Return the accuracy of every sample of the next batch, the most probable first.

        The match of the first of the best is kept.
        """
        started = time.thread_time()
        true, weights = next(self._truth), next(self._weights)
        true_ids, rows = np.unique(true, return_inverse=True)
        found_ids, cols = _numbered(samples)
        shape = (len(true_ids), len(found_ids))
        counts = _sum_pairs(rows, cols, weights, shape)
        kept = np.array(
            [[self._found_of.get(int(k)) == int(f) for f in found_ids] for k in true_ids]
        )
        is_free_row = ~np.isin(true_ids, list(self._found_of))
        is_free_col = ~np.isin(found_ids, list(self._found_of.values()))
        free = counts[:, is_free_row][:, :, is_free_col]
        correct = counts[:, kept].sum(axis=1) + _best_gains(free)
        best = int(correct.argmax())
        self.tied.append(float(np.mean(correct == correct[best])))
        made_rows, made_cols = _match(free[best])
        made_true, made_found = true_ids[is_free_row][made_rows], found_ids[is_free_col][made_cols]
        if self._is_tracking:
            self._found_of.update(zip(made_true.tolist(), made_found.tolist(), strict=True))
        scores = correct / weights.sum()
        self.scores.append(float(scores[best]))
        self.seconds += time.thread_time() - started
        return np.asarray(scores)


def _numbered(ids: IntArray) -> tuple[IntArray, IntArray]:
    """Return the ids that occur, in order, and the place of each entry among them.

    As `np.unique` does, without sorting all samples: ids are numbers below that of all clusters.
    """
    is_found = np.zeros(int(ids.max()) + 1, dtype=np.bool_)
    is_found[ids] = True
    return np.flatnonzero(is_found), (np.cumsum(is_found) - 1)[ids]


def _sum_pairs(
    rows: IntArray, cols: IntArray, weights: FloatArray, shape: tuple[int, int]
) -> FloatArray:
    """Sum, in every sample, the weights of the points of each true and found label."""
    n_samples, (n_rows, n_cols) = len(cols), shape
    cells = (np.arange(n_samples)[:, None] * n_rows + rows) * n_cols + cols
    repeated = np.broadcast_to(weights, cols.shape).ravel()
    sums = np.bincount(cells.ravel(), repeated, minlength=n_samples * n_rows * n_cols)
    return np.asarray(sums, dtype=np.float64).reshape(n_samples, n_rows, n_cols)


def _best_gains(tables: FloatArray) -> FloatArray:
    """Return the weight that the best match of each table makes correct."""
    gains: dict[bytes, float] = {}  # most samples differ in clusters that are matched already
    found = np.zeros(len(tables))
    for s, table in enumerate(tables):
        name = table.tobytes()
        if name not in gains:
            gains[name] = float(table[_match(table)].sum())
        found[s] = gains[name]
    return found


def _match(table: FloatArray) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the pairs that the best match keeps, those that share points."""
    rows, cols = linear_sum_assignment(table, maximize=True)
    shares = table[rows, cols] > 0
    return rows[shares], cols[shares]
