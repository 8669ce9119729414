"""What a report is given, checked once: points for every batch, names, times, parameters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import check_points
from dynmeans.inputs.batch_times import BatchTime
from dynmeans.records.arrays import FloatArray, IntArray
from dynmeans.records.history import History
from dynmeans.runs.reading.sampling import Sample

Times = Sequence[datetime] | Sequence[str] | Sequence[float] | Sequence[BatchTime] | FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BatchPoints:
    """Points of one batch that are drawn, their identities, and how many points it had."""

    points: FloatArray
    labels: IntArray
    n_rows: int
    origins: IntArray | None = None  # Which of the points given these are; None for all

    def take(self, rows: IntArray) -> "BatchPoints":
        """Keep some of the points."""
        return BatchPoints(self.points[rows], self.labels[rows], self.n_rows, rows)


@dataclass(frozen=True, slots=True, eq=False)
class BatchTimes:
    """When each batch came; see `BatchColumns`."""

    values: FloatArray
    utc_offsets: IntArray
    is_dated: bool
    names: tuple[str, ...] | None

    def last(self, n: int) -> "BatchTimes":
        """Keep the last batches."""
        names = None if self.names is None else self.names[-n:]
        return BatchTimes(self.values[-n:], self.utc_offsets[-n:], self.is_dated, names)


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
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


def check_points_of(
    points: Sequence[npt.ArrayLike] | None, samples: Iterable[Sample] | None, history: History
) -> list[BatchPoints]:
    """Return the points of every batch; empty ones if none are given."""
    n_features = history[0].centers.shape[1]
    if points is not None and samples is not None:
        raise ValueError("give points or samples, not both.")
    if points is not None:
        _check_length("points", len(points), history)
        pairs = zip(points, history.labels, strict=True)
        return [
            _check_pair(index, rows, labels, n_features, len(labels))
            for index, (rows, labels) in enumerate(pairs)
        ]
    if samples is not None:
        kept = list(samples)
        _check_length("samples", len(kept), history)
        return [
            _check_pair(index, sample.points, sample.cluster_ids, n_features, sample.n_rows)
            for index, sample in enumerate(kept)
        ]
    none = np.empty((0, n_features)), np.empty(0, dtype=np.int64)
    # A history read back without labels still has the counts.
    sizes = [len(record.labels) or round(record.counts.sum()) for record in history]
    return [BatchPoints(*none, size) for size in sizes]


def _check_length(name: str, n: int, history: History) -> None:
    if n != len(history):
        raise ValueError(
            f"{name} must hold one batch for each of {len(history)} in the history, got {n}."
        )


def _check_pair(
    index: int, points: npt.ArrayLike, labels: IntArray, n_features: int, n_rows: int
) -> BatchPoints:
    rows = np.asarray(points)
    if rows.size == 0 and len(labels) == 0:
        return BatchPoints(np.empty((0, n_features)), np.empty(0, dtype=np.int64), n_rows)
    if rows.shape != (len(labels), n_features):
        raise ValueError(
            f"points must have shape {(len(labels), n_features)} in batch {index}, "
            f"got {rows.shape}."
        )
    checked = check_points(rows, n_features).astype(np.float64, copy=False)
    return BatchPoints(checked, labels, n_rows)


def check_times(times: Times | None, history: History) -> BatchTimes:
    """Return when each batch came: dates, numbers, or the history's time with names for it."""
    values = [record.time for record in history] if times is None else list(times)
    _check_length("times", len(values), history)
    kinds = {_kind_of(value) for value in values}
    if len(kinds) > 1:
        raise TypeError(f"times must be of one kind, got {' and '.join(sorted(kinds))}.")
    no_offsets = np.zeros(len(values), dtype=np.int64)
    if kinds == {"names"}:
        own = np.array([record.time for record in history])
        return BatchTimes(own, no_offsets, False, tuple(map(str, values)))
    dates = [value for value in values if isinstance(value, datetime)]
    when = np.array([_in_seconds(date) for date in dates] or values, dtype=np.float64)
    if not np.isfinite(when).all() or np.any(np.diff(when) <= 0):
        raise ValueError("times must be finite and grow from batch to batch.")
    offsets = [(date.utcoffset() or timedelta(0)) // timedelta(minutes=1) for date in dates]
    minutes = np.array(offsets, dtype=np.int64) if dates else no_offsets
    return BatchTimes(when, minutes, bool(dates), None)


def _kind_of(value: object) -> str:
    if isinstance(value, datetime):
        return "dates"
    return "names" if isinstance(value, str) else "numbers"


def _in_seconds(date: datetime) -> float:
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()


def format_parameters(parameters: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Return names and values as text; numbers with up to four digits."""
    return tuple((str(name), _format_parameter(value)) for name, value in parameters.items())


def _format_parameter(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.12g}" if float(value).is_integer() else f"{float(value):.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(_format_parameter(item) for item in value)
    return "none" if value is None else str(value)
