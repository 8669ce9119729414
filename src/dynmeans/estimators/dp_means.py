"""DPMeans: the number of clusters found from the data, one batch, no memory."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.estimators.dynamic_means import DynamicMeans
from dynmeans.estimators.fitted_attributes import view
from dynmeans.estimators.input_checks import until_fitted
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import add_parameter_docs
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.penalties import AUTO, Penalties, dp_means_penalties
from dynmeans.records.state import ClusterState
from dynmeans.spaces.space import Space


@add_parameter_docs
class DPMeans(TransformerMixin, ClusterMixin, BaseEstimator):
    """Cluster a single batch with DP-Means: k-means that finds the number of clusters.

    DP-Means [1]_ is Dynamic Means without memory. It starts from no clusters, and not with all
    points in one cluster as in [1]_ (decision 0016).

    Parameters
    ----------
    {model_config}

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Cluster of every row, counted from 0.
    cluster_ids_, cluster_centers_, cluster_weights_, cluster_ages_ : arrays
        The clusters, one row each; weights are their sizes.
    penalties_ : Penalties
        lambda as given or chosen.
    cost_, cost_trace_, n_iter_ : float, array, int
        Cost (squared distances plus `new_penalty` for each cluster), its value after every pass,
        and the number of passes.
    follower_ : DynamicMeans
        The estimator that has processed the one batch.

    See Also
    --------
    DynamicMeans : The same algorithm for a sequence of batches, with memory.
    suggest_penalties : Choose `new_penalty` from data without labels.
    fit_anytime : The same for more rows than fit into main memory.

    References
    ----------
    .. [1] B. Kulis and M. I. Jordan, "Revisiting k-means: New Algorithms via Bayesian
       Nonparametrics", International Conference on Machine Learning, 2012.

    Examples
    --------
    >>> from dynmeans import DPMeans
    >>> model = DPMeans(new_penalty=1.0, random_state=0).fit([[0.0], [0.5], [9.0]])
    >>> len(model.cluster_centers_), model.predict([[8.8], [4.0]]).tolist()
    (2, [1, -1])
    """

    follower_: DynamicMeans = until_fitted()

    @suggest_arguments()
    def __init__(
        self,
        penalties: Penalties | float | str = AUTO,
        *,
        new_penalty: float | None = None,
        n_init: int = 3,
        search: str = "split",
        space: str | Space = "raw",
        backend: str = "native",
        acceleration: str = "auto",
        n_threads: int | None = None,
        max_clusters: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.penalties = penalties
        self.new_penalty = new_penalty
        self.n_init = n_init
        self.search = search
        self.space = space
        self.backend = backend
        self.acceleration = acceleration
        self.n_threads = n_threads
        self.max_clusters = max_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster one batch."""
        follower = DynamicMeans(**self.get_params() | {"penalties": self._lambda()})
        follower.fit(X, sample_weight=sample_weight)
        self.follower_, self.n_features_in_ = follower, follower.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(follower, "feature_names_in_"):
            self.feature_names_in_ = follower.feature_names_in_
        return self

    def predict(self, X: Any) -> IntArray:
        """Give the cluster of each row, -1 where a new one would be cheaper."""
        check_is_fitted(self)
        return self.follower_.predict(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the opposite of what these rows would cost: higher is better."""
        check_is_fitted(self)
        return self.follower_.score(X)

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each of `cluster_centers_`."""
        check_is_fitted(self)
        return self.follower_.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of `transform` after the clusters."""
        check_is_fitted(self)
        return np.array([f"dpmeans{i}" for i in self.follower_.cluster_ids_], dtype=object)

    @property
    def penalties_(self) -> Penalties:
        """lambda as given or chosen; with one batch, Q and tau play no part."""
        return dp_means_penalties(self.follower_.penalties_)

    labels_: IntArray = view("follower_.labels_")
    cluster_ids_: IntArray = view("follower_.cluster_ids_")
    cluster_centers_: FloatArray = view("follower_.cluster_centers_")
    cluster_weights_: FloatArray = view("follower_.cluster_weights_")
    cluster_ages_: FloatArray = view("follower_.cluster_ages_")
    memory_: Memory = view("follower_.memory_")
    state_: ClusterState = view("follower_.state_")
    cost_: float = view("follower_.cost_")
    cost_trace_: FloatArray = view("follower_.cost_trace_")
    n_iter_: int = view("follower_.n_iter_")
    n_steps_: int = view("follower_.n_steps_")

    def _lambda(self) -> Penalties | float | str:
        """A `Penalties` counts for its lambda alone."""
        given = self.penalties
        return dp_means_penalties(given) if isinstance(given, Penalties) else given
