"""Features without a value in any row: they are left out, so that the others can be clustered."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.runs.reading.columns import match_features
from dynmeans.runs.reading.window import WindowOptions


def split_off_empty_columns(
    rows: Any, options: WindowOptions, open_source: Callable[[], AbstractContextManager[Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features of a table in memory, and apart from them those without a value."""
    named = rows.column_names if isinstance(rows, pa.Table) else []
    if options.text is not None or not find_empty_columns(rows, ["", *named]):
        return options.features, ()
    with open_source() as source:
        columns = match_features(
            options.features, source.named, besides=options.others, is_text_allowed=True
        )
    empty = find_empty_columns(rows, columns)
    return tuple(name for name in columns if name not in empty), empty


def find_empty_columns(rows: Any, columns: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of a table in memory that hold no value; none if no other is left.

    >>> rows = pa.table({"x": [1.0, 2.0], "y": [None, float("nan")]})
    >>> find_empty_columns(rows, ("x", "y")), find_empty_columns(rows, ("y",))
    (('y',), ())
    """
    names = list(columns)
    if not isinstance(rows, pa.Table) or not rows.num_rows:
        return ()
    empty = tuple(name for name in names if name in rows.column_names and _is_empty(rows[name]))
    return empty if len(empty) < len(names) else ()


def _is_empty(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_floating(column.type):
        return bool(column.null_count == len(column))
    # The first values decide almost always.
    return all(
        bool(pc.all(pc.is_nan(part).fill_null(True), min_count=0).as_py())
        for part in (column.slice(0, 100), column.slice(100))
    )


def note_empty_columns(columns: Sequence[str]) -> ArgumentText:
    """Return that these columns were left out."""
    names = ", ".join(map(repr, columns))
    if len(columns) == 1:
        return ArgumentText("column {} has no value in any row and was left out.", names)
    return ArgumentText("columns {} have no value in any row and were left out.", names)
