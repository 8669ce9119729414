"""Which columns of a table are meant, and how DuckDB reads each."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from dynmeans.inputs.argument_text import ArgumentText
from dynmeans.inputs.input_error import InputError

TIME_UNITS = {"s": 1_000_000.0, "ms": 1_000.0, "us": 1.0, "ns": 0.001}
TEXT = "VARCHAR"
_MAX_MICROS = "9e18"
_MAX_NAMES, _MAX_NAMES_BESIDE_A_GUESS = 12, 6
# What tables of text have in place of a number that is missing.
_NO_NUMBER = ("", "-", "?", "na", "n/a", "nan", "none", "null")
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_NUMBERS = (*_INTEGERS, "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN")
_LOCAL_TIMES = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def match_features(
    patterns: Iterable[str],
    columns: Mapping[str, str],
    *,
    besides: Iterable[str] = (),
    is_text_allowed: bool = False,
) -> tuple[str, ...]:
    """Return the columns that names and patterns such as ``x_*`` stand for, in their order.

    A pattern stands for none of the columns `besides`, such as that of times, and ``*`` for numbers
    only. Text is allowed where its values will be looked at: it may hold numbers, and words for
    none.

    >>> match_features(["speed, x*"], {"x1": "DOUBLE", "x2": "DOUBLE", "speed": "FLOAT"})
    ('speed', 'x1', 'x2')
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        # A name may itself hold a comma: it is looked up whole first.
        for name in [pattern] if pattern in columns else pattern.split(","):
            name = name if name in columns else name.strip()
            vector = name.rpartition("[")[0]  # embedding[3], as a run names its numbers
            name = vector if is_vector(columns.get(vector, "")) else name
            free = [
                c for c in columns if c not in besides and (name != "*" or is_number(columns[c]))
            ]
            matches = [name] if name in columns else [c for c in free if fnmatchcase(c, name)]
            if not matches:
                raise missing_column("features", name, columns)
            found |= dict.fromkeys(matches)
    for name in found:
        kind = columns[name]
        if not (is_number(kind) or is_vector(kind) or (is_text_allowed and kind == TEXT)):
            rule = "must be numeric columns, but {!r} is {}"
            hint = ""
            if kind.startswith(("STRUCT", "MAP")):
                hint = ArgumentText("Name a field of it, such as {!r}.", f"{name}.x")
            raise InputError("features", rule, name, kind, hint=hint)
    return tuple(found)


def check_column(argument: str, name: str, columns: Mapping[str, str]) -> None:
    """Refuse a column that is not there, and list those that are."""
    if name not in columns:
        raise missing_column(argument, name, columns)


def missing_column(
    argument: str, name: str, columns: Iterable[str], thing: str = "column"
) -> InputError:
    """Return the error for a column that is not there; it lists those that are."""
    names = list(columns)
    near = difflib.get_close_matches(name, names, n=1) or [c for c in names if _is_like(c, name)]
    most = _MAX_NAMES_BESIDE_A_GUESS if near else _MAX_NAMES
    shown = ", ".join(map(repr, names[:most])) or "none"
    shown += f" and {len(names) - most} more" if len(names) > most else ""
    rule = ": there is no {} {!r}; the input has {}"
    hint = ArgumentText("Did you mean {!r}?", near[0]) if near else ""
    return InputError(argument, rule, thing, name, shown, hint=hint)


def _is_like(column: str, name: str) -> bool:
    return column.strip().lower() == name.strip().lower()


def is_number(dtype: str) -> bool:
    """Return whether DuckDB's type is a number."""
    return dtype.partition("(")[0] in _NUMBERS


def is_vector(dtype: str) -> bool:
    """Return whether DuckDB's type is a list or an array of numbers.

    >>> is_vector("DOUBLE[]"), is_vector("FLOAT[384]"), is_vector("VARCHAR[]")
    (True, True, False)
    """
    return dtype.endswith("]") and is_number(dtype.partition("[")[0]) and dtype.count("[") == 1


