"""Batches one after the other, and whole sequences of them, with a history and families."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.engine.batch import AnyBatch, Batch
from dynmeans.engine.checks import are_same, checked_elapsed, one_for_each
from dynmeans.engine.execution import Execution
from dynmeans.engine.sequence import step_sequence
from dynmeans.engine.step import step_batch
from dynmeans.estimators.base import HistoryKeeper
from dynmeans.estimators.early_forgetting import warn_of_early_forgetting
from dynmeans.estimators.family_keeping import FamilyKeeper
from dynmeans.estimators.feature_scaling import FeatureScaler
from dynmeans.estimators.named_batches import labels_like, timed_batches
from dynmeans.parameters.suggest import first_batches
from dynmeans.records.history import History
from dynmeans.records.orders import VisitingOrders
from dynmeans.records.penalties import Penalties
from dynmeans.records.state import ClusterState


class SequenceFitter(FamilyKeeper, HistoryKeeper, FeatureScaler):
    """Takes in batches, and keeps what `keep_history` and `families` ask for."""

    moving: Sequence[str | int | bool] | None
    _settings: "_Settings"

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
        given, when, elapsed = timed_batches(batches, elapsed, times, time_step)
        clusterings = []
        with self._all_or_nothing():
            window = self._checked_window()
            self._start_over()
            rows, gaps = self._checked_sequence(given, elapsed, sample_weight)
            history = self._new_history()
            n = first_batches(rows)
            before = self._scaled_start(self.state_, rows[:n])
            scaling = before.scaling
            rows = [self._scaled(batch, scaling) for batch in rows] if scaling else rows
            penalties = self._settle_penalties(rows[:n], gaps[:n])
            steps = step_sequence(rows, penalties, self._visiting_orders(), gaps, self._execution())
            last = None
            for batch, gap, date, (after, clustering) in zip(rows, gaps, when, steps, strict=True):
                if gap < 1.0 and last is not None:
                    warn_of_early_forgetting(last, gap, penalties)
                history.append(before, gap, clustering, after, find_events, date)
                self._add_evidence(batch, clustering, gap)
                clusterings.append(clustering)
                after = after if scaling is None else replace(after, scaling=scaling)
                last, before = (before, gap, clustering, after), after
            assert last is not None, "there is at least one batch"
            self._remember(*last)
            self._count_lives(clusterings, after)
            self._last_when = when[-1]
            if self.keep_history is not False:
                self.history_ = history.last(window)
        like = zip(given, clusterings, strict=True)
        return [labels_like(batch, found.labels) for batch, found in like], history

    def _checked_sequence(
        self, batches: list[Any], elapsed: Any, sample_weight: Any
    ) -> tuple[list[AnyBatch], list[float]]:
        """Check every batch before the first is taken in."""
        gaps = one_for_each("elapsed", elapsed, len(batches))
        weights = one_for_each("sample_weight", sample_weight, len(batches))
        rows: list[AnyBatch] = []
        for t, X in enumerate(batches):
            try:
                if t > 0 and weights[t] is None and self._is_ready(X):
                    rows.append(Batch(X))
                else:
                    rows.append(self._checked_batch(X, weights[t], reset=t == 0))
                gaps[t] = checked_elapsed(gaps[t])
            except (TypeError, ValueError) as error:
                raise type(error)(f"batches[{t}]: {error}") from error
            if t == 0:
                self.state_ = ClusterState.empty(self.n_features_in_)
        return rows, gaps

    def _take_in(self, batch: AnyBatch, state: ClusterState, elapsed: float) -> None:
        if self.scale is not None or state.scaling is not None:
            state = self._scaled_start(state, [batch])
            batch = self._scaled(batch, state.scaling)
        settings = self._settled(batch, elapsed)
        if elapsed < 1.0 and hasattr(self, "_last_step"):
            warn_of_early_forgetting(self._last_step, elapsed, settings.penalties)
        after, clustering = step_batch(
            batch, state, settings.penalties, settings.orders, elapsed, settings.execution
        )
        self._remember(state, elapsed, clustering, after)
        if self.keep_history is not False:
            self._record(settings.window)
        self._follow_lives(batch, clustering, after, elapsed)

    def _settled(self, batch: AnyBatch, elapsed: float) -> "_Settings":
        """Return what the parameters come to; it is worked out again where one was replaced."""
        known: _Settings | None = getattr(self, "_settings", None)
        if known is not None and are_same(known.parameters, _parameters_of(self)):
            return known
        window = self._checked_window()
        penalties = self._settle_penalties([batch], [elapsed])
        values = (penalties, self._visiting_orders(), self._execution(), window)
        if not hasattr(self, "penalties_"):
            return _Settings((), *values)
        settings = _Settings(_parameters_of(self), *values)
        if self.moving is None or isinstance(self.moving, tuple):  # a list may change in place
            self._settings = settings
        return settings


class _Settings(NamedTuple):
    """The parameters that were checked last, and what they come to."""

    parameters: tuple[Any, ...]
    penalties: Penalties
    orders: VisitingOrders
    execution: Execution
    window: int | None


_parameters_of = attrgetter(
    *("penalties", "new_penalty", "max_gap", "reach", "revival_penalty", "drift", "n_clusters"),
    *("families", "revival", "motion", "moving", "n_init", "order", "backend", "acceleration"),
    *("n_threads", "max_clusters", "keep_history", "penalties_", "_entropy"),
)
