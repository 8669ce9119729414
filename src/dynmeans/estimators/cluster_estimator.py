"""What DynamicMeans and DPMeans share: everything that follows from a `ClusterState`."""

import logging
from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.engine.batch import AnyBatch, Batch, take_batch
from dynmeans.engine.checks import checked_weights
from dynmeans.engine.execution import Execution, execution_of
from dynmeans.engine.predict import center_distances, predict_labels
from dynmeans.engine.step import step_batch
from dynmeans.estimators.base import StreamEstimator
from dynmeans.inputs.numbers import checked_count
from dynmeans.parameters.suggest import suggest_for
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties, given_penalties
from dynmeans.records.state import Clustering, ClusterState
from dynmeans.records.suggestion import warn_of_doubts

ORDERS = {"random": "content", "hash": "row"}
_logger = logging.getLogger(__name__)


class ClusterEstimator(TransformerMixin, StreamEstimator):
    """An estimator whose fitted self is a `ClusterState`."""

    state_: ClusterState
    penalties_: Penalties
    penalties: Penalties | float | str
    new_penalty: float | None
    n_init: int
    order: str
    backend: str
    acceleration: str
    n_threads: int | None
    max_clusters: int | None
    _dtypes = (np.float64, np.float32)

    @abstractmethod
    def _penalties_for(self, given: Penalties | float) -> Penalties:
        """lambda, Q and tau from the parameters and these penalties or this lambda, checked."""

    @abstractmethod
    def _suggestable(self) -> dict[str, Any]:
        """Return the parameters beside lambda that "auto" chooses where they are None."""

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
        return center_distances(self._rows_in_place(X), self.state_, self._known_rows)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of `transform` after the identities of the clusters."""
        check_is_fitted(self, "state_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in self.state_.ids], dtype=object)

    def _predict_labels(self, X: Any, elapsed: float = 0.0) -> tuple[IntArray, FloatArray]:
        check_is_fitted(self, "state_")
        rows, execution = self._rows_in_place(X), self._execution()
        return predict_labels(
            rows, self.state_, self._penalties(), execution, self._known_rows, elapsed
        )

    def _known_rows(self, X: Any) -> BatchArray:
        """Check rows that change nothing."""
        return self._checked_points(X, reset=False)

    def _rows_in_place(self, X: Any) -> Any:
        """Return rows that may also lie on a cluster of machines or on a GPU."""
        return X

    def _fit_one_batch(self, X: Any, sample_weight: Any) -> None:
        self._start_over()
        batch = self._checked_batch(X, sample_weight, reset=True, min_points=1)
        if batch.n_points == 0:
            raise ValueError("X must have at least one row, got none.")
        if not batch.has_weight:
            raise ValueError("sample_weight must have a value above 0, got only zeros.")
        self._take_in(batch, ClusterState.empty(batch.n_features), 1.0)

    def _checked_batch(
        self, X: Any, sample_weight: Any, *, reset: bool, min_points: int = 0
    ) -> AnyBatch:
        """Check a batch and its features against those of the first one."""
        if not reset and self._is_ready(X):
            return Batch(X, checked_weights(sample_weight, len(X)))
        rows_of = partial(self._checked_points, reset=reset, min_points=min_points)
        n_features = None if reset else self.state_.n_features
        batch = take_batch(X, sample_weight, n_features, name="X", rows_of=rows_of)
        if reset:
            self.n_features_in_ = batch.n_features
        if batch.feature_names is not None:
            self._check_names(batch.feature_names, reset=reset)
        return batch

    def _check_names(self, names: list[Any], *, reset: bool) -> None:
        if reset and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif names != list(getattr(self, "feature_names_in_", names)):
            raise ValueError(
                f"X must have the columns of the first batch, {list(self.feature_names_in_)}, "
                f"in that order, got {names}."
            )

    def _take_in(self, batch: AnyBatch, state: ClusterState, elapsed: float) -> None:
        """Run one step from `state` and keep its result."""
        penalties = self._settle_penalties([batch], [elapsed])
        after, clustering = step_batch(
            batch, state, penalties, self._visiting_orders(), elapsed, self._execution()
        )
        self._remember(state, elapsed, clustering, after)

    def _visiting_orders(self) -> VisitingOrders:
        if self.order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {self.order!r}.")
        n_init = checked_count("n_init", self.n_init)
        return VisitingOrders(self._entropy_drawn(), n_init, ORDERS[self.order])

    def _execution(self) -> Execution:
        return execution_of(self.backend, self.acceleration, self.n_threads, self.max_clusters)

    def _penalties(self) -> Penalties:
        """lambda, Q and tau: given, or chosen; before the first point anything will do."""
        given = self._given()
        if given is not None:
            return self._penalties_for(given)
        return getattr(self, "penalties_", None) or self._penalties_for(1.0)

    def _adopted(self, suggested: Penalties) -> Penalties:
        return suggested

    def _given(self) -> Penalties | float | None:
        """The penalties or the lambda that was given; None where they are to be chosen."""
        return given_penalties(self.penalties, self.new_penalty)

    def _is_auto(self) -> bool:
        return self._given() is None

    def _settle_penalties(self, batches: Sequence[AnyBatch], elapsed: Sequence[float]) -> Penalties:
        """Set `penalties_`; for "auto" choose them once, on the first batches with points."""
        penalties = self._penalties()
        if not self._is_auto():
            self.penalties_ = penalties
        elif not hasattr(self, "penalties_") and any(batch.has_weight for batch in batches):
            rows = [batch.in_memory("penalties='auto'") for batch in batches]
            asked = self._suggestable()
            found = suggest_for(rows, elapsed, orders=self._trial_orders(len(rows), asked), **asked)
            self.penalties_ = penalties = self._adopted(found.penalties)
            _logger.info("%s", found.explanation)
            warn_of_doubts(found.doubts)
        return penalties

    def _trial_orders(self, n_batches: int, asked: dict[str, Any]) -> VisitingOrders:
        """Return fixed orders; for one batch and a wanted number of clusters, the batch's own.

        Only with its own orders is the number met.
        """
        own = self._visiting_orders()
        is_own = n_batches == 1 and asked.get("n_clusters") is not None and own.by == "content"
        return own if is_own else VisitingOrders(0, own.n_init)

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
