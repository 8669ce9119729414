"""The column that names windows: whole numbers are in numeric order, all else as text."""

import re
import warnings
from collections.abc import Iterator
from itertools import islice, pairwise

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import is_integer, is_number, plain_expression, quote_name
from dynmeans.runs.reading.durations import LARGEST_EXACT
from dynmeans.runs.reading.sources.source import Source

_DIGITS = re.compile(r"(\d+)")
_MAX_NAMES = 100_000  # looked at for a doubtful order


def batch_expression(source: Source, column: str) -> tuple[str, bool]:
    """Return SQL for the names of windows, and whether they are integers, as 10.0 is one too."""
    dtype = source.named[column]
    if not is_number(dtype) or dtype == "BOOLEAN":
        _warn_of_order(source, plain_expression(column, dtype))
        return plain_expression(column, dtype), False
    if is_integer(dtype):
        return plain_expression(column, dtype), True
    number = f"CAST({quote_name(column)} AS DOUBLE)"
    is_odd = f"isfinite({number}) AND ({number} != floor({number}) OR abs({number}) > {{}})"
    if odd := source.rows(f"{source.row}, {number}", where=is_odd.format(LARGEST_EXACT)):
        raise InputError(
            "window_column",
            "must hold whole numbers of at most 2**53, or text, but row {} of the input (from 0) "
            "has {!r}",
            *odd[0],
            hint="For numbers that are times use {time} and {every}.",
        )
    return f"CASE WHEN isfinite({number}) THEN CAST({number} AS BIGINT) END", True


def _warn_of_order(source: Source, expression: str) -> None:
    """Warn if windows come in an order that their numbers contradict."""
    for first, second in pairwise(_names(source, expression)):
        (words, numbers), (others, larger) = _parts(first), _parts(second)
        if words == others and numbers > larger:
            message = (
                "{batch}: windows are processed in the order of their names as text, {!r} before "
                "{!r}. For another order, use a column of integers, or numbers of equal length."
            )
            warnings.warn(ArgumentText(message, first, second), UserWarning, stacklevel=2)
            return


def _names(source: Source, expression: str) -> Iterator[str]:
    tables = source.batches(f"DISTINCT {expression} AS name", order="name")
    names = (name.as_py() for table in tables for name in table.column("name"))
    return (name for name in islice(names, _MAX_NAMES) if name is not None)


def _parts(name: str) -> tuple[list[str], list[int]]:
    pieces = _DIGITS.split(name[:200])
    return pieces[::2], [int(piece) for piece in pieces[1::2]]
