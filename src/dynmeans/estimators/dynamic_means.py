"""DynamicMeans: clusters that persist, move, appear, vanish and come back."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import NoneType
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dynmeans.algorithm.forecast import Forecast, forecast
from dynmeans.algorithm.life_cycle import find_events
from dynmeans.engine.batch import AnyBatch
from dynmeans.engine.checks import checked_elapsed, one_for_each
from dynmeans.engine.sequence import step_sequence
from dynmeans.estimators.base import HistoryKeeper
from dynmeans.estimators.cluster_estimator import ClusterEstimator
from dynmeans.estimators.early_forgetting import warn_of_early_forgetting
from dynmeans.estimators.family_keeping import FamilyKeeper
from dynmeans.estimators.named_batches import labels_like, named_batches
from dynmeans.inputs.batch_times import checked_when, steps_between
from dynmeans.inputs.features import feature_numbers
from dynmeans.inputs.numbers import checked_number
from dynmeans.parameters.suggest import first_batches
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.history import History
from dynmeans.records.penalties import AUTO, DEFAULT_MOTION, Penalties, penalties_with_defaults
from dynmeans.records.state import ClusterState

_FINER = 1.5  # Too many pieces are joined by families; too few cannot be cut.
_PLAIN = {float, int, str, NoneType, tuple}


def _checked_penalties(new_penalty: Any, *others: Any) -> Penalties:
    names = ("max_gap", "reach", "revival_penalty", "drift", "revival", "motion", "moving")
    return penalties_with_defaults(new_penalty, **dict(zip(names, others, strict=True)))


# Checking them takes as long as a quarter of a small step, and they seldom change.
_penalties_of = lru_cache(maxsize=64)(_checked_penalties)


class DynamicMeans(FamilyKeeper, HistoryKeeper, ClusterEstimator):
    """Cluster batches one after the other; every cluster keeps its identity for life.

    Parameters
    ----------
    penalties : Penalties, float or "auto", default="auto"
        All penalties as one value, such as `suggest_penalties` returns; or lambda alone, with
        `max_gap` and `reach` beside it. "auto" chooses lambda from the first batch that has
        points, and with it `max_gap` and `reach`, where you give none, from the first 30 batches
        if they come together (`fit_sequence`). What was chosen is in `penalties_` and in the log.
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
        is the one that gives as many. With `families` it chooses the level of `families_`, and
        with "auto" lambda is then a bit finer.
    families : bool, default=False
        Whether to gather evidence for identities that belong together: see `families_`.
    min_cluster_size, min_life : float and int, default=1
        Points, and batches, that an identity must have held so far to be in `confirmed_labels_`.
    n_init : int, default=3
        Random visiting orders tried on every batch; the one of lowest cost is kept.
    order : {"random", "hash"}, default="random"
        How visiting orders are made: from what the rows hold, blind to how they are arranged; or
        from their numbers, as always for a batch on a Dask cluster.
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
    backend : {"native", "reference", "gpu"}, default="native"
        Compiled code, the specification in NumPy, or an NVIDIA GPU. All give the same labels. A
        batch that lies on a GPU is clustered there by itself.
    acceleration : {"auto", "none"}, default="auto"
        Whether the compiled code may leave out comparisons that cannot change a label.
    n_threads : int, optional
        By default all cores for large batches, one for small ones. The result never depends on it.
    max_clusters : int, optional
        Refuse a batch that would leave more clusters remembered, with `ClusterLimitError` and
        without any change; one that clearly would is refused before it is clustered. By default
        there is a `ClusterGrowthWarning` from 10,000 on, at every doubling.
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
        `min_life`); confirmed later, they have kept their number.
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
        time_step : float or timedelta, optional
            Length of one step, where `elapsed` is a length of time.
        sample_weight : array-like of shape (n_points,), optional
            A row of weight 2 counts as two identical rows, one of weight 0 takes no part.
        """
        with self._all_or_nothing():
            elapsed = checked_elapsed(steps_between(elapsed, None, time_step))
            is_first = not hasattr(self, "state_")
            batch = self._checked_batch(X, sample_weight, reset=is_first)
            state = ClusterState.empty(batch.n_features) if is_first else self.state_
            self._take_in(batch, state, elapsed)
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
        """Forget everything and take in a whole sequence of batches.

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
            Identity of every row of every batch; with the index of a pandas frame, as a series of
            polars for one of polars.
        history : History
            The record of every batch: clusters seen and remembered, cost, passes.
        """
        given, names = named_batches(batches)
        named = names if times is None else times
        when = [None] * len(given) if named is None else checked_when(named, len(given))
        elapsed = steps_between(elapsed, None if named is None else when, time_step)
        labels = []
        with self._all_or_nothing():
            window = self._checked_window()
            self._start_over()
            rows, gaps = self._checked_sequence(given, elapsed, sample_weight)
            history = History(feature_names=getattr(self, "feature_names_in_", None))
            n = first_batches(rows)
            penalties = self._settle_penalties(rows[:n], gaps[:n])
            before, last = self.state_, None
            steps = step_sequence(rows, penalties, self._visiting_orders(), gaps, self._execution())
            for batch, gap, date, (after, clustering) in zip(rows, gaps, when, steps, strict=True):
                if gap < 1.0 and last is not None:
                    warn_of_early_forgetting(last, gap, penalties)
                history.append(before, gap, clustering, after, find_events, date)
                self._follow_lives(batch, clustering, after, gap)
                labels.append(clustering.labels)
                last, before = (before, gap, clustering, after), after
            assert last is not None, "there is at least one batch"
            self._remember(*last)
            if self.keep_history is not False:
                self.history_ = history.last(window)
        like = zip(given, labels, strict=True)
        return [labels_like(batch, found) for batch, found in like], history

    @property
    def cluster_velocities_(self) -> FloatArray:
        """How far each remembered cluster moves in a step of time."""
        velocities = self.state_.velocities
        return np.zeros_like(self.state_.centers) if velocities is None else velocities

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
            Look ahead: the identities in a batch that comes so many steps after the last one.
        """
        return self._predict_labels(X, 0.0 if elapsed is None else checked_elapsed(elapsed))[0]

    def forecast(self, elapsed: float = 1.0) -> Forecast:
        """Say where every remembered cluster is expected, so many steps after the last batch.

        Returns
        -------
        Forecast
            `ids`, `centers`, and `radii`: how far from its center a point may be and still be
            taken for the cluster, if no other is nearer.

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
        return forecast(self.state_, checked_elapsed(elapsed), self._penalties())

    def _checked_sequence(
        self, batches: list[Any], elapsed: Any, sample_weight: Any
    ) -> tuple[list[AnyBatch], list[float]]:
        """Check every batch before the first is taken in."""
        gaps = one_for_each("elapsed", elapsed, len(batches))
        weights = one_for_each("sample_weight", sample_weight, len(batches))
        rows: list[AnyBatch] = []
        for t, X in enumerate(batches):
            try:
                rows.append(self._checked_batch(X, weights[t], reset=not rows))
                gaps[t] = checked_elapsed(gaps[t])
            except (TypeError, ValueError) as error:
                raise type(error)(f"batches[{t}]: {error}") from error
            if t == 0:
                self.state_ = ClusterState.empty(self.n_features_in_)
        return rows, gaps

    def _take_in(self, batch: AnyBatch, state: ClusterState, elapsed: float) -> None:
        window = self._checked_window()
        super()._take_in(batch, state, elapsed)
        self._record(window)
        _, _, clustering, after = self._last_step
        self._follow_lives(batch, clustering, after, elapsed)

    @property
    def events_(self) -> list[Event]:
        """What the last batch did to each cluster: born, moved, vanished, returned, ..."""
        return [*super().events_, *self._joins()]

    def _penalties_for(self, given: Penalties | float) -> Penalties:
        others = (self.max_gap, self.reach, self.revival_penalty, self.drift)
        if isinstance(given, Penalties):
            _refuse_more(others)
            return self._adopted(given)
        values = (
            *(given, *others, "paper" if self.revival is None else self.revival),
            *(self.motion or DEFAULT_MOTION, self._moving_features()),
        )
        if set(map(type, values)) <= _PLAIN:
            return _penalties_of(*values)
        return _checked_penalties(*values)

    def _moving_features(self) -> tuple[int, ...] | None:
        if self.moving is None:
            return None
        names = getattr(self, "feature_names_in_", None)
        return feature_numbers(self.moving, getattr(self, "n_features_in_", None), names)

    def _adopted(self, suggested: Penalties) -> Penalties:
        adopted = suggested if self.revival is None else suggested.with_revival(self.revival)
        if self.motion is None and self.moving is None:
            return adopted
        motion = adopted.motion if self.motion is None else self.motion
        return adopted.with_motion(motion, self._moving_features())

    def _suggestable(self) -> dict[str, Any]:
        if self.revival_penalty is not None or self.drift is not None:
            raise ValueError(
                'penalties="auto" goes with max_gap and reach, not with revival_penalty and '
                f"drift, got {self.revival_penalty!r} and {self.drift!r}."
            )
        return {
            "max_gap": self.max_gap,
            "reach": self.reach,
            "n_clusters": self._n_wanted(),
            "motion": self.motion,
            "moving": self._moving_features(),
        }

    def _given(self) -> Penalties | float | None:
        is_number_given = self.n_clusters is not None and not self.families
        return None if is_number_given else super()._given()

    def _n_wanted(self) -> float | None:
        """Clusters of a batch; more than asked for where families will join them."""
        if self.n_clusters is None:
            return None
        n_clusters = checked_number("n_clusters", self.n_clusters, above=0)
        return _FINER * n_clusters if self.families else n_clusters


def _refuse_more(others: Sequence[float | None]) -> None:
    names = ("max_gap", "reach", "revival_penalty", "drift")
    more = [name for name, value in zip(names, others, strict=True) if value is not None]
    if more:
        raise ValueError(
            f"penalties hold {', '.join(names)} already: give either penalties or "
            f"{', '.join(more)}, and not both."
        )
