"""Input checks of estimators, as in scikit-learn; a batch that fails changes nothing."""

from functools import partial
from threading import RLock
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from dynmeans.engine.batch import AnyBatch, Batch, prepare_batch
from dynmeans.engine.checks import (
    are_plain_batches,
    broadcast_to_batches,
    check_coordinates,
    check_elapsed,
    check_not_masked,
    check_size,
    is_checked_batch,
)
from dynmeans.engine.execution import DEFAULT, Execution
from dynmeans.follow.follow import Step
from dynmeans.inputs.batch_times import (
    BatchTime,
    check_batch_times,
    parse_batch_time,
    steps_between,
)
from dynmeans.records.arrays import BatchArray
from dynmeans.records.history import History
from dynmeans.spaces.sparse_rows import (
    check_space_of_sparse,
    is_sparse,
    n_projected,
    project_rows,
)

BOTH = (np.float64, np.float32)


class _Unfitted:
    """Raises NotFittedError if it is read; an attribute of the instance takes precedence."""

    def __init__(self, hint: str) -> None:
        self._hint = hint

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        hint = self._hint or (
            f"{owner.__name__} has not clustered a batch yet. "
            f"Call {'partial_fit or fit' if hasattr(owner, 'partial_fit') else 'fit'} first."
        )
        raise NotFittedError(hint)


def until_fitted(hint: str = "") -> Any:
    """Return the value on the class of an attribute that fitting sets on the instance."""
    return _Unfitted(hint)


# What estimators remember beside what they show; scikit-learn hides attributes there too.
_HIDDEN = ("_step", "_when", "_found", "_looked_at", "_settings", "_entropy")


def check_rows(
    model: Any,
    X: Any,
    *,
    n_features: int | None,
    min_points: int = 1,
    dtypes: Any = BOTH,
    is_in_range: bool = False,
) -> BatchArray:
    """Return rows as an array; without `n_features` they are the first, whose names are kept.

    `is_in_range`: they are a plain array whose values were checked before.
    """
    is_first = n_features is None
    if type(X) is np.ndarray and X.ndim == 2 and X.size:  # which may need no conversion
        width = X.shape[1] if n_features is None else n_features
        is_named = not is_first and "feature_names_in_" in model.__dict__
        is_plain = is_in_range or is_checked_batch(X, width, allow_float32=dtypes is BOTH)
        if not is_named and is_plain:
            if is_first:
                model.n_features_in_ = width
                model.__dict__.pop("feature_names_in_", None)
            return X
    if is_sparse(X):
        return _project_sparse(model, X, n_features, min_points)
    if hasattr(X, "shape") and len(X.shape):
        check_size("X", X.shape[0])
    check_not_masked("X", X)
    points = validate_data(
        model,
        X,
        reset=is_first,
        dtype=dtypes,
        order="C",
        ensure_min_samples=min_points,
        ensure_all_finite=False,  # checked below, with a way out that is ours
    )
    # A memory that was made elsewhere has told scikit-learn nothing of its features.
    if not is_first and points.shape[1] != n_features:
        raise ValueError(
            f"X has {points.shape[1]} features, but the state was built with {n_features}. "
            "Call fit() to start over."
        )
    return check_coordinates(points, "X")


def _project_sparse(model: Any, X: Any, n_features: int | None, min_points: int) -> BatchArray:
    """Return the rows of a sparse matrix in few coordinates; its columns are the features."""
    check_space_of_sparse("X", getattr(model, "space", "raw"))
    is_first, known = n_features is None, model.__dict__
    is_resumed = not is_first and "_step" not in known
    if is_resumed and n_features == n_projected(X.shape[-1]) == known["n_features_in_"]:
        # A memory knows the coordinates alone, not how many columns they were projected from.
        model.n_features_in_ = X.shape[1]
    validate_data(
        model,
        X,
        accept_sparse=True,
        reset=is_first,
        ensure_min_samples=min_points,
        ensure_all_finite=False,
    )
    return check_coordinates(project_rows("X", X), "X")


def check_batch(
    model: Any,
    X: Any,
    sample_weight: Any,
    n_features: int | None,
    min_points: int = 0,
    execution: Execution = DEFAULT,
) -> AnyBatch:
    """Check a batch, wherever it lies, and its features against those of the first one."""
    rows_of = partial(check_rows, model, n_features=n_features, min_points=min_points)
    batch = prepare_batch(
        X, sample_weight, n_features, name="X", rows_of=rows_of, execution=execution
    )
    if n_features is None and not is_sparse(X):
        model.n_features_in_ = batch.n_features
    names = batch.feature_names
    if names is not None and n_features is None and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.asarray(names, dtype=object)
    elif names is not None and names != list(getattr(model, "feature_names_in_", names)):
        raise ValueError(
            f"X must have the columns of the first batch, {list(model.feature_names_in_)}, "
            f"in that order, got {names}."
        )
    return batch


