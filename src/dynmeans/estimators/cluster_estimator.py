"""What DynamicMeans and DPMeans share: everything that follows from a state."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dynmeans.backends import get_backend
from dynmeans.backends.batch import (
    MAX_COORDINATE,
    MAX_POINTS,
    check_size,
    checked_coordinates,
    checked_weights,
)
from dynmeans.backends.compiled import compiled
from dynmeans.functional import check_revival, check_way
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState


class ClusterEstimator(TransformerMixin, ClusterMixin, BaseEstimator, ABC):
    """An estimator whose fitted self is a `ClusterState`."""

    state_: ClusterState
    n_init: int
    backend: str
    acceleration: str
    n_threads: int | None
    random_state: Any

    @abstractmethod
    def _penalties(self) -> Penalties:
        """lambda, Q and tau from the parameters, checked."""

    @abstractmethod
    def _revival(self) -> str:
        """Name the rule for the cost of reviving."""

    @property
    def cluster_ids_(self) -> IntArray:
        """Identities of the remembered clusters."""
        return self.state_.ids

    @property
    def cluster_centers_(self) -> FloatArray:
        """Positions of the remembered clusters when last seen."""
        return self.state_.centers

    @property
    def cluster_weights_(self) -> FloatArray:
        """Confidence in each position, in observations."""
        return self.state_.weights

    @property
    def cluster_ages_(self) -> FloatArray:
        """Batches since each was last seen; 1 means in the last batch."""
        return self.state_.ages

    @property
    def n_steps_(self) -> int:
        """Batches taken in so far, empty ones included."""
        return self.state_.n_steps

    def predict(self, X: Any) -> IntArray:
        """Give the identity each row would get now, -1 where a new cluster would be cheaper.

        Nothing is changed. On the batch just fitted this equals `labels_`.
        """
        return self._predict_labels(X)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the opposite of what these rows would cost now: higher is better."""
        return -float(self._predict_labels(X)[1].sum())

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each of `cluster_centers_`."""
        check_is_fitted(self, "state_")
        return np.asarray(cdist(self._checked_points(X, reset=False), self.state_.centers))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of `transform` after the identities of the clusters."""
        check_is_fitted(self, "state_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in self.state_.ids], dtype=object)

    def _predict_labels(self, X: Any) -> tuple[IntArray, FloatArray]:
        check_is_fitted(self, "state_")
        points = self._checked_points(X, reset=False)
        runner = get_backend(self.backend)
        return runner.predict_labels(points, self.state_, self._penalties(), self._revival())

    def _checked_points(self, X: Any, *, reset: bool, min_points: int = 1) -> BatchArray:
        if not reset and self._is_ready(X):
            ready: BatchArray = X
            return ready
        if hasattr(X, "shape") and len(X.shape):
            check_size("X", X.shape[0])
        points = validate_data(
            self,
            X,
            reset=reset,
            dtype=(np.float64, np.float32),
            order="C",
            ensure_min_samples=min_points,
        )
        if not reset and points.shape[1] != self.state_.n_features:
            raise ValueError(
                f"X has {points.shape[1]} features, but the state was built with "
                f"{self.state_.n_features}. Call fit() to start over."
            )
        return checked_coordinates(points, "X")

    def _is_ready(self, X: Any) -> bool:
        """Say whether X is a plain array that needs neither conversion nor complaint."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in (np.float64, np.float32)
            and X.flags.c_contiguous
            and 0 < len(X) <= MAX_POINTS
            and X.shape[1] == self.state_.n_features
            and not hasattr(self, "feature_names_in_")
            and compiled.all_within(X, MAX_COORDINATE)
        )

    def _fit_one_batch(self, X: Any, sample_weight: Any) -> None:
        self._start_over()
        points = self._checked_points(X, reset=True)
        weights = checked_weights(sample_weight, len(points))
        if weights is not None and not weights.any():
            raise ValueError("sample_weight must have a value above 0, got only zeros.")
        self._take_in(points, ClusterState.empty(points.shape[1]), 1.0, weights)

    def _start_over(self) -> None:
        self.__dict__.pop("state_", None)
        self._draw_entropy()

    def _take_in(
        self, points: BatchArray, state: ClusterState, elapsed: float, sample_weight: Any
    ) -> None:
        """Run one step from `state` and keep its result."""
        check_revival(self._revival())
        check_way(self.acceleration, self.n_threads)
        weights = checked_weights(sample_weight, len(points))
        orders = compiled.visiting_orders(
            points, self._entropy_drawn(), state.n_steps, self._checked_n_init()
        )
        after, clustering = get_backend(self.backend).step(
            points,
            state,
            self._penalties(),
            orders,
            elapsed,
            weights,
            self._revival(),
            acceleration=self.acceleration,
            n_threads=self.n_threads,
        )
        self._remember(state, elapsed, clustering, after)

    def _remember(
        self, before: ClusterState, elapsed: float, clustering: Clustering, after: ClusterState
    ) -> None:
        """Show what the last step gave."""
        self.state_ = after
        self._last_step = (before, elapsed, clustering, after)
        self.labels_ = clustering.labels
        self.cost_ = clustering.cost
        self.cost_trace_ = clustering.cost_trace
        self.n_iter_ = clustering.n_iter

    def _checked_n_init(self) -> int:
        if isinstance(self.n_init, bool) or not isinstance(self.n_init, int | np.integer):
            raise TypeError(f"n_init must be an integer, got {self.n_init!r}.")
        if self.n_init < 1:
            raise ValueError(f"n_init must be at least 1, got {self.n_init!r}.")
        return int(self.n_init)

    def _entropy_drawn(self) -> int:
        """Draw once; with the number of the batch it seeds the visiting orders of each."""
        if not hasattr(self, "_entropy"):
            self._draw_entropy()
        return self._entropy

    def _draw_entropy(self) -> None:
        random = check_random_state(self.random_state)
        self._entropy = int(random.randint(2**63, dtype=np.int64))

    @contextmanager
    def _all_or_nothing(self) -> Iterator[Self]:
        """Leave every attribute as it was if anything fails inside."""
        before = dict(self.__dict__)
        try:
            yield self
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
