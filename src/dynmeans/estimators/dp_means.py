"""DPMeans: the number of clusters found from the data, one batch, no memory."""

from typing import Any, Self

from dynmeans.estimators.cluster_estimator import ClusterEstimator
from dynmeans.records.penalties import AUTO, Penalties, dp_means_penalties


class DPMeans(ClusterEstimator):
    """DP-Means (Kulis and Jordan, 2012): k-means that finds the number of clusters.

    It starts as Algorithm 2 does with nothing remembered, from no clusters, and not with all
    points in one as Kulis and Jordan do (decision 0016).

    Parameters
    ----------
    penalties : Penalties, float or "auto", default="auto"
        lambda: how far, as a squared distance, a point may be from every cluster before it opens
        a new one; a number, or that of a `Penalties`. "auto" chooses it from the points
        (`suggest_penalties`).
    new_penalty : float, optional
        lambda by name, in place of `penalties`.
    n_init : int, default=3
        Random visiting orders tried; the one with the lowest cost is kept.
    order : {"random", "hash"}, default="random"
        How visiting orders are made: from the content of the rows, whatever order they come in; or
        from their row numbers, as always for a batch on a Dask cluster.
    backend : {"native", "reference", "gpu", "auto"}, default="native"
        Compiled code, the specification in NumPy, or an NVIDIA GPU. All give the same labels. A
        batch on a GPU is clustered there automatically.
    acceleration : {"auto", "none"}, default="auto"
        Whether the compiled code may leave out comparisons that cannot change a label.
    n_threads : int, optional
        By default all cores for large batches, one for small ones. The result never depends on it.
    max_clusters : int, optional
        Refuse a batch that would have more clusters, with `ClusterLimitError` and
        without any change; one that clearly would is refused before it is clustered. By default
        there is a `ClusterGrowthWarning` above 10,000, unless most hold more than two points.
    random_state : int, RandomState instance or None, default=None
        Source of the visiting orders.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Cluster of every row, counted from 0.
    cluster_ids_, cluster_centers_, cluster_weights_, cluster_ages_ : arrays
        The clusters, one row each; weights are their sizes.
    penalties_ : Penalties
        lambda as given or chosen.
    cost_, cost_trace_, n_iter_ : float, array, int
        Cost, its value after every pass, and the number of passes.

    Examples
    --------
    >>> from dynmeans import DPMeans
    >>> model = DPMeans(new_penalty=1.0, random_state=0).fit([[0.0], [0.5], [9.0]])
    >>> len(model.cluster_centers_), model.predict([[8.8], [4.0]]).tolist()
    (2, [1, -1])
    """

    def __init__(
        self,
        penalties: Penalties | float | str = AUTO,
        *,
        new_penalty: float | None = None,
        n_init: int = 3,
        order: str = "random",
        backend: str = "native",
        acceleration: str = "auto",
        n_threads: int | None = None,
        max_clusters: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.penalties = penalties
        self.new_penalty = new_penalty
        self.n_init = n_init
        self.order = order
        self.backend = backend
        self.acceleration = acceleration
        self.n_threads = n_threads
        self.max_clusters = max_clusters
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster one batch by itself."""
        with self._all_or_nothing():
            self._fit_one_batch(X, sample_weight)
        return self

    def _penalties_for(self, given: Penalties | float) -> Penalties:
        return dp_means_penalties(given)

    def _adopted(self, suggested: Penalties) -> Penalties:
        return dp_means_penalties(suggested)

    def _suggestable(self) -> dict[str, Any]:
        return {}
