"""Followed: identities for life for the clusters of any clusterer."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from dynmeans.engine.checks import checked_elapsed, one_for_each
from dynmeans.estimators.checked_rows import AllOrNothing, start_over
from dynmeans.estimators.dynamic_means import DynamicMeans, view
from dynmeans.estimators.named_batches import labels_like, timed_batches
from dynmeans.inputs.batch_times import steps_between
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.penalties import AUTO, Penalties, given_penalties

_NOISE = -1


class Followed(MetaEstimatorMixin, ClusterMixin, BaseEstimator):
    """Cluster each batch with any clusterer, and give its clusters identities for life.

    The clusters of a batch become weighted points of one Dynamic Means step, with its memory,
    revival and gaps; each gets the identity of the remembered cluster it continues.

    Parameters
    ----------
    clusterer : estimator
        Any scikit-learn clusterer with `fit_predict`: HDBSCAN, DBSCAN, KMeans, a mixture. It is
        cloned for every batch. Rows it labels -1 are noise, and stay -1.
    penalties : Penalties, float or "auto", default="auto"
        All penalties as one value, or lambda alone: how far, as a squared distance, a cluster
        may lie from every remembered one before it is a new one. "auto" takes a quarter of the
        median squared distance between a cluster and its nearest neighbor in the first batch that
        has two: half of that distance.
    max_gap, reach : float, optional
        N_Q and k_tau, as of `DynamicMeans`.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Identity of every row of the last batch; -1 for noise.
    cluster_ids_, cluster_centers_ : arrays
        The remembered clusters: identity, and the mean of their rows where last seen.
    clusterer_ : estimator
        The clusterer as fitted on the last batch.
    follower_ : DynamicMeans
        The memory.
    events_ : list of Event
        What the last batch did to each cluster.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> model = Followed(KMeans(2, n_init=1, random_state=0))
    >>> model.partial_fit([[0.0], [0.1], [9.0], [9.1]]).labels_.tolist()
    [0, 0, 1, 1]
    >>> model.partial_fit([[9.3], [9.2], [0.3]]).labels_.tolist()
    [1, 1, 0]
    """

    def __init__(
        self,
        clusterer: Any,
        *,
        penalties: Penalties | float | str = AUTO,
        max_gap: float | None = None,
        reach: float | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.penalties = penalties
        self.max_gap = max_gap
        self.reach = reach

    cluster_ids_: IntArray = view("follower_.cluster_ids_")
    cluster_centers_: FloatArray = view("follower_.cluster_centers_")
    events_: list[Event] = view("follower_.events_")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and take in one batch."""
        with AllOrNothing(self):
            start_over(self)
            return self.partial_fit(X)

    def partial_fit(
        self, X: Any, y: Any = None, *, elapsed: Any = 1.0, time_step: Any = None
    ) -> Self:
        """Take in the next batch, `elapsed` steps of time, or a length of it, after the last one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch.
        y : ignored
        elapsed : float or timedelta
            Steps of time since the previous batch, greater than 0; or a length of time.
        time_step : float or timedelta, optional
            Length of one step, where `elapsed` is a length of time.
        """
        elapsed = checked_elapsed(steps_between(elapsed, None, time_step))
        is_first = not hasattr(self, "follower_")
        points = validate_data(self, X, reset=is_first, dtype=np.float64)
        clusterer = clone(self.clusterer)
        found = np.asarray(clusterer.fit_predict(points))
        names, rows, sizes = np.unique(found, return_inverse=True, return_counts=True)
        sums = np.zeros((len(names), points.shape[1]))
        np.add.at(sums, rows, points)
        is_cluster = names != _NOISE
        centers = sums[is_cluster] / sizes[is_cluster, None]
        follower = self._follower(centers)
        follower.partial_fit(
            centers, elapsed=elapsed, sample_weight=sizes[is_cluster].astype(np.float64)
        )
        identities = np.full(len(names), _NOISE)
        identities[is_cluster] = follower.labels_
        self.follower_, self.clusterer_ = follower, clusterer
        self.labels_ = identities[rows]
        return self

    def fit_sequence(
        self,
        batches: Iterable[Any],
        *,
        elapsed: Any = 1.0,
        times: Sequence[Any] | None = None,
        time_step: Any = None,
    ) -> list[Any]:
        """Forget everything, take in all batches, and return the identities of their rows.

        Batches, times and lengths of time are taken as by `DynamicMeans.fit_sequence`, and labels
        come back with the index of a pandas frame.
        """
        given, _, elapsed = timed_batches(batches, elapsed, times, time_step)
        gaps = one_for_each("elapsed", elapsed, len(given))
        before = dict(self.__dict__)
        start_over(self)
        try:
            return [
                labels_like(batch, self.partial_fit(batch, elapsed=gap).labels_)
                for batch, gap in zip(given, gaps, strict=True)
            ]
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def predict(self, X: Any) -> IntArray:
        """Give each row the identity of the remembered cluster whose mean is nearest."""
        check_is_fitted(self, "follower_")
        points = validate_data(self, X, reset=False, dtype=np.float64)
        if not len(self.cluster_ids_):
            return np.full(len(points), _NOISE)
        nearest = np.argmin(self.follower_.transform(points), axis=1)
        return np.asarray(self.cluster_ids_[nearest])

    def _follower(self, centers: FloatArray) -> DynamicMeans:
        """Return a copy of the memory; the first one has its lambda from the first two clusters."""
        known = getattr(self, "follower_", None)
        if known is not None and (self._is_settled(known) or len(centers) < 2):
            return _copied(known)
        given = given_penalties(self.penalties)
        if given is None:
            given = 0.25 * _usual_distance(centers) if len(centers) > 1 else 1.0
        parameters: dict[str, Any] = {
            "penalties": given,
            "max_gap": self.max_gap,
            "reach": self.reach,
        }
        if known is not None:
            changed: DynamicMeans = _copied(known).set_params(**parameters)
            return changed
        return DynamicMeans(**parameters, n_init=1, random_state=0)

    def _is_settled(self, known: DynamicMeans) -> bool:
        return given_penalties(self.penalties) is not None or known.cluster_ids_.size > 1


def _usual_distance(centers: FloatArray) -> float:
    squares = np.sum((centers[:, None] - centers) ** 2, axis=2)
    np.fill_diagonal(squares, np.inf)
    return float(np.median(squares.min(axis=1))) or 1.0


def _copied(follower: DynamicMeans) -> DynamicMeans:
    """Return a follower that may fail without harm to this one: states are values."""
    copy: DynamicMeans = clone(follower)
    copy.__dict__.update(follower.__dict__)
    return copy