def is_of_vector(feature: str) -> bool:
    """Return whether a feature is a number of a vector, such as ``embedding[3]``."""
    return feature.endswith("]") and feature.rpartition("[")[2][:-1].isdecimal()


def is_integer(dtype: str) -> bool:
    """Return whether DuckDB's type is an integer of at most 64 bits."""
    return dtype in _INTEGERS


def quote_name(name: str) -> str:
    """Write any name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Write any text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that hides no column, whatever its case.

    >>> free_name("step", ["x", "Step"])
    'dynmeans_step'
    """
    lower = {column.lower() for column in taken}
    while name.lower() in lower:
        name = f"dynmeans_{name}"
    return name


def number_expression(name: str, dtype: str, wanted: str, decimal: str = ".") -> str:
    """Return SQL for a feature; text that is no number is missing."""
    if dtype != TEXT:
        return f"CAST({quote_name(name)} AS {wanted})"
    return f"TRY_CAST({_with_point(quote_name(name), decimal)} AS {wanted})"


def no_number_condition(name: str, decimal: str = ".") -> str:
    """Return SQL that finds text that is neither a number nor a word for a missing one."""
    column = quote_name(name)
    words = ", ".join(map(quote_text, _NO_NUMBER))
    return f"NOT {number_condition(name, decimal)} AND lower(trim({column})) NOT IN ({words})"


def number_condition(name: str, decimal: str = ".") -> str:
    """Return SQL that finds text that is a number."""
    return f"({number_expression(name, TEXT, 'DOUBLE', decimal)} IS NOT NULL)"


def _with_point(column: str, decimal: str) -> str:
    """Write numbers as SQL reads them; what else groups digits makes text that is no number."""
    groups = {".": ("_", ":"), ",": (",._", ".::")}
    return f"translate({column}, {', '.join(map(quote_text, groups[decimal]))})"


def time_expression(
    name: str, dtype: str, zone: str, *, time_unit: str | None, time_forms: Sequence[str]
) -> str:
    """Return SQL for a time column: microseconds since 1970 in UTC, or a plain number."""
    column = quote_name(name)
    if time_forms:
        if not (dtype == TEXT or is_integer(dtype)):
            rule = "is for times that are text, but {!r} is {}"
            raise InputError("time_format", rule, name, dtype)
        # One form with an offset among others must not give its type to those without.
        moments = (
            f"CAST(try_strptime(CAST({column} AS VARCHAR), {quote_text(form)}) AS TIMESTAMPTZ)"
            for form in time_forms
        )
        return f"epoch_us(coalesce({', '.join(moments)}))"
    if is_number(dtype):
        if time_unit is None:
            return f"CAST({column} AS DOUBLE)"
        micros = f"CAST({column} AS DOUBLE) * {TIME_UNITS[time_unit]}"
        # Beyond 64 bits any number will do: it is out of bounds, and told with its row.
        return (
            f"CASE WHEN NOT isfinite({micros}) THEN NULL "
            f"WHEN abs({micros}) < {_MAX_MICROS} "
            f"THEN CAST(round({column} * {TIME_UNITS[time_unit]}) AS BIGINT) "
            f"ELSE CAST(sign({micros}) * {_MAX_MICROS} AS BIGINT) END"
        )
    if time_unit is not None:
        rule = "is for times that are numbers, but {!r} is {}"
        raise InputError("time_unit", rule, name, dtype)
    if dtype in _LOCAL_TIMES and zone == "UTC":
        return f"epoch_us(CAST({column} AS TIMESTAMP))"
    if dtype.startswith(("TIMESTAMP", "DATE", TEXT)):
        # The session's time zone is the run's: it decides what a time without an offset means.
        return f"epoch_us(TRY_CAST({column} AS TIMESTAMPTZ))"
    rule = "must be a column of times, numbers or text, but {!r} is {}"
    raise InputError("time", rule, name, dtype)


def plain_expression(name: str, dtype: str) -> str:
    """Return SQL for names and true identities: integers as they are, the rest as text."""
    return f"CAST({quote_name(name)} AS {'BIGINT' if is_integer(dtype) else 'VARCHAR'})"
