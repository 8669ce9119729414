"""What a report is given, checked once: points for every batch, names, times, parameters."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from dynmeans.backends.batch import checked_points
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History

Samples = list[tuple[FloatArray, IntArray]]


def checked_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Return one name for each feature, no two alike."""
    if names is None:
        return tuple(f"feature {column}" for column in range(n_features))
    if len(names) != n_features:
        raise ValueError(
            f"feature_names must hold one name for each of {n_features} features, got {len(names)}."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"feature_names must be different from each other, got {list(names)!r}.")
    return tuple(str(name) for name in names)


def checked_samples(
    points: Sequence[npt.ArrayLike] | None,
    labels: Sequence[npt.ArrayLike] | None,
    history: History,
    n_features: int,
) -> Samples:
    """Return points and labels of every batch; empty ones if no points are given."""
    if points is None:
        none = np.empty((0, n_features)), np.empty(0, dtype=np.int64)
        return [none] * len(history)
    identities = history.labels if labels is None else labels
    for name, batches in (("points", points), ("point_labels", identities)):
        if len(batches) != len(history):
            raise ValueError(
                f"{name} must hold one batch for each of {len(history)} in the history, "
                f"got {len(batches)}."
            )
    pairs = zip(points, identities, strict=True)
    return [_checked_pair(index, *pair, n_features) for index, pair in enumerate(pairs)]


def _checked_pair(
    index: int, points: npt.ArrayLike, labels: npt.ArrayLike, n_features: int
) -> tuple[FloatArray, IntArray]:
    rows, identities = np.asarray(points), np.asarray(labels, dtype=np.int64)
    if rows.size == 0 and identities.size == 0:
        return np.empty((0, n_features)), np.empty(0, dtype=np.int64)
    if rows.shape != (len(identities), n_features):
        raise ValueError(
            f"points must have shape {(len(identities), n_features)} in batch {index}, "
            f"got {rows.shape}."
        )
    return checked_points(rows, n_features).astype(np.float64, copy=False), identities


def checked_times(
    times: Sequence[datetime] | Sequence[float] | FloatArray | None, history: History
) -> tuple[FloatArray, IntArray, bool]:
    """Return when each batch came, the minutes its clock is ahead of UTC, and if it is a date."""
    values = [record.time for record in history] if times is None else list(times)
    if len(values) != len(history):
        raise ValueError(
            f"times must hold one for each of {len(history)} batches, got {len(values)}."
        )
    dates = [value for value in values if isinstance(value, datetime)]
    if dates and len(dates) < len(values):
        raise TypeError("times must be all dates or all numbers, got both.")
    offsets = [date.utcoffset() or timedelta(0) for date in dates] or [timedelta(0)] * len(values)
    when = np.array([_in_seconds(date) for date in dates] or values, dtype=np.float64)
    if not np.isfinite(when).all() or np.any(np.diff(when) <= 0):
        raise ValueError("times must be finite and grow from batch to batch.")
    minutes = np.array([round(offset / timedelta(minutes=1)) for offset in offsets])
    return when, minutes, bool(dates)


def _in_seconds(date: datetime) -> float:
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def described_parameters(parameters: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return names and values as text; numbers in their shortest form."""
    return tuple((str(name), _described(value)) for name, value in parameters.items())


def _described(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}"
    if isinstance(value, list | tuple):
        return ", ".join(_described(item) for item in value)
    return "none" if value is None else str(value)
