"""What DynamicMeans and DPMeans share: everything that follows from a `ClusterState`."""

import logging
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.engine import get_backend
from dynmeans.engine.batch import checked_weights
from dynmeans.engine.compiled import compiled
from dynmeans.engine.dask_batches import is_spread, spread_backend
from dynmeans.engine.step import check_revival, check_way
from dynmeans.estimators.stream_estimator import StreamEstimator
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.suggest_penalties import suggest_details
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import HashOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.suggestion import warn_of_doubts

AUTO = "auto"
ONLY_ZEROS = "sample_weight must have a value above 0, got only zeros."
_logger = logging.getLogger(__name__)

ORDERS = ("random", "hash")


class ClusterEstimator(TransformerMixin, StreamEstimator):
    """An estimator whose fitted self is a `ClusterState`."""

    state_: ClusterState
    penalties_: Penalties
    new_penalty: float | str
    n_init: int
    order: str
    backend: str
    acceleration: str
    n_threads: int | None
    _dtypes = (np.float64, np.float32)

    @abstractmethod
    def _penalties_for(self, new_penalty: Any) -> Penalties:
        """lambda, Q and tau from the parameters and this lambda, checked."""

    @abstractmethod
    def _suggestable(self) -> dict[str, Any]:
        """Return the parameters beside lambda that "auto" chooses where they are None."""

    @abstractmethod
    def _revival(self) -> str:
        """Name the rule for the cost of reviving."""

    @property
    def cluster_weights_(self) -> FloatArray:
        """Confidence in each position, in observations."""
        return self.state_.weights

    def predict(self, X: Any) -> IntArray:
        """Give the identity each row would get now, -1 where a new cluster would be cheaper.

        Nothing is changed. On the batch just fitted this equals `labels_`, but for points on the
        very border of two clusters if the last pass gained next to nothing (decision 0012).
        A Dask array or data frame gives a Dask array, computed when it is asked for.
        """
        return self._predict_labels(X)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the opposite of what these rows would cost now: higher is better."""
        return -float(self._predict_labels(X)[1].sum())

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each of `cluster_centers_`.

        A Dask array or data frame gives a Dask array, computed when it is asked for.
        """
        check_is_fitted(self, "state_")
        if is_spread(X):
            distances: FloatArray = spread_backend(self.backend).distances(X, self.state_)
            return distances
        return np.asarray(cdist(self._checked_points(X, reset=False), self.state_.centers))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of `transform` after the identities of the clusters."""
        check_is_fitted(self, "state_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in self.state_.ids], dtype=object)

    def _predict_labels(self, X: Any) -> tuple[IntArray, FloatArray]:
        check_is_fitted(self, "state_")
        if is_spread(X):
            found: tuple[IntArray, FloatArray] = spread_backend(self.backend).predict_labels(
                X, self.state_, self._penalties(), self._revival()
            )
            return found
        points = self._checked_points(X, reset=False)
        runner = get_backend(self.backend)
        return runner.predict_labels(points, self.state_, self._penalties(), self._revival())

    def _fit_one_batch(self, X: Any, sample_weight: Any) -> None:
        self._start_over()
        if is_spread(X):
            self._check_features_of(X, reset=True)
            self._take_in(X, ClusterState.empty(self.n_features_in_), 1.0, sample_weight)
            if len(self.labels_) == 0:
                raise ValueError("X must have at least one row, got none.")
            if self.state_.n_clusters == 0:  # Only rows that take no part open none.
                raise ValueError(ONLY_ZEROS)
            return
        points = self._checked_points(X, reset=True)
        weights = checked_weights(sample_weight, len(points))
        if weights is not None and not weights.any():
            raise ValueError(ONLY_ZEROS)
        self._take_in(points, ClusterState.empty(points.shape[1]), 1.0, weights)

    def _take_in(self, points: Any, state: ClusterState, elapsed: float, weights: Any) -> None:
        """Run one step from `state` and keep its result.

        What lies on a cluster is checked there, with its weights; all else has been checked.
        """
        self._check_way()
        self._settle_penalties([points], [elapsed], [weights])
        if is_spread(points):
            after, clustering = self._step_on_cluster(points, state, elapsed, weights)
        else:
            after, clustering = get_backend(self.backend).step(
                points,
                state,
                self._penalties(),
                self._orders_of(points, weights, state.n_steps),
                elapsed,
                weights,
                self._revival(),
                acceleration=self.acceleration,
                n_threads=self.n_threads,
            )
        self._remember(state, elapsed, clustering, after)

    def _orders_of(
        self, points: BatchArray, weights: FloatArray | None, n_steps: int
    ) -> IntArray:
        entropy, n_init = self._entropy_drawn(), checked_count("n_init", self.n_init)
        if self.order == "random":
            return compiled.visiting_orders(points, entropy, n_steps, n_init, weights)
        seed = HashOrders.for_step(entropy, n_steps, n_init).seed
        return compiled.hash_orders(len(points), seed, n_init)

    def _step_on_cluster(
        self, points: Any, state: ClusterState, elapsed: float, weights: Any
    ) -> tuple[ClusterState, Clustering]:
        n_init = checked_count("n_init", self.n_init)
        orders = HashOrders.for_step(self._entropy_drawn(), state.n_steps, n_init)
        runner = spread_backend(self.backend)
        batch = runner.take_batch(points, weights, state.n_features, "X")
        result: tuple[ClusterState, Clustering] = runner.step(
            batch, state, self._penalties(), orders, elapsed, self._revival()
        )
        return result

    def _check_features_of(self, X: Any, *, reset: bool) -> None:
        """Check number and names of the columns of a batch on a cluster."""
        runner = spread_backend(self.backend)
        n_found, names = runner.count_features(X), runner.feature_names(X)
        if reset:
            self.n_features_in_ = n_found
            if names is not None and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.asarray(names, dtype=object)
        elif n_found != self.state_.n_features:
            raise ValueError(
                f"X has {n_found} features, but the state was built with "
                f"{self.state_.n_features}. Call fit() to start over."
            )
        elif names is not None and names != list(getattr(self, "feature_names_in_", names)):
            raise ValueError(
                f"X must have the columns of the first batch, {list(self.feature_names_in_)}, "
                f"in that order, got {names}."
            )

    def _penalties(self) -> Penalties:
        """lambda, Q and tau: given, or chosen; before the first point anything will do."""
        if not self._is_auto():
            return self._penalties_for(self.new_penalty)
        return getattr(self, "penalties_", None) or self._penalties_for(1.0)

    def _adopted(self, suggested: Penalties) -> Penalties:
        return suggested

    def _is_auto(self) -> bool:
        if isinstance(self.new_penalty, str) and self.new_penalty != AUTO:
            raise ValueError(
                f'new_penalty must be a number above 0 or "auto", got {self.new_penalty!r}.'
            )
        return isinstance(self.new_penalty, str)

    def _settle_penalties(
        self,
        batches: list[BatchArray],
        elapsed: list[float],
        weights: list[FloatArray | None],
    ) -> None:
        """Set `penalties_`; for "auto" choose them once, on the first batches with points."""
        if not self._is_auto():
            self.penalties_ = self._penalties()
        elif not hasattr(self, "penalties_") and is_spread(batches[0]):
            raise ValueError(
                "new_penalty='auto' needs a first batch in memory. Choose on a part of the rows "
                "with suggest_penalties, and give new_penalty, max_gap and reach."
            )
        elif not hasattr(self, "penalties_") and _has_points(batches, weights):
            found = suggest_details(
                batches,
                elapsed=elapsed,
                sample_weight=weights,
                n_init=checked_count("n_init", self.n_init),
                **self._suggestable(),
            )
            self.penalties_ = self._adopted(found.penalties)
            _logger.info("%s", found.explanation)
            warn_of_doubts(found.doubts)

    def _check_way(self) -> None:
        check_revival(self._revival())
        if self.order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {self.order!r}.")
        check_way(self.acceleration, self.n_threads)

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


def _has_points(batches: list[BatchArray], weights: list[FloatArray | None]) -> bool:
    return any(
        len(batch) > 0 and (weight is None or bool(weight.any()))
        for batch, weight in zip(batches, weights, strict=True)
    )
