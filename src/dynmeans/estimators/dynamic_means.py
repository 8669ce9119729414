"""DynamicMeans: clusters that persist, move, appear, vanish and come back."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from dynmeans.algorithm.forecast import Forecast, forecast
from dynmeans.engine.checks import checked_elapsed
from dynmeans.estimators.penalty_choice import PenaltyChooser
from dynmeans.estimators.sequence_fitting import SequenceFitter
from dynmeans.records.arrays import IntArray
from dynmeans.records.events import Event
from dynmeans.records.penalties import AUTO, Penalties
from dynmeans.records.state import ClusterState


class DynamicMeans(SequenceFitter, PenaltyChooser):
    """Cluster batches one after the other; every cluster keeps its identity for life.

    Parameters
    ----------
    penalties : Penalties, float or "auto", default="auto"
        All penalties as one value, such as `suggest_penalties` returns; or only lambda, with
        `max_gap` and `reach` as separate arguments. "auto" chooses lambda from the first batch
        that has points; in `fit_sequence` it chooses lambda, and `max_gap` and `reach` where you
        give none, from the first 30 batches. What was chosen is in `penalties_` and in the log.
    new_penalty : float, optional
        lambda by name, in place of `penalties`. How far, as a squared distance, a point may be
        from every cluster before it opens a new one. The one parameter that depends on the scale
        of your data.
    max_gap : float, optional
        N_Q. A cluster comes back under its identity if fewer steps than this have passed since it
        was last seen. The step in which it returns counts: 6.8 allows six steps, so five missed
        batches in between; 5 allows three, and 2 none. Greater than 1, infinity for never
        forgetting. 6.8 unless you give `revival_penalty`.
    reach : float, optional
        k_tau. How far a cluster may have moved since the last batch and still be recognized, as
        a squared distance in units of `new_penalty`; at least 1. 1.2 unless you give `drift`.
    revival_penalty, drift : float, optional
        Q and tau, the paper's other parameterization, in place of `max_gap` and `reach`.
    n_clusters : float, optional
        About how many clusters a batch holds. Fixes the scale in place of `penalties`: lambda
        is chosen to give about that many. With `families` it chooses the level of `families_`, and
        with "auto" lambda is then a bit finer.
    families : bool, default=False
        Whether to gather evidence for identities that belong together: see `families_`.
    min_cluster_size, min_life : float and int, default=1
        Points, and batches, that an identity must have held so far to be in `confirmed_labels_`.
    scale : {"auto", "standard"} or None, default=None
        Whether features are brought to mean 0 and spread 1, as learned from the first batch that
        has points (from the first 30 batches in `fit_sequence`) and kept in `state_`: always, or
        with "auto" only where one feature spreads more than ten times as far as another. Penalties
        and distances are then in those units; centers, velocities and histories in those of the
        data.
    n_init : int, default=3
        Random visiting orders tried on every batch; the one with the lowest cost is kept.
    order : {"random", "hash"}, default="random"
        How visiting orders are made: from the content of the rows, whatever order they come in; or
        from their row numbers, as always for a batch on a Dask cluster.
    revival : {"paper", "exact"}, optional
        The cost of reviving a cluster: equation 5 of the paper, or the true rise of the cost. By
        default that of `penalties`; "paper" where they do not say.
    motion : {"still", "steady"}, optional
        Whether a cluster is expected where it was, as in the paper, or where its velocity takes
        it. By default that of `penalties`, or chosen
        with the rest where they are "auto"; "still" where they do not say.
    moving : list of str, of int or of bool, optional
        Features that keep a course in steady motion: their names, their numbers, or a yes or no
        for each; all by default. The others are expected where they were.
    backend : {"native", "reference", "gpu", "auto"}, default="native"
        Compiled code, the specification in NumPy, or an NVIDIA GPU. All give the same labels. A
        batch on a GPU is clustered there automatically.
    acceleration : {"auto", "none"}, default="auto"
        Whether the compiled code may leave out comparisons that cannot change a label.
    n_threads : int, optional
        By default all cores for large batches, one for small ones. The result never depends on it.
    max_clusters : int, optional
        Refuse a batch that would leave more clusters remembered, with `ClusterLimitError` and
        without any change; one that clearly would is refused before it is clustered. By default
        there is a `ClusterGrowthWarning` from 10,000 on, at every doubling, unless most hold more
        than two points of the batch.
    keep_history : bool or int, default=False
        Whether `history_` keeps the record of all batches; a number keeps only that many of the
        last ones.
    random_state : int, RandomState instance or None, default=None
        Source of the visiting orders.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Identity of every row of the last batch.
    cluster_ids_, cluster_centers_, cluster_weights_, cluster_ages_ : arrays
        The remembered clusters, one row each.
    cluster_velocities_ : array of shape (n_clusters, n_features)
        How far each moves in a step of time; zeros in still motion.
    cost_, cost_trace_, n_iter_ : float, array, int
        Cost of the last batch, its value after every pass, and the number of passes.
    penalties_ : Penalties
        lambda, max_gap and reach, and Q and tau, as given or chosen.
    n_steps_ : int
        Batches taken in so far.
    events_ : list of Event
        What the last batch did to each cluster; with `families` also which families joined an
        older one since this was last asked for.
    families_ : Families
        With `families`, the identities that belong together by all evidence so far. A family is
        named after its oldest member, and keeps the name for life.
    family_labels_ : array of shape (n_points,)
        With `families`, the family of every row of the last batch.
    confirmed_labels_ : array of shape (n_points,)
        `labels_` with -1 for identities that are not confirmed yet (`min_cluster_size`,
        `min_life`); if they are confirmed later, they keep their number.
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
        penalties: Penalties | float | str = AUTO,
        *,
        new_penalty: float | None = None,
        max_gap: float | None = None,
        reach: float | None = None,
        revival_penalty: float | None = None,
        drift: float | None = None,
        n_clusters: float | None = None,
        families: bool = False,
        min_cluster_size: float = 1,
        min_life: int = 1,
        scale: str | None = None,
        n_init: int = 3,
        order: str = "random",
        revival: str | None = None,
        motion: str | None = None,
        moving: Sequence[str | int | bool] | None = None,
        backend: str = "native",
        acceleration: str = "auto",
        n_threads: int | None = None,
        max_clusters: int | None = None,
        keep_history: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.penalties = penalties
        self.new_penalty = new_penalty
        self.max_gap = max_gap
        self.reach = reach
        self.revival_penalty = revival_penalty
        self.drift = drift
        self.n_clusters = n_clusters
        self.families = families
        self.min_cluster_size = min_cluster_size
        self.min_life = min_life
        self.scale = scale
        self.n_init = n_init
        self.order = order
        self.revival = revival
        self.motion = motion
        self.moving = moving
        self.backend = backend
        self.acceleration = acceleration
        self.n_threads = n_threads
        self.max_clusters = max_clusters
        self.keep_history = keep_history
        self.random_state = random_state

    @classmethod
    def from_state(cls, state: ClusterState, **parameters: Any) -> Self:
        """Return an estimator that continues where `state` stopped.

        With the parameters and the integer `random_state` of the estimator that the state came
        from, it continues label for label. Give its `penalties_` as `penalties`, or the numbers
        that it was given.
        """
        model = cls._from_state(state, ClusterState, parameters)
        if model._is_auto():
            raise ValueError(
                'penalties must be what the state was made with, got "auto". '
                "Give penalties=model.penalties_ of the estimator that the state came from."
            )
        if state.scaling is None and state.next_id > 0 and model.scale == "standard":
            raise ValueError(
                "scale must be what the state was made with, got 'standard', but its features are "
                "as in the data."
            )
        model._penalties()
        return model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything and take in one batch."""
        with self._all_or_nothing():
            self._fit_one_batch(X, sample_weight)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        elapsed: Any = 1.0,
        time: Any = None,
        time_step: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Take in the next batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch. One of shape (0, n_features) only lets time pass. A Dask array, a Dask data
            frame or a list of futures is clustered where it lies; `labels_` is then a Dask array.
        y : ignored
        elapsed : float or timedelta
            Steps of time since the previous batch, greater than 0; or a length of time.
        time : date, number or str, optional
            When the batch came, for `history_`. With `time_step`, `elapsed` follows from it and
            from the time of the batch before.
        time_step : float or timedelta, optional
            Length of one step, where `elapsed` is a length of time or follows from `time`.
        sample_weight : array-like of shape (n_points,), optional
            A row of weight 2 counts as two identical rows, one of weight 0 takes no part.
        """
        with self._all_or_nothing():
            elapsed = self._elapsed_until(elapsed, time, time_step)
            is_first = not hasattr(self, "state_")
            batch = self._checked_batch(X, sample_weight, reset=is_first)
            state = ClusterState.empty(batch.n_features) if is_first else self.state_
            self._take_in(batch, state, elapsed)
        return self

    def predict(self, X: Any, *, elapsed: float | None = None) -> IntArray:
        """Give the identity each row would get now, -1 where a new cluster would be cheaper.

        Nothing is changed. On the batch just fitted this equals `labels_`, but for points on the
        very border of two clusters if the last pass gained next to nothing (decision 0012).
        A Dask array or data frame gives a Dask array, computed when it is asked for.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The rows.
        elapsed : float, optional
            Look ahead: the identities in a batch that comes this many steps after the last one.
        """
        return self._predict_labels(X, 0.0 if elapsed is None else checked_elapsed(elapsed))[0]

    def forecast(self, elapsed: float = 1.0) -> Forecast:
        """Say where every remembered cluster is expected, some steps after the last batch.

        Returns
        -------
        Forecast
            `ids`, `centers`, and `radii`: how far from its center a point may be and still be
            taken for the cluster, if no other is nearer; with `scale`, in scaled units.

        Examples
        --------
        >>> batches = [[[0.0]], [[1.0]], [[2.0]], [[3.0]]]
        >>> model = DynamicMeans(9.0, reach=2.0, motion="steady", random_state=0)
        >>> labels, _ = model.fit_sequence(batches)
        >>> expected = model.forecast(2.0)
        >>> expected.ids.tolist(), bool(expected.centers[0, 0] > 4.0)
        ([0], True)
        """
        check_is_fitted(self, "state_")
        found = forecast(self.state_, checked_elapsed(elapsed), self._penalties())
        scaling = self.state_.scaling
        return found if scaling is None else replace(found, centers=scaling.restore(found.centers))

    @property
    def events_(self) -> list[Event]:
        """What the last batch did to each cluster: born, moved, vanished, returned, ...

        With `families=True` also the families that joined an older one since the last earlier
        batch whose `events_` were read.
        """
        return [*super().events_, *self._joins()]