def check_batches(
    model: Any, batches: list[Any], elapsed: Any, sample_weight: Any
) -> tuple[list[AnyBatch], list[float]]:
    """Check every batch of a sequence, and the time before each."""
    gaps = broadcast_to_batches("elapsed", elapsed, len(batches))
    first = batches[0]
    is_plain = sample_weight is None and type(elapsed) is float and type(first) is np.ndarray
    if is_plain and first.ndim == 2 and are_plain_batches(batches, first.shape[1]):
        check_elapsed(elapsed)
        model.n_features_in_ = first.shape[1]
        return list(map(Batch, batches)), gaps
    weights = broadcast_to_batches("sample_weight", sample_weight, len(batches))
    rows: list[AnyBatch] = []
    for t, X in enumerate(batches):
        n_features = rows[0].n_features if rows else None
        try:
            rows.append(check_batch(model, X, weights[t], n_features))
            gaps[t] = check_elapsed(gaps[t])
        except (TypeError, ValueError) as error:
            raise type(error)(f"batches[{t}]: {error}") from error
    return rows, gaps


def check_one_batch(batch: AnyBatch) -> AnyBatch:
    """Refuse a batch that nothing can be found in, where it is the only one."""
    if batch.n_points == 0:
        raise ValueError("X must have at least one row, got none.")
    if not batch.has_weight:
        raise ValueError("sample_weight must have a value above 0, got only zeros.")
    return batch


def steps_until(
    before: BatchTime | None, elapsed: Any, time: Any, time_step: Any
) -> tuple[float, BatchTime | None]:
    """Return the steps before a batch, and when it came; `before` is when the last one did."""
    now = parse_batch_time(time)
    if time is None or time_step is None or before is None:
        steps = steps_between(elapsed, None, time_step if time is None else None)
        return check_elapsed(steps), now
    when = check_batch_times([before, now], 2)
    return check_elapsed(steps_between(elapsed, when, time_step)[1]), now


def check_window(keep_history: Any) -> int | None:
    """Return how many batches a history keeps: None for all of them."""
    if isinstance(keep_history, bool):
        return None
    if not isinstance(keep_history, int | np.integer):
        raise TypeError(
            f"keep_history must be True, False or a number of batches, got {keep_history!r}."
        )
    if keep_history < 1:
        raise ValueError(f"keep_history must be at least 1, got {keep_history!r}.")
    return int(keep_history)


def keep_step(model: Any, step: Step, when: BatchTime | None) -> None:
    """Add a batch to `history_`, where `keep_history` asks for it."""
    if model.keep_history is False:
        return
    window, own = check_window(model.keep_history), model.__dict__
    history: History | None = own.get("history_")
    if history is None or step.before.n_steps == 0:
        history = History(window, own.get("feature_names_in_"))
    elif history.window != window:
        history = history.last(window)
    history.append(step, when)
    own["history_"] = history


def start_over(model: Any) -> None:
    """Forget every fitted attribute; on failure `RollbackOnError` brings them back."""
    for name in [name for name in model.__dict__ if name.endswith("_") or name in _HIDDEN]:
        del model.__dict__[name]


def acquire_lock(model: Any) -> Any:
    """Return the lock of an estimator, acquired for this thread."""
    lock = model.__dict__.get("_lock") or model.__dict__.setdefault("_lock", RLock())
    if not lock.acquire(blocking=False):
        raise RuntimeError(
            "this estimator is in use by another thread. Use one estimator per thread, or a lock."
        )
    return lock


class HasLock:
    """An estimator with a lock, which its copies and pickles do not share."""

    def __getstate__(self) -> dict[str, Any]:
        """Return every attribute but the lock."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_lock"}


class RollbackOnError:
    """Leaves an estimator as it was if anything fails inside; lets in one thread at a time."""

    __slots__ = ("_before", "_lock", "_model")

    def __init__(self, model: Any) -> None:
        self._model = model

    def __enter__(self) -> None:
        """Note every attribute."""
        had_lock = "_lock" in self._model.__dict__
        self._lock = acquire_lock(self._model)
        self._before = self._model.__dict__.copy()
        if not had_lock:
            del self._before["_lock"]

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Bring the attributes back if something failed."""
        if kind is not None:
            own = self._model.__dict__
            own.update(self._before)
            for name in sorted(own.keys() - self._before.keys(), reverse=True):  # the lock last
                del own[name]
        self._lock.release()
