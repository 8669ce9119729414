"""DynamicMeans: clusters that persist, move, appear, vanish and come back."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dynmeans.algorithm.forecast import Forecast
from dynmeans.engine.batch import AnyBatch, make_rows
from dynmeans.engine.checks import check_elapsed
from dynmeans.engine.execution import DEFAULT, Execution, get_execution
from dynmeans.estimators.fitted_attributes import FittedAttributes
from dynmeans.estimators.input_checks import (
    HasLock,
    RollbackOnError,
    acquire_lock,
    check_batch,
    check_batches,
    check_one_batch,
    check_rows,
    check_window,
    keep_step,
    start_over,
    steps_until,
)
from dynmeans.estimators.named_batches import labels_in_type_of, parse_batches
from dynmeans.follow.early_forgetting import warn_early_forgetting
from dynmeans.follow.follow import Step, follow, follow_all, follow_if_small, labels_of, make_plan
from dynmeans.follow.init_memory import begin
from dynmeans.follow.memory import Memory
from dynmeans.follow.model_config import ModelConfig, add_parameter_docs
from dynmeans.follow.predict import distances_to_centers, forecast_clusters, predict
from dynmeans.inputs.batch_times import BatchTime
from dynmeans.inputs.old_names import suggest_arguments
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.records.penalties import AUTO, Penalties
from dynmeans.spaces.space import Space

Settings = tuple[ModelConfig, Execution, int | None]  # what the parameters come to


@add_parameter_docs
class DynamicMeans(FittedAttributes, HasLock, TransformerMixin, ClusterMixin, BaseEstimator):
    """Cluster a sequence of batches and track clusters over time.

    Dynamic Means [1]_ is a k-means-like algorithm for data that arrive in batches. The number of
    clusters is not fixed: a point joins the nearest cluster, revives a remembered cluster, or
    starts a new one, whichever costs least. Every cluster keeps one integer ID, also if it moves
    or has no points for some batches.

    Call `partial_fit` for each batch of a stream, or `fit_sequence` for a list of batches. For a
    table with a time column, use `dynmeans.cluster`.

    Parameters
    ----------
    {model_config}
    keep_history : bool or int, default=False
        If True, `history_` stores the record of every batch; an integer keeps only that many of
        the last ones. With True, memory use grows with the length of the stream.

    Attributes
    ----------
    labels_ : array of shape (n_points,)
        Cluster ID of every row of the last batch; -1 for noise if `method` finds noise.
    cluster_ids_ : array of shape (n_clusters,)
        IDs of the remembered clusters, in increasing order.
    cluster_centers_ : array of shape (n_clusters, n_features)
        Positions of the remembered clusters, in the units of the rows.
    cluster_weights_, cluster_ages_ : arrays of shape (n_clusters,)
        Weight of each cluster in observations, and the steps from its last batch to the next one:
        1 if it has points in the last batch.
    cluster_velocities_ : array of shape (n_clusters, n_features)
        Change of position per step; zeros with `motion="random_walk"`.
    cost_, cost_trace_, n_iter_ : float, array, int
        Cost of the last batch (squared distances plus penalties), its value after every pass, and
        the number of passes.
    penalties_ : Penalties
        Penalties in use, given or chosen, in the unit of `space_`.
    space_ : Space
        Fitted feature space.
    n_steps_ : int
        Number of batches processed.
    events_ : list of Event
        Events of the last batch: born, moved, vanished, returned, forgotten, split, merged. With
        `families` also the families that joined an older one since `events_` was last read.
    families_ : Families
        Families of the clusters so far. Only with `families=True`. The ID of a family is the ID of
        its oldest cluster and does not change.
    family_labels_ : array of shape (n_points,)
        Family ID of every row of the last batch. Only with `families=True`.
    confirmed_labels_ : array of shape (n_points,)
        `labels_` with -1 for clusters that are not confirmed yet (`min_cluster_size`,
        `min_batches`). A cluster that is confirmed later keeps its ID.
    history_ : History
        Records of the batches. Only with `keep_history`.
    memory_ : Memory
        Everything that is kept between batches. `memory_.save(path)` writes it to a file, and
        `from_memory` continues from it.
    state_ : ClusterState
        The remembered clusters as arrays. Only with `space="raw"`.
    n_features_in_, feature_names_in_ : int, array
        As in scikit-learn.

    Warns
    -----
    SuggestionWarning
        If penalties were chosen automatically and may be poor.
    ClusterGrowthWarning
        If the number of remembered clusters is large and still growing.

    See Also
    --------
    dynmeans.cluster : Cluster a table with a time column in one call.
    DPMeans : The same algorithm for a single batch, without memory.
    DDPMixture : The Bayesian mixture model of which Dynamic Means is the small-variance limit.
    suggest_penalties : Choose penalties from data without labels.
    tune : Choose penalties with labels.
    find_families : Merge clusters into clusters of any shape.

    Notes
    -----
    Each pass visits all points (Algorithm 2 of [1]_) and is kept only if it lowers the cost, so a
    batch converges after finitely many passes to a local minimum that depends on the visiting order
    (`n_init`). For the same input and `random_state`, labels, centers and costs are bitwise
    identical for any number of threads and any backend. By default the search differs from
    the paper: a cluster that clearly contains two groups is split; `search="paper"` gives the
    published algorithm. An estimator must not be used by two threads at the same time.

    References
    ----------
    .. [1] T. Campbell, M. Liu, B. Kulis, J. P. How and L. Carin, "Dynamic Clustering via
       Asymptotics of the Dependent Dirichlet Process Mixture", Advances in Neural Information
       Processing Systems 26, 2013.

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

    @suggest_arguments()
    def __init__(
        self,
        penalties: Penalties | float | str = AUTO,
        *,
        new_penalty: float | None = None,
        max_gap: float | None = None,
        reach: float | None = None,
        revival_penalty: float | None = None,
        drift: float | None = None,
        n_clusters: float | tuple[float, float] | None = None,
        motion: str | None = None,
        moving_features: Sequence[str | int | bool] | None = None,
        revival: str | None = None,
        space: str | Space = "raw",
        method: Any = "dynmeans",
        n_init: int = 3,
        search: str = "split",
        random_state: Any = None,
        families: bool = False,
        min_cluster_size: float = 1,
        min_batches: int = 1,
        max_clusters: int | None = None,
        backend: str = "native",
        acceleration: str = "auto",
        n_threads: int | None = None,
        keep_history: bool | int = False,
    ) -> None:
        self.penalties = penalties
        self.new_penalty = new_penalty
        self.max_gap = max_gap
        self.reach = reach
        self.revival_penalty = revival_penalty
        self.drift = drift
        self.n_clusters = n_clusters
        self.motion = motion
        self.moving_features = moving_features
        self.revival = revival
        self.space = space
        self.method = method
        self.n_init = n_init
        self.search = search
        self.random_state = random_state
        self.families = families
        self.min_cluster_size = min_cluster_size
        self.min_batches = min_batches
        self.max_clusters = max_clusters
        self.backend = backend
        self.acceleration = acceleration
        self.n_threads = n_threads
        self.keep_history = keep_history

    def __setattr__(self, name: str, value: Any) -> None:
        """Set it; another parameter makes another model configuration."""
        self.__dict__.pop("_settings", None)
        super().__setattr__(name, value)

    @classmethod
    def from_memory(cls, memory: Memory, **parameters: Any) -> Self:
        """Create an estimator from a saved memory.

        Its labels continue exactly as if it had not been interrupted.

        Penalties, space and seed are those of the memory; give the other parameters of the
        estimator that it came from, where they were not the default.
        """
        if not isinstance(memory, Memory):
            raise TypeError(
                f"memory must be a Memory, got {type(memory).__name__}. It is what "
                "DynamicMeans.memory_ is; read one from a file with Memory.load(path)."
            )
        is_given = "penalties" in parameters or "new_penalty" in parameters
        known = {} if is_given or memory.penalties is None else {"penalties": memory.penalties}
        model = cls(**{**known, "space": memory.space, **parameters})
        model.memory_ = memory
        model.n_features_in_ = memory.n_features
        if memory.feature_names is not None:
            model.feature_names_in_ = np.asarray(memory.feature_names, dtype=object)
        make_plan(model._model_config(), memory)
        return model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Reset the estimator and cluster one batch."""
        with RollbackOnError(self):
            start_over(self)
            batch = self._check_arguments(X, sample_weight, None, 1)
            self._take_in(check_one_batch(batch), 1.0, None)
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
        """Cluster the next batch and update the memory.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The batch. An empty batch, of shape (0, n_features), only lets time pass. A Dask array,
            a Dask data frame or a list of futures is clustered where it lies; `labels_` is then a
            Dask array.
        y : ignored
        elapsed : float or timedelta
            Steps since the previous batch, greater than 0; or a duration, with `time_step`. After a
            larger value, clusters may have moved farther, and more are forgotten.
        time : date, number or str, optional
            When the batch came, for `history_`. With `time_step`, `elapsed` follows from it and
            from the time of the batch before.
        time_step : float or timedelta, optional
            Length of one step, where `elapsed` is a length of time or follows from `time`.
        sample_weight : array-like of shape (n_points,), optional
            A row of weight 2 counts as two identical rows; one of weight 0 is only labeled.
        """
        is_bare = sample_weight is time is time_step is None
        if is_bare and elapsed.__class__ is float and self._try_fast_path(X, elapsed):
            return self
        with RollbackOnError(self):
            steps, when = steps_until(self.__dict__.get("_when"), elapsed, time, time_step)
            memory: Memory | None = self.__dict__.get("memory_")
            n_features = None if memory is None else memory.n_features
            self._take_in(self._check_arguments(X, sample_weight, n_features), steps, when)
        return self

    def fit_sequence(
        self,
        batches: Iterable[Any],
        *,
        elapsed: Any = 1.0,
        times: Sequence[Any] | None = None,
        time_step: Any = None,
        sample_weight: Sequence[Any] | None = None,
    ) -> tuple[list[Any], History]:
        """Reset the estimator and cluster a whole sequence of batches.

        Parameters
        ----------
        batches : iterable of tables
            Arrays or frames; or (name, frame) pairs, a dict of them, or the groups of a frame,
            ``frame.groupby("day")``, whose names are their `times` and no features.
        elapsed : float, timedelta or a sequence of them
            Steps of time before each batch; lengths of time are divided by `time_step`.
        times : sequence of dates, numbers or names, optional
            When each batch came; it goes into the history, its frames, figures and the report.
        time_step : float or timedelta, optional
            Length of one step of time. With it, `elapsed` follows from `times`; without it, each
            batch comes one step after the one before.
        sample_weight : sequence of array-like of shape (n_points,), optional
            For each batch one weight per row, or None.

        Returns
        -------
        labels : list of arrays or series
            Cluster ID of every row of every batch; with the index of a pandas frame, as a series of
            polars for one of polars.
        history : History
            The record of every batch: active and remembered clusters, cost, passes.
        """
        given, when, elapsed = parse_batches(batches, elapsed, times, time_step)
        with RollbackOnError(self):
            model_config, execution, window = self._settle()
            start_over(self)
            rows, gaps = check_batches(self, given, elapsed, sample_weight)
            names = self.__dict__.get("feature_names_in_")
            start = begin(model_config, rows, gaps, feature_names=names)
            memory, steps = follow_all(model_config, start, rows, gaps, execution)
            for t, gap in enumerate(gaps[1:]):
                if gap < 1.0:
                    warn_early_forgetting(steps[t], gap, memory.plan.penalties)
            history = History(None, names)
            history.extend(steps, when)
            self._show(memory, steps[-1], when[-1], (model_config, execution, window))
            if self.keep_history is not False:
                self.__dict__["history_"] = history.last(window)
        found = labels_of(steps)
        if set(map(type, given)) == {np.ndarray}:
            return list(found), history
        return [labels_in_type_of(X, own) for X, own in zip(given, found, strict=True)], history

    def predict(self, X: Any, *, elapsed: float | None = None) -> IntArray:
        """Return the ID of the nearest cluster of each row, or -1 if it would start a new cluster.

        Nothing is changed. On the batch just fitted this equals `labels_`, except for points on the
        very border of two clusters if the last pass gained next to nothing (decision 0012).
        A Dask array or data frame gives a Dask array, computed on access.

        Parameters
        ----------
        X : array-like or data frame of shape (n_points, n_features)
            The rows.
        elapsed : float, optional
            Predict for a batch this many steps after the last one. Default: the last batch itself.
        """
        labels: IntArray = self._predict(X, 0.0 if elapsed is None else check_elapsed(elapsed))[0]
        return labels

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative cost of assigning these rows to the present clusters.

        A higher value is better.
        """
        return -float(self._predict(X)[1].sum())

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row to each of `cluster_centers_`, in the unit of `space_`.

        A Dask array or data frame gives a Dask array, computed on access.
        """
        found: FloatArray = distances_to_centers(self.memory_, self._rows(X))
        return found

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns of `transform` after the IDs of the clusters."""
        check_is_fitted(self, "memory_")
        return np.array([f"dynamicmeans{i}" for i in self.cluster_ids_], dtype=object)

    def forecast(self, elapsed: float = 1.0) -> Forecast:
        """Predict the position of every remembered cluster, some steps after the last batch.

        Returns
        -------
        Forecast
            `ids`, `centers`, and `radii`: how far from its center a point may be and still be
            assigned to the cluster, if no other is nearer, in the unit of `space_`.

        Examples
        --------
        >>> batches = [[[0.0]], [[1.0]], [[2.0]], [[3.0]]]
        >>> model = DynamicMeans(9.0, reach=2.0, motion="constant_velocity", random_state=0)
        >>> labels, _ = model.fit_sequence(batches)
        >>> found = model.forecast(2.0)
        >>> found.ids.tolist(), bool(found.centers[0, 0] > 4.0)
        ([0], True)
        """
        check_is_fitted(self, "memory_")
        return forecast_clusters(self._model_config(), self.memory_, check_elapsed(elapsed))

    def _settle(self) -> Settings:
        """Return what the parameters come to; it is worked out again where one was replaced."""
        known: Settings | None = self.__dict__.get("_settings")
        if known is not None:
            return known
        execution = get_execution(self.backend, self.acceleration, self.n_threads, None)
        return self._model_config(), execution, check_window(self.keep_history)

    def _try_fast_path(self, X: Any, elapsed: float) -> bool:
        """Process a small batch in one call into C++, if the parameters were settled before."""
        own = self.__dict__
        if "_settings" not in own or "feature_names_in_" in own:
            return False
        lock = acquire_lock(self)
        try:
            followed = follow_if_small(own["memory_"], X, elapsed)
            if followed is None:
                return False
            own["memory_"], own["_step"] = followed
            own["_when"] = None
            if self.keep_history is not False:
                keep_step(self, followed[1], None)
        finally:
            lock.release()
        return True

    def _check_arguments(
        self, X: Any, sample_weight: Any, n_features: int | None, min_points: int = 0
    ) -> AnyBatch:
        """Check a batch; on a GPU, if it is clustered there."""
        is_sent = self.backend != "native" and self.space == "raw"
        execution = self._settle()[1] if is_sent else DEFAULT
        return check_batch(self, X, sample_weight, n_features, min_points, execution)

    def _take_in(self, batch: AnyBatch, elapsed: float, when: BatchTime | None) -> None:
        settings = model_config, execution, _ = self._settle()
        memory, last = self.__dict__.get("memory_"), self.__dict__.get("_step")
        if memory is None:
            memory = begin(
                model_config, [batch], elapsed, feature_names=self.__dict__.get("feature_names_in_")
            )
        memory, step = follow(model_config, memory, batch, elapsed, execution)
        if elapsed < 1.0 and last is not None:
            warn_early_forgetting(last, elapsed, memory.plan.penalties)
        self._show(memory, step.with_points(None), when, settings)  # the rows are not kept
        keep_step(self, self.__dict__["_step"], when)

    def _show(self, memory: Memory, step: Step, when: BatchTime | None, settings: Settings) -> None:
        """Make the last batch and the memory after it what the estimator shows."""
        self.__dict__.update(memory_=memory, _step=step, _when=when)
        if not isinstance(self.moving_features, list):  # which may change in place
            self.__dict__["_settings"] = settings

    def _rows(self, X: Any) -> Any:
        """Check rows that change nothing, wherever they lie."""
        check_is_fitted(self, "memory_")
        n_features = self.memory_.n_features
        return make_rows(X, n_features, rows_of=partial(check_rows, self, n_features=n_features))

    def _predict(self, X: Any, elapsed: float = 0.0) -> tuple[Any, Any]:
        (model_config, execution, _), rows = self._settle(), self._rows(X)
        return predict(model_config, self.memory_, rows, elapsed, execution)
