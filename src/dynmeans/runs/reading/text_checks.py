"""Columns of text looked at before a row is processed: are they times, are they numbers?"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import (
    TEXT,
    no_number_condition,
    number_condition,
    quote_name,
    quote_text,
)
from dynmeans.runs.reading.json_lines import quote_short
from dynmeans.runs.reading.sources.source import Source
from dynmeans.runs.reading.window import WindowOptions

_ISO = "such as 2024-03-31 14:05:00+01:00"
_OTHER_FORM = "If it has another form, set {time_format=...}, for example to '%d.%m.%Y %H:%M'."

_COMMA = "If the comma is a decimal comma, set {decimal=...}."
_QUERY = "A query ({sql=...}) may turn such text into numbers."
_DROP_OR_QUERY = f"{{on_missing='drop'}} leaves such rows out, and counts them. {_QUERY}"
# 1.234,5, 50 % and 3 km are numbers to a reader, whatever they are written with; #DIV/0! is none.
_DIGITS, _NO_VALUE = r"[0-9]", "#"


def check_text_times(source: Source, options: WindowOptions, expression: str) -> str:
    """Refuse text that is no time, naming the first such row.

    Where rows are dropped, and some have a time, the text of the first without is returned.
    """
    name, forms = options.time, options.time_forms
    if name is None or (not forms and source.named[name] != TEXT):
        return ""
    column = quote_name(name)
    is_bad = f"{column} IS NOT NULL AND {expression} IS NULL"
    bad = source.rows(f"{source.row}, {column}", where=is_bad)
    if not bad:
        return ""
    row, text = bad[0]
    if options.on_missing == "drop" and _has_rows(source, f"{expression} IS NOT NULL"):
        return quote_short(text)
    wanted = f"of the form {' or '.join(map(repr, forms))}" if forms else _ISO
    raise InputError(
        "time",
        ": row {} of the input (from 0) has {} in column {!r}, which is not a time {}",
        row,
        quote_short(text),
        name,
        wanted,
        hint="" if forms else _form_of([str(text) for _, text in bad]),
    )


def _form_of(texts: list[str]) -> str:
    """Return which usual forms fit all of these texts."""
    found = [form for form in _forms() if all(_fits(text.strip(), form) for text in texts)]
    if not found:
        return _OTHER_FORM
    either = " or ".join(f"{{time_format={form!r}}}" for form in found)
    return f"It may be {either}."


def _forms() -> Iterator[str]:
    yield "%d/%b/%Y:%H:%M:%S %z"  # of web servers
    yield "%a %b %d %H:%M:%S %Y"
    days = (
        *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d"),
        *("%d %b %Y", "%b %d %Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d-%b-%Y"),
    )
    clocks = ("", " %H:%M", " %H:%M:%S", ", %H:%M", " %I:%M %p", " %I:%M:%S %p")
    yield from (f"{day}{clock}" for day in days for clock in clocks)


def _fits(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True


def check_numbers(source: Source, argument: str, names: Iterable[str], *, is_dropped: bool) -> None:
    """Refuse text that is no number, naming the first such row.

    Where rows are dropped, words such as ``k.A.`` are; text with a digit in it never is.
    """
    for name in names:
        if source.named[name] != TEXT:
            continue
        decimal = source.reading.decimal
        is_bad = no_number_condition(name, decimal)
        if is_dropped and _has_rows(source, number_condition(name, decimal)):
            is_bad += f" AND {_digits_condition(name)}"
        if bad := source.rows(f"{source.row}, {quote_name(name)}", where=is_bad):
            row, text = bad[0]
            raise InputError(
                argument,
                "must be numbers, but row {} of the input (from 0) has {} in column {!r}",
                row,
                quote_short(text),
                name,
                hint=_COMMA if _is_with_comma(text) else _QUERY if is_dropped else _DROP_OR_QUERY,
            )


def is_number_to_a_reader(value: Any) -> bool:
    """Return whether a value is text that must not count as a missing number.

    >>> [is_number_to_a_reader(value) for value in ("50 %", "k.A.", "#DIV/0!", None)]
    [True, False, False, False]
    """
    is_text = isinstance(value, str) and not value.strip().startswith(_NO_VALUE)
    return is_text and re.search(_DIGITS, value) is not None


def _digits_condition(name: str) -> str:
    column, digits = quote_name(name), quote_text(_DIGITS)
    return f"regexp_matches({column}, {digits}) AND NOT starts_with(trim({column}), '{_NO_VALUE}')"


def check_day_order(source: Source, options: WindowOptions) -> None:
    """Refuse dates such as 01/02/2024 that may begin with the day or with the month."""
    if options.time is None or not (form := source.date_form(options.time)):
        return
    column = quote_name(options.time)
    if not form.startswith(("%d", "%m")) or _has_rows(source, f"day({column}) > 12"):
        return
    other = form.translate(str.maketrans("dm", "md"))
    first = source.rows(f"strftime({column}, {quote_text(form)})", where=f"{column} IS NOT NULL")
    raise InputError(
        "time",
        ": dates such as {} in column {!r} may begin with the day or with the month",
        first[0][0],
        options.time,
        hint=ArgumentText("Give {time_format=...}: {!r} or {!r}.", form, other),
    )


def _is_with_comma(text: str) -> bool:
    return text.count(",") == 1 and text.replace(",", "").strip().lstrip("+-").isdigit()


def _has_rows(source: Source, where: str) -> bool:
    return bool(source.rows("1", where=where))
