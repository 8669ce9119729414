"""DynamicMeans: clusters that persist, move, appear, vanish and come back."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, Self

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.backends import native
from dynmeans.backends.batch import checked_elapsed, checked_weights
from dynmeans.estimators.cluster_estimator import ClusterEstimator
from dynmeans.estimators.history_keeping import HistoryKeeper, one_for_each
from dynmeans.estimators.stream_estimator import checked_count
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState

# Good over many kinds of stream when only lambda is known (decision 0007).
DEFAULT_MAX_GAP = 6.8
DEFAULT_REACH = 1.2

_SMALL_BATCH = 20_000  # Above, the time of a step makes up for coming back to Python.


def _checked_penalties(new_penalty: Any, *others: Any) -> Penalties:
    names = ("revival_penalty", "drift", "max_gap", "reach")
    return Penalties(new_penalty, **dict(zip(names, others, strict=True)))


# Checking them takes as long as a quarter of a small step, and they seldom change.
_penalties_of = lru_cache(maxsize=64)(_checked_penalties)


class DynamicMeans(HistoryKeeper, ClusterEstimator):
    """Cluster batches one after the other; every cluster keeps its identity for life.

    Parameters
    ----------
    new_penalty : float, default=1.0
        lambda. How far, as a squared distance, a point may be from every cluster before it opens
        a new one. The one parameter that depends on the scale of your data.
    max_gap : float, optional
        N_Q. How many batches a cluster may go unseen and still come back under its identity;
        greater than 1, infinity for never forgetting. 6.8 unless you give `revival_penalty`.
    reach : float, optional
        k_tau. How far a cluster may have moved since the last batch and still be recognised, as
        a squared distance in units of `new_penalty`; at least 1. 1.2 unless you give `drift`.
    revival_penalty, drift : float, optional
        Q and tau, the paper's other parameterisation, in place of `max_gap` and `reach`.
    n_init : int, default=3
        Random visiting orders tried on every batch; the one of lowest cost is kept.
    revival : {"paper", "exact"}, default="paper"
        The cost of reviving a cluster: equation 5 of the paper, or the true rise of the cost.
    backend : {"native", "reference"}, default="native"
        Compiled code, or the specification in NumPy. Both give the same labels.
    acceleration : {"auto", "none"}, default="auto"
        Whether the compiled code may leave out comparisons that cannot change a label.
    n_threads : int, optional
        By default all cores for large batches, one for small ones. The result never depends on it.
    keep_history : bool or int, default=False
        Whether `history_` keeps the record of all batches, or of the last so many.
    random_state : int, RandomState instance or None, default=None
        Source of the visiting orders.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Identity of every row of the last batch.
    cluster_ids_, cluster_centers_, cluster_weights_, cluster_ages_ : arrays
        The remembered clusters, one row each.
    cost_, cost_trace_, n_iter_ : float, array, int
        Cost of the last batch, its value after every pass, and the number of passes.
    n_steps_ : int
        Batches taken in so far.
    events_ : list of Event
        What the last batch did to each cluster.
    history_ : History
        The record of the batches, where `keep_history` asks for it.
    state_ : ClusterState
        All that is remembered; `state_.save(path)` writes it to a file.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from dynmeans import DynamicMeans
    >>> model = DynamicMeans(new_penalty=1.0, random_state=0)
    >>> model.partial_fit([[0.0], [0.1], [5.0]]).labels_.tolist()
    [0, 0, 1]
    >>> model.partial_fit([[5.3], [9.0], [0.3]]).labels_.tolist()
    [1, 2, 0]
    """

    def __init__(
        self,
        new_penalty: float = 1.0,
        *,
        max_gap: float | None = None,
        reach: float | None = None,
        revival_penalty: float | None = None,
        drift: float | None = None,
        n_init: int = 3,
        revival: str = "paper",
        backend: str = "native",
        acceleration: str = "auto",
        n_threads: int | None = None,
        keep_history: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.new_penalty = new_penalty
        self.max_gap = max_gap
        self.reach = reach
        self.revival_penalty = revival_penalty
        self.drift = drift
        self.n_init = n_init
        self.revival = revival
        self.backend = backend
        self.acceleration = acceleration
        self.n_threads = n_threads
        self.keep_history = keep_history
        self.random_state = random_state

    @classmethod
    def from_state(cls, state: ClusterState, **parameters: Any) -> Self:
        """Return an estimator that continues where `state` stopped.

        With the parameters and the integer `random_state` of the estimator that the state came
        from, it continues label for label.
        """
        return cls._from_state(state, ClusterState, parameters)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and take in one batch."""
        with self._all_or_nothing():
            self._fit_one_batch(X, sample_weight)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, *, elapsed: float = 1.0, sample_weight: Any = None
    ) -> Self:
        """Take in the next batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch. One of shape (0, n_features) only lets time pass.
        y : ignored
        elapsed : float
            Steps of time since the previous batch; greater than 0.
        sample_weight : array-like of shape (n_points,), optional
            A row of weight 2 counts as two identical rows, one of weight 0 takes no part.
        """
        with self._all_or_nothing():
            elapsed = checked_elapsed(elapsed)
            is_first = not hasattr(self, "state_")
            points = self._checked_points(X, reset=is_first, min_points=0)
            state = ClusterState.empty(points.shape[1]) if is_first else self.state_
            weights = checked_weights(sample_weight, len(points))
            self._take_in(points, state, elapsed, weights)
        return self

    def fit_sequence(
        self,
        batches: Iterable[Any],
        *,
        elapsed: float | Sequence[float] = 1.0,
        sample_weight: Sequence[Any] | None = None,
    ) -> tuple[list[IntArray], History]:
        """Forget everything and take in a whole sequence of batches.

        Returns
        -------
        labels : list of arrays
            Identity of every row of every batch.
        history : History
            The record of every batch: clusters seen and remembered, cost, passes.
        """
        labels, history = [], History()
        with self._all_or_nothing():
            window = self._checked_window()
            self._start_over()
            rows, gaps, weights = self._checked_sequence(list(batches), elapsed, sample_weight)
            for step in self._steps_of(rows, gaps, weights):
                history.append(*step, find_events)
                labels.append(step[2].labels)
            self._remember(*step)
            if self.keep_history is not False:
                self.history_ = history.last(window)
        return labels, history

    def _checked_sequence(
        self, batches: list[Any], elapsed: Any, sample_weight: Any
    ) -> tuple[list[BatchArray], list[float], list[FloatArray | None]]:
        """Check every batch before the first is taken in."""
        gaps = one_for_each("elapsed", elapsed, len(batches))
        weights = one_for_each("sample_weight", sample_weight, len(batches))
        rows: list[BatchArray] = []
        for t, X in enumerate(batches):
            try:
                rows.append(self._checked_points(X, reset=not rows, min_points=0))
                gaps[t] = checked_elapsed(gaps[t])
                weights[t] = checked_weights(weights[t], len(rows[t]))
            except (TypeError, ValueError) as error:
                raise type(error)(f"batches[{t}]: {error}") from error
            if t == 0:
                self.state_ = ClusterState.empty(rows[0].shape[1])
        return rows, gaps, weights

    def _steps_of(
        self, rows: list[BatchArray], gaps: list[float], weights: list[FloatArray | None]
    ) -> Iterable[tuple[ClusterState, float, Clustering, ClusterState]]:
        """Take the batches in: small ones all at once in compiled code, others one by one."""
        if self.backend != "native" or max(map(len, rows), default=0) > _SMALL_BATCH:
            for X, gap, weight in zip(rows, gaps, weights, strict=True):
                self._take_in(X, self.state_, gap, weight)
                yield self._last_step
            return
        self._check_way()
        results = native.sequence(
            rows,
            self._penalties(),
            gaps,
            weights,
            self.revival,
            entropy=self._entropy_drawn(),
            n_init=checked_count("n_init", self.n_init),
            acceleration=self.acceleration,
            n_threads=self.n_threads,
        )
        before = self.state_
        for gap, (after, clustering) in zip(gaps, results, strict=True):
            yield before, gap, clustering, after
            before = after

    def _take_in(
        self,
        points: BatchArray,
        state: ClusterState,
        elapsed: float,
        weights: FloatArray | None,
    ) -> None:
        window = self._checked_window()
        super()._take_in(points, state, elapsed, weights)
        self._record(window)

    def _penalties(self) -> Penalties:
        if self.revival_penalty is not None or self.drift is not None:
            max_gap, reach = self.max_gap, self.reach
        else:
            max_gap = DEFAULT_MAX_GAP if self.max_gap is None else self.max_gap
            reach = DEFAULT_REACH if self.reach is None else self.reach
        values = (self.new_penalty, self.revival_penalty, self.drift, max_gap, reach)
        if set(map(type, values)) <= {float, int, NoneType}:
            return _penalties_of(*values)
        return _checked_penalties(*values)

    def _revival(self) -> str:
        return self.revival
