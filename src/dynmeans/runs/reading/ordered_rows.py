"""The rows of a table in the order of a run, streamed; sorted only where they must be."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dynmeans.engine.checks import are_in_range, check_coordinates
from dynmeans.inputs.format_count import format_count
from dynmeans.inputs.input_error import InputError
from dynmeans.records.arrays import BatchArray
from dynmeans.runs.reading.batch_names import batch_expression
from dynmeans.runs.reading.columns import (
    TEXT,
    check_column,
    is_number,
    match_features,
    number_expression,
    plain_expression,
    quote_name,
    time_expression,
)
from dynmeans.runs.reading.rows import Position, RollingDigest, Rows
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.text_checks import check_day_order, check_numbers, check_text_times
from dynmeans.runs.reading.time_bounds import TimeBounds
from dynmeans.runs.reading.window import WindowOptions


class OrderedRows:
    """Reads a table in order of window and time; equal times in the order of the table."""

    def __init__(self, source: Source, options: WindowOptions) -> None:
        self._wanted: tuple[str, ...] = ()  # of text, which is no feature
        if options.text is None:
            self._wanted = match_features(
                options.features, source.named, besides=options.others, is_text_allowed=True
            )
        self._vectors = source.vectors(self._wanted)
        self.features = tuple(one for c in self._wanted for one in self._vectors.get(c, [c]))
        self.time_is_number = self._is_batch_integer = False
        self._source, self._options = source, options
        source.set_timezone(options.timezone)
        self._expressions = self._sql_by_name()
        check_day_order(source, options)
        self.unread = check_text_times(source, options, self._expressions.get("time", ""))
        weights = [] if options.weight is None else [options.weight]
        for argument, names in (("features", self._wanted), ("weight", weights)):
            check_numbers(source, argument, names, is_dropped=options.on_missing == "drop")
        self.missing: Counter[str] = Counter()
        self._bounds: TimeBounds | None = None
        if options.time is not None:
            row = "row {} of the input (from 0)"
            self._bounds = TimeBounds(options, is_number=self.time_is_number, row=row)
        self.n_rows, self.is_sorted = self._survey()
        self.last = Position(0)
        self.digest = RollingDigest()  # of all rows that were taken in

    def read(self, position: Position, expected: dict[str, int] | None = None) -> Iterator[Rows]:
        """Stream the rows after `position`, without those to be dropped.

        The rows before it are read again and compared with the digest that is `expected` of them.
        """
        if self.n_rows < position.rows_read:
            raise ValueError(
                f"the input has {format_count(self.n_rows, 'row')}, but the run has read "
                f"{position.rows_read:,}."
            )
        self.digest = RollingDigest()
        done = 0
        for table in self._source.batches(self._selection(), order=self.order):
            rows = self._rows_of(table, done)
            n_before, done = position.rows_read - done, done + table.num_rows
            if n_before > 0:
                rows = self._after(position, rows, table, n_before, expected)
            self.last = self._last_of(table, done)
            yield rows

    def _after(
        self,
        position: Position,
        rows: Rows,
        table: Any,
        n_before: int,
        expected: dict[str, int] | None,
    ) -> Rows:
        """Compare the rows before the place with what was read then; return those after it."""
        n = int(np.searchsorted(rows.places, position.rows_read))
        begin = position.rows_read - n_before
        self.digest.feed(rows.cut(0, n), min(begin + table.num_rows, position.rows_read))
        if n_before <= table.num_rows:
            self._check_same(table.slice(n_before - 1, 1), position)
            if self.digest.value != expected:
                raise ValueError(
                    f"the input has changed: its first {position.rows_read:,} rows are not those "
                    "that the run has read. Rows that were already read cannot be edited."
                )
        return rows.cut(n, len(rows.places))

    def _selection(self) -> str:
        named = self._source.named
        dtypes = {named[name].partition("[")[0] for name in self._wanted}
        dtype = "FLOAT" if dtypes == {"FLOAT"} else "DOUBLE"
        decimal = self._source.reading.decimal
        features = [
            f"TRY_CAST({quote_name(name)} AS {dtype}[{len(self._vectors[name])}]) AS f{j}"
            if name in self._vectors
            else f"{number_expression(name, named[name], dtype, decimal)} AS f{j}"
            for j, name in enumerate(self._wanted)
        ]
        others = [f"{sql} AS {quote_name(name)}" for name, sql in self._expressions.items()]
        return ", ".join([f"{self._source.row} AS number", *features, *others])

    def _rows_of(self, table: Any, place: int) -> Rows:
        n = table.num_rows
        points = np.empty((n, len(self.features)), dtype=self._dtype_of(table))
        begin = 0
        for j, name in enumerate(self._wanted):
            width = len(self._vectors.get(name, "1"))
            column = table.column(f"f{j}")
            values = _vectors_of(column, width) if name in self._vectors else _as_numpy(column)
            points[:, begin : begin + width] = values.reshape(n, width)
            begin += width
        # The one look at every value: what passes here is not checked again.
        is_in_range = are_in_range(points)
        is_whole = np.ones(n, dtype=bool)
        if not is_in_range:
            is_whole &= np.isfinite(points).all(axis=1)
        for name in ("time", "weight", "window_column"):
            if name in self._expressions and table.column(name).null_count:
                is_whole &= table.column(name).is_valid().to_numpy(zero_copy_only=False)
        places = np.arange(place, place + n)
        if not is_whole.all():
            self._leave_out(table, points, is_whole)
            table = table.filter(is_whole)
            points, places = points[is_whole], places[is_whole]
        if not is_in_range:
            check_coordinates(points, "features")
        columns = {name: _values(name, table.column(name)) for name in self._expressions}
        return Rows(places, _as_numpy(table.column("number")), points, columns)

    def _dtype_of(self, table: Any) -> Any:
        if not self._wanted:
            return np.float32
        first = table.column("f0").type
        kind = first.value_type if self._wanted[0] in self._vectors else first
        return kind.to_pandas_dtype()

    def _leave_out(self, table: Any, points: BatchArray, is_whole: Any) -> None:
        """Count what rows lack that are dropped; or refuse the first of them."""
        is_lacking = {}
        begin = 0
        for name in self._wanted:
            end = begin + len(self._vectors.get(name, "1"))
            is_lacking[name] = ~np.isfinite(points[:, begin:end]).all(axis=1) & ~is_whole
            begin = end
        for name in ("time", "weight", "window_column"):
            if name in self._expressions:
                is_there = table.column(name).is_valid().to_numpy(zero_copy_only=False)
                is_lacking[str(getattr(self._options, name))] = ~is_there
        if self._options.on_missing == "drop":
            self.missing.update({name: int(rows.sum()) for name, rows in is_lacking.items()})
            return
        i = int(np.flatnonzero(~is_whole)[0])
        bad = [name for name, rows in is_lacking.items() if rows[i]]
        number = table.column("number")[i].as_py()
        raise InputError(
            "",
            "row {} of the input (from 0) has no finite value for {}",
            number,
            ", ".join(map(repr, bad)),
            hint="{on_missing='drop'} leaves such rows out, and counts them.",
        )

    def _check_same(self, last: Any, position: Position) -> None:
        """See that the row where the run stopped is still where it was."""
        if position.last_row is None:
            return
        found = self._last_of(last, position.rows_read)
        if found != position:
            raise ValueError(
                f"the input has changed: the run stopped after row {position.last_row}, but row "
                f"{found.last_row} is now at that position. Processed rows cannot change."
            )

    def _last_of(self, table: Any, rows_read: int) -> Position:
        last = table.num_rows - 1
        time = table.column("time")[last].as_py() if "time" in self._expressions else None
        return Position(rows_read, table.column("number")[last].as_py(), time)

    def _sql_by_name(self) -> dict[str, str]:
        options, columns = self._options, self._source.named
        expressions: dict[str, str] = {}
        for name in ("time", "window_column", "weight", "id", "truth", "text"):
            column = getattr(options, name)
            if column is None:
                continue
            check_column(name, column, columns)
            dtype = columns[column]
            if name == "time":
                unit, forms = options.time_unit, options.time_forms
                self.time_is_number = is_number(dtype) and not (unit or forms)
                expression = time_expression(
                    column, dtype, options.timezone, time_unit=unit, time_forms=forms
                )
            elif name == "weight":
                if not (is_number(dtype) or dtype == TEXT):
                    rule = "must be a numeric column, but {!r} is {}"
                    raise InputError("weight", rule, column, dtype)
                decimal = self._source.reading.decimal
                expression = number_expression(column, dtype, "DOUBLE", decimal)
            elif name == "text":
                if dtype != TEXT:
                    raise InputError(
                        "text", "must be a column of text, but {!r} is {}", column, dtype
                    )
                expression = quote_name(column)
            elif name == "window_column":
                expression, self._is_batch_integer = batch_expression(self._source, column)
            else:
                expression = plain_expression(column, dtype)
            expressions[name] = expression
        return expressions

    @property
    def order(self) -> str:
        """SQL of the order in which rows are read; empty where they are in order."""
        if self.is_sorted:
            return ""
        keys = [sql for name, sql in self._expressions.items() if name in ("window_column", "time")]
        if self._options.window_column is not None:
            keys.reverse()  # window first, time within it
        return ", ".join([*(f"{key} NULLS FIRST" for key in keys), self._source.row])

    def _survey(self) -> tuple[int, bool]:
        """Count the rows, see whether they are in order, and that times are in bounds."""
        keys = [name for name in ("window_column", "time") if name in self._expressions]
        is_sorted = len(keys) < 2 and ("window_column" not in keys or self._is_batch_integer)
        n_rows, last = 0, None
        columns = ", ".join(f"{self._expressions[k]} AS {k}" for k in keys) or "1 AS nothing"
        for table in self._source.batches(columns):
            if self._bounds is not None:
                self._check_bounds(table.column(len(keys) - 1), n_rows)
            n_rows += table.num_rows
            if not (keys and is_sorted):
                continue
            column = table.column(0)
            values = _as_numpy(column.drop_null() if column.null_count else column)
            if len(values):
                is_rising = bool(np.all(values[1:] >= values[:-1]))
                is_sorted = is_rising and (last is None or values[0] >= last)
                last = values[-1]
        return n_rows, is_sorted

    def _check_bounds(self, column: Any, n_before: int) -> None:
        assert self._bounds is not None
        numbers: Any = range(n_before, n_before + len(column))
        if column.null_count:
            is_there = column.is_valid().to_numpy(zero_copy_only=False)
            numbers, column = np.flatnonzero(is_there) + n_before, column.drop_null()
        self._bounds.check(_as_numpy(column), numbers)


def _values(name: str, column: Any) -> Any:
    if name == "truth" and column.null_count and column.type.equals("int64"):
        column = column.fill_null(-1)  # unlabeled, as in dynmeans.metrics
    return _as_numpy(column)


def _vectors_of(column: Any, width: int) -> Any:
    """Return vectors as rows; NaN where there is none."""
    found = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    values = _as_numpy(found.flatten()).reshape(-1, width)
    if not found.null_count:
        return values
    rows = np.full((len(found), width), np.nan, dtype=values.dtype)
    rows[found.is_valid().to_numpy(zero_copy_only=False)] = values
    return rows


def _as_numpy(column: Any) -> Any:
    """Look at numbers where they are; Arrow's own conversion loads pandas first."""
    if column.null_count or not pa.types.is_primitive(column.type):
        return column.to_numpy(zero_copy_only=False)
    dtype = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(column.buffers()[1], dtype)[column.offset : column.offset + len(column)]
