"""A DuckDB that reads the files it is given and nothing else: no network, no extensions, no SET."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from dynmeans.inputs.input_error import InputError
from dynmeans.runs.reading.columns import quote_text

_NO_PARQUET = re.compile(r"magic bytes .* file ('.*?')|('.*?') too small to be a Parquet file")
_QUERY = re.compile(r"(https?://[^\s'\"?]+)\?[^\s'\"]+")  # which may sign an address
_OTHER_ENCODING = "Set its encoding, for example {encoding='cp1252'}."


def connect(memory_limit: str, spill: Path) -> Any:
    """Open DuckDB in memory; nothing is installed, loaded or taken from Python's variables."""
    connection = duckdb.connect(
        config={
            "threads": 1,
            "memory_limit": memory_limit,
            "temp_directory": str(spill),
            "enable_external_file_cache": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
        }
    )
    # In a notebook without widgets there is none, and DuckDB refuses to switch it off.
    if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
        connection.execute("SET enable_progress_bar = false")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def close_off(connection: Any, files: Iterable[str]) -> None:
    """Leave these files within reach, and no others."""
    allowed = [text for name in files for text in (name, without_patterns(name))]
    listed = ", ".join(map(quote_text, dict.fromkeys(allowed)))
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")


def without_patterns(name: str) -> str:
    """Keep DuckDB from reading a file's name as a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def check_select(query: str) -> str:
    """Return the query as text to put into parentheses, if it is one SELECT.

    >>> check_select("SELECT 1;")
    'SELECT 1'
    >>> check_select("SELECT 1; DROP TABLE rows")
    Traceback (most recent call last):
        ...
    dynmeans.inputs.input_error.InputError: sql must be one SELECT, not 2 statements.
    """
    with source_errors("the query cannot be read"):
        statements = duckdb.extract_statements(query)
    if len(statements) != 1:
        raise InputError("sql", f"must be one SELECT, not {len(statements)} statements")
    (statement,) = statements
    if statement.type != duckdb.StatementType.SELECT:
        raise InputError("sql", f"must be one SELECT, not {statement.type.name}")
    return str(statement.query).strip().removesuffix(";")


def not_home(name: str) -> str:
    """Keep DuckDB from reading a name that begins with ~ as the home folder."""
    return os.path.abspath(name) if name.startswith("~") else name


@contextmanager
def source_errors(subject: str = "the input cannot be read") -> Iterator[None]:
    """Turn errors of reading into one line; errors of our own pass as they are."""
    try:
        yield
    except (duckdb.Error, pa.ArrowException) as error:
        raise _in_one_line(error, subject) from error
    except OSError as error:
        # Arrow hands on what failed in DuckDB while it streams, under this type alone.
        if type(error) is not OSError:
            raise
        raise _in_one_line(error, subject) from error


def _in_one_line(error: Exception, subject: str) -> ValueError | OSError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # The last lines show the place in a query that is not the user's.
    lines = list(takewhile(lambda line: not line.startswith("LINE "), lines))
    is_system = lines and lines[0].startswith(("IO Error", "Out of Memory", "Permission"))
    message = _QUERY.sub(r"\1", re.sub(r"^[A-Z][\w ]* Error: ", "", " ".join(lines[:3])))
    if found := _NO_PARQUET.search(message):
        message = f"{found[1] or found[2]} is not a Parquet file."
    if "disabled by configuration" in message or "disabled through configuration" in message:
        message = f"{message.partition(' - ')[0]}: a query reads the named input and no other file."
    if "not utf-8 encoded" in message:
        return InputError("", f"{subject}: it is not UTF-8", hint=_OTHER_ENCODING)
    if message.startswith("syntax error"):
        message += '. A column that is named like a word of SQL needs quotes: "at".'
    text = f"{subject}: {message[:500]}"
    return OSError(text) if is_system else ValueError(text)
