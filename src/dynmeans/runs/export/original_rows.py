"""The rows a run was made from, opened again: the same ones, or none."""

from collections.abc import Callable
from functools import partial
from typing import Any

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.ordered_rows import OrderedRows
from dynmeans.runs.reading.rows import Position
from dynmeans.runs.reading.sources.reading_options import ReadingOptions
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions
from dynmeans.runs.run import Run


def open_rows(run: Run, input: Any = None, *, allow_stored_sql: bool = False) -> Source:
    """Open the source a run was made from, or the same rows at another place.

    The rows are read once and compared with the digest of those the run has read, unless they came
    live. A query that is stored in the run came with its files, so it runs only with
    `allow_stored_sql`.
    """
    fields = run.config.source
    _check_numbered(run)
    if input is None:
        input = fields.get("input")
        if not isinstance(input, str) or input == "-":
            raise InputError(
                "",
                "the run does not know where its rows are: they came from Python or from standard "
                "input",
                hint="Name a file that holds them with {input=...}. Labels alone "
                "({labels_only=True}) need none.",
            )
    sql = fields.get("sql")
    if sql is not None and not allow_stored_sql:
        raise InputError(
            "",
            "the run reads its rows by a query that is stored in it, {!r}",
            str(sql)[:200],
            hint="{allow_stored_sql=True} runs it: one SELECT over the input, which reaches no "
            "other file.",
        )
    reading = ReadingOptions.from_fields(fields)
    options = WindowOptions.from_fields(run.config.features, fields, on_missing="drop")
    opened = partial(Source, input, reading=reading, text_column=options.text_column)
    _check_same(run, options, opened)
    return opened()


def _check_numbered(run: Run) -> None:
    """Refuse a run whose rows have names alone, such as those of a stream."""
    key = "row" if run.config.source.get("id") else "row_id"
    columns = run.store.manifest("label_columns") or []
    if columns and [key, "int64"] not in columns:
        raise InputError(
            "",
            "the rows of this run have no numbers by which they could be found again in a file, "
            "as those of a stream have none",
            hint="Labels alone (dynmeans labels --labels-only) name each row by its row_id.",
        )


def _check_same(run: Run, options: WindowOptions, opened: Callable[[], Source]) -> None:
    """Refuse rows that are not those the run has read; rows after them are none of its."""
    position = run.position or {}
    expected = position.get("digest")
    if expected is None:
        return
    stopped = Position(position["rows_read"], position.get("last_row"), position.get("last_time"))
    with opened() as source:
        try:
            rows = OrderedRows(source, options)
            for _ in rows.read(stopped, expected):
                if rows.last.rows_read >= stopped.rows_read:
                    break
        except ValueError as error:
            raise InputError(
                "",
                "the input does not match the rows of this run: {}",
                str(error).rstrip("."),
                hint="Name a file that holds the rows of the run with {input=...}. Labels alone "
                "({labels_only=True}) need none.",
            ) from error
