"""Window: the rows of one window, and all that is known about them."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import (
    as_rows,
    checked_coordinates,
    checked_elapsed,
    checked_weights,
)
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray

_PER_ROW = ("row_ids", "rows", "times", "truth")


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """One window of rows for `Run.process`; only the points must be there.

    Attributes
    ----------
    points : array of shape (n_points, n_features)
        The features, in the units of the source; the run standardizes them if it is told to.
    elapsed : float
        Steps of time since the previous window: 1, or more where windows were empty.
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
    name : str, optional
        Name of the window for people, such as its start.
    n_dropped : int
        Rows left out since the previous window, because a value was missing.
    n_late : int
        Rows left out since the previous window, because they came too late.
    position : mapping, optional
        Where the source stands after this window; stored, and given back on resume.
    dead_letters : tuple of DeadLetter
        Messages since the previous window that could not be read as rows.

    Other Parameters
    ----------------
    are_points_checked : bool
        Whether the points are an array of rows whose values are known to be in range, as those of
        a table are that was read here.

    Examples
    --------
    >>> window = Window([[0.0, 1.0], [2.0, 3.0]], name="2024-03-01")
    >>> window.n_points, window.points.dtype.name
    (2, 'float64')
    """

    points: BatchArray
    elapsed: float = 1.0
    row_ids: npt.NDArray[Any] | None = None
    rows: IntArray | None = None
    times: npt.NDArray[Any] | None = None
    weights: FloatArray | None = None
    truth: npt.NDArray[Any] | None = None
    name: str | None = None
    n_dropped: int = 0
    n_late: int = 0
    position: Mapping[str, Any] | None = None
    dead_letters: tuple[Any, ...] = ()

    are_points_checked: InitVar[bool] = False

    def __post_init__(self, are_points_checked: bool) -> None:
        """Check the points, the only time on their way; and that columns are as long as they."""
        if not are_points_checked:
            rows = as_rows(self.points)
            object.__setattr__(self, "points", checked_coordinates(rows, "points"))
        n = len(self.points)
        object.__setattr__(self, "elapsed", checked_elapsed(self.elapsed))
        object.__setattr__(self, "weights", checked_weights(self.weights, n, "weights"))
        for name in _PER_ROW:
            value = getattr(self, name)
            if value is None:
                continue
            column = np.asarray(value)
            if column.shape != (n,):
                raise ValueError(
                    f"{name} must have one value for each of {n} points, got shape {column.shape}."
                )
            object.__setattr__(self, name, column)

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.points)
