"""Batch: the rows of one window, and all that is known about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import check_size
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

_PER_ROW = ("row_ids", "rows", "times", "weights", "truth")


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """One window of rows for `Run.process`; only the points must be there.

    Attributes
    ----------
    points : array of shape (n_points, n_features)
        The features, in the units of the source; the run standardises them if it is told to.
    elapsed : float
        Steps of time since the previous batch: 1, or more where windows were empty.
    row_ids : array of shape (n_points,), optional
        Names of the rows, integers or text. By default rows are numbered from 0 as they come.
    rows : IntArray of shape (n_points,), optional
        Number of each row in its source, where `row_ids` holds something else.
    times : array of shape (n_points,), optional
        When each row happened: datetime64 in UTC, or plain numbers.
    weights : FloatArray of shape (n_points,), optional
        A row of weight 2 counts as two equal rows.
    truth : array of shape (n_points,), optional
        True identities, integers or text, where they are known.
    label : str, optional
        Name of the window for people, such as its start.
    n_dropped : int
        Rows left out since the previous batch, because a value was missing.
    n_late : int
        Rows left out since the previous batch, because they came too late.
    position : mapping, optional
        Where the source stands after this batch; stored, and given back on resume.

    Examples
    --------
    >>> batch = Batch([[0.0, 1.0], [2.0, 3.0]], label="2024-03-01")
    >>> batch.n_points, batch.points.dtype.name
    (2, 'float64')
    """

    points: BatchArray
    elapsed: float = 1.0
    row_ids: npt.NDArray[Any] | None = None
    rows: IntArray | None = None
    times: npt.NDArray[Any] | None = None
    weights: FloatArray | None = None
    truth: npt.NDArray[Any] | None = None
    label: str | None = None
    n_dropped: int = 0
    n_late: int = 0
    position: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check that every column has one value for each point."""
        points = np.asarray(self.points)
        if points.dtype != np.float32:
            points = points.astype(np.float64, copy=False)
        if points.ndim != 2:
            raise ValueError(f"points must have two dimensions, got shape {points.shape}.")
        check_size("points", len(points))
        object.__setattr__(self, "points", points)
        for name in _PER_ROW:
            value = getattr(self, name)
            if value is None:
                continue
            column = np.asarray(value)
            if column.shape != (len(points),):
                raise ValueError(
                    f"{name} must have one value for each of {len(points)} points, "
                    f"got shape {column.shape}."
                )
            object.__setattr__(self, name, column)

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.points)
