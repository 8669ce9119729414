"""What every estimator does around its mathematics: check, seed, all or nothing, history."""

from abc import ABC
from threading import get_ident
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from dynmeans.algorithm.life_cycle import find_events
from dynmeans.engine.checks import (
    check_size,
    checked_coordinates,
    checked_elapsed,
    entropy_of_seed,
    is_checked_batch,
    refuse_masked,
)
from dynmeans.inputs.batch_times import When, as_when, checked_when, steps_between
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.records.events import Event
from dynmeans.records.history import History
from dynmeans.records.state import Clustering, ClusterState

_HIDDEN = ("_last_step", "_last_when", "_evidence", "_lives", "_found", "_looked_at", "_settings")


class StreamEstimator(ClusterMixin, BaseEstimator, ABC):
    """An estimator whose fitted self is a state with one row for each remembered cluster."""

    state_: Any
    random_state: Any
    _dtypes: Any = np.float64

    @property
    def cluster_ids_(self) -> IntArray:
        """Identities of the remembered clusters."""
        ids: IntArray = self.state_.ids
        return ids

    @property
    def cluster_centers_(self) -> FloatArray:
        """Positions of the remembered clusters when last seen."""
        centers: FloatArray = self.state_.centers
        return centers

    @property
    def cluster_ages_(self) -> FloatArray:
        """Steps of time since each was last seen; 1 means in the last batch."""
        ages: FloatArray = self.state_.ages
        return ages

    @property
    def n_steps_(self) -> int:
        """Batches taken in so far, empty ones included."""
        return int(self.state_.n_steps)

    @classmethod
    def _from_state(cls, state: Any, state_type: type[Any], parameters: dict[str, Any]) -> Self:
        if not isinstance(state, state_type):
            raise TypeError(
                f"state must be a {state_type.__name__}, got {state!r}. "
                f"Read one from a file with {state_type.__name__}.load(path)."
            )
        model = cls(**parameters)
        model.state_ = state
        model.n_features_in_ = state.n_features
        return model

    def _checked_points(self, X: Any, *, reset: bool, min_points: int = 1) -> BatchArray:
        if self._is_plain_start(X) if reset else self._is_ready(X):
            ready: BatchArray = X
            return ready
        if hasattr(X, "shape") and len(X.shape):
            check_size("X", X.shape[0])
        refuse_masked("X", X)
        points = validate_data(
            self, X, reset=reset, dtype=self._dtypes, order="C", ensure_min_samples=min_points
        )
        # A state that was set by hand has told scikit-learn nothing of its features.
        if not reset and points.shape[1] != self.state_.n_features:
            raise ValueError(
                f"X has {points.shape[1]} features, but the state was built with "
                f"{self.state_.n_features}. Call fit() to start over."
            )
        return checked_coordinates(points, "X")

    def _is_plain_start(self, X: Any) -> bool:
        """Say whether a first batch is ready; if so, note its features as scikit-learn would."""
        if type(X) is not np.ndarray or X.ndim != 2 or not X.size:
            return False
        allow_float32 = self._dtypes is not np.float64
        is_plain = is_checked_batch(X, X.shape[1], allow_float32=allow_float32)
        if is_plain:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        return is_plain

    def _is_ready(self, X: Any) -> bool:
        """Say whether X is a plain array that needs neither conversion nor complaint."""
        allow_float32 = self._dtypes is not np.float64
        return (
            is_checked_batch(X, self.state_.n_features, allow_float32=allow_float32)
            and len(X) > 0
            and "feature_names_in_" not in self.__dict__
        )

    def _start_over(self) -> None:
        """Forget every fitted attribute; on failure `_all_or_nothing` brings them back."""
        for name in [name for name in self.__dict__ if name.endswith("_") or name in _HIDDEN]:
            delattr(self, name)
        self._draw_entropy()

    def _entropy_drawn(self) -> int:
        """Draw once; with the number of the batch it seeds each batch by itself."""
        if not hasattr(self, "_entropy"):
            self._draw_entropy()
        return self._entropy

    def _draw_entropy(self) -> None:
        seed = self.random_state
        if type(seed) is int and 0 <= seed < 2**32:  # the same number, without making a generator
            self._entropy = entropy_of_seed(seed)
            return
        try:
            random = check_random_state(seed)
        except ValueError as error:
            raise ValueError(
                "random_state must be None, an integer from 0 to 2**32 - 1 or a RandomState, "
                f"got {self.random_state!r}."
            ) from error
        self._entropy = int(random.randint(2**63, dtype=np.int64))

    def _all_or_nothing(self) -> "_AllOrNothing":
        """Leave every attribute as it was if anything fails inside; let in one thread at a time."""
        return _AllOrNothing(self.__dict__)


