"""Window, the rows of one window; and WindowOptions, how the rows of a source become windows."""

from collections.abc import Mapping
from dataclasses import InitVar, asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import (
    as_rows,
    checked_coordinates,
    checked_elapsed,
    checked_weights,
)
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import checked_count
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.runs.reading.columns import TIME_UNITS
from dynmeans.runs.reading.durations import parse_zone

ON_MISSING = ("error", "drop")
ON_LATE = ("error", "drop")
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


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """How rows are ordered and cut; exactly one of `every`, `count` and `batch` is given.

    Attributes
    ----------
    features : tuple of str
        Names of feature columns, or patterns such as ``x_*``.
    time : str, optional
        Column of times; rows are taken in their order.
    every : str, optional
        Length of a window: ``30min``, ``1d``, ``1mo``; a plain number for times that are numbers.
    count : int, optional
        Rows of a window.
    batch : str, optional
        Column that says which window a row belongs to. Where it holds integers, those missing are
        empty windows.
    timezone : str
        Time zone of the calendar, and of times without an offset.
    time_unit : {"s", "ms", "us", "ns"}, optional
        For times that are numbers since 1970.
    time_format : str or tuple of str, optional
        For times that are text of another form than ISO 8601, as `datetime.strptime` takes it:
        ``%d.%m.%Y %H:%M``. Of several forms the first that fits is taken.
    id, weight, truth : str, optional
        Columns of row names, weights and true identities.
    on_missing : {"error", "drop"}
        What to do with rows that lack a feature, a weight or a time that can be read.
    hold_last : bool
        Leave the last window alone until a later row shows that it is complete.
    lateness : str
        Live source: how far back in time a row may come after another one.
    on_late : {"error", "drop"}
        Live source: what to do with rows that come later than that.
    max_ahead : str, optional
        Live source: how far one row may be ahead of all others; one that is alone there is not
        taken. By default 1,000 windows, and no less than a year.
    unique_ids : bool
        Stream: whether a row whose `id` is in an open window already is that row, sent again.
    """

    features: tuple[str, ...]
    time: str | None = None
    every: str | None = None
    count: int | None = None
    batch: str | None = None
    timezone: str = "UTC"
    time_unit: str | None = None
    time_format: str | tuple[str, ...] | None = None
    id: str | None = None
    weight: str | None = None
    truth: str | None = None
    on_missing: str = "error"
    hold_last: bool = False
    lateness: str = "0"
    on_late: str = "error"
    max_ahead: str | None = None
    unique_ids: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked before a row is read."""
        if self.time_format is not None and not isinstance(self.time_format, str):
            forms = tuple(self.time_format)
            object.__setattr__(self, "time_format", forms[0] if len(forms) == 1 else forms or None)
        ways = [name for name in ("every", "count", "batch") if getattr(self, name) is not None]
        if len(ways) != 1:
            got = " and ".join(f"{{{name}=...}}" for name in ways) or "none of them"
            raise InputError(
                "",
                "give exactly one of {every=...} (a length of time), {count=...} (rows of a "
                f"window) and {{batch=...}} (a column), got {got}",
            )
        if self.unique_ids and self.id is None:
            raise InputError("unique_ids", "needs a column of names", hint="Give {id=...}.")
        if self.every is not None and self.time is None:
            raise InputError("every", "needs a column of times", hint="Name it with {time=...}.")
        if self.time_format is not None and self.time_unit is not None:
            raise InputError("", "give {time_unit} or {time_format}, not both")
        if self.count is not None:
            object.__setattr__(self, "count", checked_count("count", self.count))
        for name, allowed in (
            ("on_missing", ON_MISSING),
            ("on_late", ON_LATE),
            ("time_unit", (None, *TIME_UNITS)),
        ):
            if getattr(self, name) not in allowed:
                names = ", ".join(filter(None, allowed))
                raise InputError(name, f"must be one of {names}", got=getattr(self, name))
        parse_zone(self.timezone)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, features first."""
        features = [name.strip() for text in self.features for name in text.split(",")]
        others = (self.time, self.batch, self.id, self.weight, self.truth)
        return tuple(dict.fromkeys([*features, *(name for name in others if name)]))

    @property
    def time_forms(self) -> tuple[str, ...]:
        """The forms that times may have, if they are given."""
        given = self.time_format
        return () if given is None else (given,) if isinstance(given, str) else given

    @property
    def text_column(self) -> str | None:
        """The column of times, where they are text whose form is given."""
        return None if self.time_format is None else self.time

    def to_source_fields(self, table: str | None) -> dict[str, Any]:
        """Return what a run stores of its source; features stand beside it."""
        fields = asdict(self)
        # Features have a field of their own; a run may be resumed with another `hold_last`.
        del fields["features"], fields["hold_last"]
        return {"input": table, **fields}
