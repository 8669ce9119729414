"""Window, the rows of one window; and WindowOptions, how the rows of a source become windows."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from dynmeans.engine.checks import as_rows, check_coordinates, check_elapsed, check_weights
from dynmeans.follow.defaults import defaults_of
from dynmeans.inputs.fields import one_of, option
from dynmeans.inputs.input_error import InputError
from dynmeans.inputs.numbers import check_count
from dynmeans.records.arrays import BatchArray, FloatArray, IntArray
from dynmeans.runs.reading.columns import TIME_UNITS
from dynmeans.runs.reading.durations import parse_zone
from dynmeans.words.stop_words import stop_words

_PER_ROW = ("row_ids", "rows", "times", "truth")


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """One window of rows for `Run.process`; only the points are required.

    See Also
    --------
    Run.process : Clusters it.
    dynmeans.runs.Windows : Makes windows from a table.

    Examples
    --------
    >>> window = Window([[0.0, 1.0], [2.0, 3.0]], name="2024-03-01")
    >>> window.n_points, window.points.dtype.name
    (2, 'float64')
    """

    points: BatchArray  # (n_points, n_features); in the units of the source
    elapsed: float = 1.0  # Steps of time since the previous window; more where some were empty
    # (n_points,); names of the rows, integers or text; by default numbers from 0 as they come.
    row_ids: npt.NDArray[Any] | None = None
    rows: IntArray | None = None  # Their numbers in the source, where `row_ids` has something else
    times: npt.NDArray[Any] | None = None  # When each happened: datetime64 in UTC, or numbers
    weights: FloatArray | None = None  # A row of weight 2 counts as two equal rows
    truth: npt.NDArray[Any] | None = None  # True identities, integers or text
    name: str | None = None  # Name of the window for people, such as its start
    # n_dropped_rows, n_late_rows: rows left out since the previous window because a value was
    # missing, or because they came too late.
    n_dropped_rows: int = 0
    n_late_rows: int = 0
    # Where the source stands after this window; stored, and given back on resume.
    position: Mapping[str, Any] | None = None
    texts: npt.NDArray[Any] | None = None  # In place of points, which have no numbers then
    dead_letters: tuple[Any, ...] = ()  # Messages since the previous one that are no rows

    # Whether the points are rows of a table that was read here: known to be in range.
    is_validated: InitVar[bool] = False

    def __post_init__(self, is_validated: bool) -> None:
        """Check the points, the only time on their way; and that columns are as long as they."""
        if self.texts is not None and not np.size(self.points):
            object.__setattr__(self, "points", np.zeros((len(self.texts), 0), np.float32))
        elif not is_validated:
            rows = as_rows(self.points)
            object.__setattr__(self, "points", check_coordinates(rows, "points"))
        n = len(self.points)
        object.__setattr__(self, "elapsed", check_elapsed(self.elapsed))
        object.__setattr__(self, "weights", check_weights(self.weights, n, "weights"))
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
    """Options that order rows and divide them into windows.

    Exactly one of `every`, `rows_per_window` and `window_column` is given.

    The `metadata` of each field has its meaning, which `dynmeans cluster --help` prints.

    See Also
    --------
    dynmeans.runs.Windows : Takes them.

    Examples
    --------
    >>> from dynmeans.runs import WindowOptions
    >>> WindowOptions(features=("x", "y"), time="when", every="30min").every
    '30min'
    """

    features: tuple[str, ...] = option(
        (),
        "Numeric columns to cluster by: 'a,b,c', patterns such as 'x_*', columns of vectors, "
        "or fields such as sensor.temp; may be repeated.",
        list,
        flag="-f",
    )
    text: str | None = option(
        None,
        "Instead of `features`, a text column: rows are clustered by their words, and "
        "clusters are named by words that most of their rows share.",
    )
    language: str = option(
        "en",
        "Languages of `text`, whose stop words are removed: en, several such as en,de "
        "(others than English need the package stopwordsiso), or none.",
    )
    stop_words: tuple[str, ...] = option(
        (), "Further words of `text` to remove; may be repeated.", list
    )
    time: str | None = option(None, "Column of times; rows are read in order of time.", flag="-t")
    every: str | None = option(
        None,
        "Length of a window: 500ms, 30min, 6h, 1d, 1w, 1mo, 1y, or a number if times are "
        "numbers. Days and longer follow the calendar of `timezone`. A longer window has more "
        "points per cluster and fewer steps; clusters may move less within it.",
    )
    rows_per_window: int | None = option(
        None,
        "Number of rows of each window. A larger value gives fewer steps with more points.",
        int,
        metavar="N",
    )
    window_column: str | None = option(
        None,
        "One window for each value of this column; missing integers count as empty windows.",
    )
    timezone: str = option("UTC", "Time zone of the calendar, and of times without an offset.")
    time_unit: str | None = option(
        None, "Unit of times that are numbers since 1970.", choices=TIME_UNITS
    )
    time_format: str | tuple[str, ...] | None = option(
        None,
        "Format of times that are text and not like 2024-03-31 14:05, such as '%d.%m.%Y "
        "%H:%M'; may be repeated, and the first that fits is used.",
        list,
    )
    id: str | None = option(None, "Column with the IDs of rows. Default: row numbers.")
    weight: str | None = option(
        None, "Column of weights: a row of weight 2 counts as two equal rows."
    )
    truth: str | None = option(None, "Column of true labels, stored for score and report.")
    on_missing: str = option(
        defaults_of("Run")["on_missing"],
        "Rows without a finite value or a readable time: drop (and count them), or error. In "
        "a stream from a broker, error stores the row as a dead letter and continues.",
        choices=("drop", "error"),
    )
    keep_last_open: bool = option(
        False,
        "Keep the last window open until the next run. Use it if rows are still being "
        "appended to the input.",
        bool,
    )
    allowed_lateness: str = option(
        "0",
        "Live sources: how far a row may be behind the latest time. A larger value drops "
        "fewer late rows, but closes windows later by as much.",
    )
    on_late: str = option(
        "error",
        "Live sources: rows beyond `allowed_lateness`: error (in a stream, a dead letter), or "
        "drop (and count them).",
        choices=("drop", "error"),
    )
    max_ahead: str | None = option(
        None,
        "Live sources: how far a row may be ahead of all others, such as 2h; rows beyond are "
        "used only if several agree. Default: 100 windows. A smaller value rejects wrong "
        "clocks earlier, but also rows after a long pause.",
    )
    deduplicate: bool = option(
        False,
        "Streams: ignore a row whose `id` is already in an open window.",
        bool,
    )

    def __post_init__(self) -> None:
        """Check what can be checked before a row is read."""
        object.__setattr__(self, "features", tuple(self.features))
        words = [self.stop_words] if isinstance(self.stop_words, str) else self.stop_words
        object.__setattr__(self, "stop_words", tuple(words or ()))
        if self.time_format is not None and not isinstance(self.time_format, str):
            forms = tuple(self.time_format)
            object.__setattr__(self, "time_format", forms[0] if len(forms) == 1 else forms or None)
        self._check_ways()
        if self.text is not None and self.features:
            raise InputError("text", "cannot be combined with {features}: give one of them")
        if self.text is not None:
            stop_words(self.language, self.stop_words)
        if self.deduplicate and self.id is None:
            raise InputError("deduplicate", "needs a column of names", hint="Give {id=...}.")
        if self.every is not None and self.time is None:
            raise InputError("every", "needs a column of times", hint="Name it with {time=...}.")
        if self.time_format is not None and self.time_unit is not None:
            raise InputError("", "give {time_unit} or {time_format}, not both")
        if self.rows_per_window is not None:
            object.__setattr__(
                self, "rows_per_window", check_count("rows_per_window", self.rows_per_window)
            )
        for one in fields(self):
            if choices := one.metadata.get("choices"):
                one_of(one.name, getattr(self, one.name), (one.default, *choices))
        parse_zone(self.timezone)

    def _check_ways(self) -> None:
        ways = [
            name
            for name in ("every", "rows_per_window", "window_column")
            if getattr(self, name) is not None
        ]
        if len(ways) != 1:
            got = " and ".join(f"{{{name}=...}}" for name in ways) or "none of them"
            raise InputError(
                "",
                "give exactly one of {every=...} (a length of time), {rows_per_window=...} (a "
                f"number) and {{window_column=...}} (a column), got {got}",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, features first."""
        features = [name.strip() for text in self.features for name in text.split(",")]
        return tuple(dict.fromkeys([*features, *filter(None, [self.text]), *self.others]))

    @property
    def others(self) -> list[str]:
        """Every column that is named for something else than to cluster by."""
        names = (self.time, self.window_column, self.id, self.weight, self.truth)
        return [name for name in names if name]

    @property
    def time_forms(self) -> tuple[str, ...]:
        """The forms that times may have, if they are given."""
        given = self.time_format
        return () if given is None else (given,) if isinstance(given, str) else given

    @property
    def text_column(self) -> str | None:
        """The column of times, where they are text whose form is given."""
        return None if self.time_format is None else self.time

    def to_fields(self) -> dict[str, Any]:
        """Return what a run stores: features are stored separately, `keep_last_open` may change."""
        kept = asdict(self)
        del kept["features"], kept["keep_last_open"]
        return kept

    @classmethod
    def from_fields(
        cls, features: Sequence[str], stored: Mapping[str, Any], **others: Any
    ) -> "WindowOptions":
        """Read what a run has stored."""
        known = [one.name for one in fields(cls) if one.name in stored]
        features = () if stored.get("text") else features
        return cls(tuple(features), **{name: stored[name] for name in known} | others)
