"""Columns of text looked at before a row is taken in: are they times, are they numbers?"""

from collections.abc import Iterable

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import (
    TEXT,
    no_number_condition,
    number_condition,
    quote_name,
)
from dynmeans.runs.reading.json_lines import shown
from dynmeans.runs.reading.sources import Source
from dynmeans.runs.reading.window_options import WindowOptions

_ISO = "such as 2024-03-31 14:05:00+01:00"
_OTHER_FORM = "If it has another form, give that as {time_format=...}, say '%d.%m.%Y %H:%M'."

_COMMA = "If the comma is a decimal comma, say so with {decimal=...}."
_QUERY = "A query ({query=...}) may turn such text into numbers."
_DROP_OR_QUERY = f"{{on_missing='drop'}} leaves such rows out, and counts them. {_QUERY}"
# Digits with separators: a number to a reader, whatever it is written with.
_LIKE_A_NUMBER = r"'[-+]?[0-9][0-9.,''_ ]*([eE][-+]?[0-9]+)?'"


def check_times(source: Source, options: WindowOptions, expression: str) -> None:
    """Refuse text that is no time, naming the first such row.

    Where rows are dropped, those go with the others that lack a time; but if no row has one, the
    form must be another.
    """
    name, forms = options.time, options.time_forms
    if name is None or (not forms and source.columns[name] != TEXT):
        return
    column = quote_name(name)
    is_bad = f"{column} IS NOT NULL AND {expression} IS NULL"
    bad = source.rows(f"{source.row}, {column}", where=is_bad)
    if not bad or (options.on_missing == "drop" and _has_rows(source, f"{expression} IS NOT NULL")):
        return
    row, text = bad[0]
    wanted = f"of the form {' or '.join(map(repr, forms))}" if forms else _ISO
    raise InputError(
        "time",
        ": row {} of the input (from 0) has {} in column {!r}, which is no time {}",
        row,
        shown(text),
        name,
        wanted,
        hint="" if forms else _OTHER_FORM,
    )


def check_numbers(source: Source, argument: str, names: Iterable[str], *, is_dropped: bool) -> None:
    """Refuse text that is no number, naming the first such row.

    Where rows are dropped, words such as ``k.A.`` go with the values that are missing. A number
    that is written another way is refused all the same, and so is a column without any number.
    """
    for name in names:
        if source.columns[name] != TEXT:
            continue
        decimal = source.reading.decimal
        is_bad = no_number_condition(name, decimal)
        if is_dropped and _has_rows(source, number_condition(name, decimal)):
            is_bad += f" AND regexp_full_match(trim({quote_name(name)}), {_LIKE_A_NUMBER})"
        if bad := source.rows(f"{source.row}, {quote_name(name)}", where=is_bad):
            row, text = bad[0]
            raise InputError(
                argument,
                "must be numbers, but row {} of the input (from 0) has {} in column {!r}",
                row,
                shown(text),
                name,
                hint=_COMMA if _is_with_comma(text) else _QUERY if is_dropped else _DROP_OR_QUERY,
            )


def _is_with_comma(text: str) -> bool:
    return text.count(",") == 1 and text.replace(",", "").strip().lstrip("+-").isdigit()


def _has_rows(source: Source, where: str) -> bool:
    return bool(source.rows("1", where=where))