class _AllOrNothing:
    """A plain class: a generator would cost a tenth of a small step."""

    __slots__ = ("_attributes", "_before", "_key", "_thread")

    def __init__(self, attributes: dict[str, Any]) -> None:
        self._attributes = attributes
        self._key = id(attributes)
        self._thread = get_ident()

    def __enter__(self) -> None:
        first = _in_use.setdefault(self._key, self)
        if first is not self and first._thread != self._thread:
            raise RuntimeError(
                "this estimator is taking in a batch in another thread. Give each thread an "
                "estimator of its own, or let them wait for each other."
            )
        self._before = self._attributes.copy()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._attributes.clear()
            self._attributes.update(self._before)
        if _in_use[self._key] is self:  # and not one inside another
            del _in_use[self._key]


# Who is taking in a batch now. Not kept in the estimators: they can be copied and pickled.
_in_use: dict[int, _AllOrNothing] = {}


class HistoryKeeper:
    """Gives `events_` and `history_` to an estimator that sets `_last_step` after each batch."""

    keep_history: bool | int
    history_: History
    _last_step: tuple[ClusterState, float, Clustering, ClusterState]
    _last_when: When | None = None

    def _elapsed_until(self, elapsed: Any, time: Any, time_step: Any) -> float:
        """Return the steps before a batch, and keep when it came."""
        if time is None and time_step is None and type(elapsed) is float:
            self._last_when = None
            return checked_elapsed(elapsed)
        before, self._last_when = self._last_when, as_when(time)
        if time is None or time_step is None or before is None:
            return checked_elapsed(
                steps_between(elapsed, None, time_step if time is None else None)
            )
        when = checked_when([before, self._last_when], 2)
        return checked_elapsed(steps_between(elapsed, when, time_step)[1])

    @property
    def events_(self) -> list[Event]:
        """What the last batch did to each cluster: born, moved, vanished, returned, ..."""
        if not hasattr(self, "_last_step"):
            raise AttributeError("events_ is there after the first batch; none was taken in yet.")
        return find_events(*self._last_step)

    def _record(self, window: int | None) -> None:
        """Append the last step to `history_`, where `keep_history` asks for it."""
        if self.keep_history is False:
            return
        if self._last_step[0].n_steps == 0 or not hasattr(self, "history_"):
            self.history_ = self._new_history(window)
        elif self.history_.window != window:
            self.history_ = self.history_.last(window)
        self._append_to(self.history_)

    def _new_history(self, window: int | None = None) -> History:
        return History(window, getattr(self, "feature_names_in_", None))

    def _append_to(self, history: History) -> None:
        history.append(*self._last_step, find_events, self._last_when)

    def _checked_window(self) -> int | None:
        """The number of batches to keep: None for all of them."""
        if isinstance(self.keep_history, bool):
            return None
        if not isinstance(self.keep_history, int | np.integer):
            raise TypeError(
                "keep_history must be True, False or a number of batches, "
                f"got {self.keep_history!r}."
            )
        if self.keep_history < 1:
            raise ValueError(f"keep_history must be at least 1, got {self.keep_history!r}.")
        return int(self.keep_history)
